import AccountStore
import GatewayHTTP
import Model
import Observability
import PageParts

/// The pages that are open and update themselves: how many, and what they share. Safe to call from any task.
package final class LiveUpdates: Sendable {
    /// 256 pages on a node and 224 of a tenant. The parts of a page as it was sent last are about 100 KB, once for all people who see the same.
    static let perNode = 256
    package static let perTenant = 224
    /// 16 pages of one account: the tabs of a person.
    package static let perAccount = 16
    /// 2 s between updates at least. People read no faster, and a campaign changes everything all the time.
    static let interval = Duration.seconds(2)

    /// The answers of a page's calls.
    struct ReadAnswers: Sendable {
        let answers: Answers
        /// The last offset of the event log, and the times, when they were asked for.
        let head: Int64
        let at: Timestamp
        let began: ContinuousClock.Instant
        /// The time that the calls took.
        let spent: Duration
    }

    private let limit = EventStreamLimit(
        perNode: LiveUpdates.perNode,
        perTenant: LiveUpdates.perTenant,
        perAccount: LiveUpdates.perAccount
    )
    private let metrics: ConsoleCounts
    let heads = SharedReads<TenantID, Int64?>()
    private let shared = SharedReads<PageKey, ReadAnswers>(keptFor: LivePace().longest)
    private let sessions = SharedReads<[UInt8], Result<ConsoleSession?, StoreError>>()
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

    /// The session of an open page, at most a second old: the tabs of a browser have one, and those that were opened together ask for it at the same moment.
    ///
    /// - Parameters:
    ///   - hash: the digest of the session.
    ///   - maxAge: the largest age of a shared one.
    ///   - read: reads it.
    /// - Throws: what `read` throws.
    /// - Returns: nil: it has ended.
    func session(
        _ hash: [UInt8],
        maxAge: Duration = .seconds(1),
        _ read: @escaping @Sendable () async throws(StoreError) -> ConsoleSession?
    ) async throws(StoreError) -> ConsoleSession? {
        let found = await sessions.value(hash, maxAge: maxAge) { () async -> Result<ConsoleSession?, StoreError> in
            do throws(StoreError) { return .success(try await read()) } catch { return .failure(error) }
        }
        return try found.get()
    }

    /// The answers behind pages whose answers are the same for people with the same role, and whose parts are not: read once in the time after which each of
    /// these pages is due again, however much happens meanwhile.
    ///
    /// - Parameters:
    ///   - key: the key of the answers.
    ///   - maxAge: the time between two readings of these pages.
    ///   - since: they are not read before.
    ///   - read: performs the calls.
    /// - Returns: the answers, with the time and the offset at which they were asked for.
    func answers(
        _ key: PageKey,
        maxAge: Duration,
        since: ContinuousClock.Instant,
        _ read: @escaping @Sendable () async -> ReadAnswers
    ) async -> ReadAnswers {
        await shared.value(key, maxAge: maxAge, since: since, read)
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
