import GatewayHTTP
import Model
import Observability
import WebConsole

/// The pages that are open and update themselves: how many, and what they share. Safe to call from any task.
package final class LiveUpdates: Sendable {
    /// 256 pages on a node and 224 of a tenant. The parts of a page as it was sent last are about 100 KB, once for all people who see the same.
    static let perNode = 256
    package static let perTenant = 224
    /// 16 pages of one account: the tabs of a person.
    package static let perAccount = 16
    /// 2 s between updates at least. People read no faster, and a campaign changes everything all the time.
    static let interval = Duration.seconds(2)

    /// The facts on which shared answers of a page's calls depend.
    struct View: Hashable, Sendable {
        var page: PageKey
        /// The last offset of the event log: what was read before a change does not count after it.
        var head: Int64
    }

    private let limit = EventStreamLimit(
        perNode: LiveUpdates.perNode,
        perTenant: LiveUpdates.perTenant,
        perAccount: LiveUpdates.perAccount
    )
    private let metrics: ConsoleCounts
    let heads = SharedReads<TenantID, Int64?>()
    /// Of pages whose answers are the same for people with the same role, and whose parts are not.
    let answers = SharedReads<View, Answers>()
    let pages = SharedPages()
    /// The last offset of a tenant's event log.
    private let readHead: @Sendable (TenantID) async throws(StoreError) -> Int64

    init(_ metrics: ConsoleCounts, head: @escaping @Sendable (TenantID) async throws(StoreError) -> Int64) {
        self.metrics = metrics
        readHead = head
    }

    /// The last offset of the event log, at most a second old. Nil: the store cannot answer now.
    func head(of tenant: TenantID) async -> Int64? {
        let read = readHead
        return await heads.value(tenant, maxAge: .seconds(1)) { try? await read(tenant) }
    }

    /// Permits one open page. Nil: a limit is reached.
    func acquire(_ tenant: TenantID, account: String) -> HeldPermit? {
        guard let permit = limit.acquire(tenant, account: account) else { return nil }
        metrics.livePageOpened()
        return HeldPermit { [metrics] in
            permit.release()
            metrics.livePageClosed()
        }
    }
}
