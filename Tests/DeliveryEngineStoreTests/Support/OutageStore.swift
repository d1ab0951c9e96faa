import DeliveryEngine
import EngineSupport
import Model
import NIOConcurrencyHelpers

/// The part of a store for one test, behind a switch: while it is off, every call fails like that of an unreachable
/// database.
///
/// An engine processes due work of every tenant of its database; through this store it sees only the tenants of its
/// test.
final class OutageStore: DeliveryStore {
    private struct State {
        var isAway = false
        var isBroken = false
        var failures = 0
        var loads = 0
        var pages: [SliceLease.Work] = []
    }

    private let inner: any DeliveryStore
    private let tenants: Set<TenantID>
    private let state = NIOLockedValueBox(State())
    /// Above zero: `expand` invents this number of pages instead of reading the audience.
    private let inventedPages: Int

    init(_ inner: any DeliveryStore, tenants: Set<TenantID>, inventedPages: Int = 0) {
        self.inner = inner
        self.tenants = tenants
        self.inventedPages = inventedPages
    }

    var isAway: Bool {
        get { state.withLockedValue { $0.isAway } }
        set { state.withLockedValue { $0.isAway = newValue } }
    }

    /// Whether the database answers every attempt to read or expand work with an error.
    var isBroken: Bool {
        get { state.withLockedValue { $0.isBroken } }
        set { state.withLockedValue { $0.isBroken = newValue } }
    }

    private func checkWork() throws(StoreError) {
        try check()
        if isBroken { throw StoreError(.failed, "the test has broken the work") }
    }

    var failures: Int { state.withLockedValue { $0.failures } }

    /// The number of reads of a slice's work.
    var loads: Int { state.withLockedValue { $0.loads } }

    /// The cursor of each expansion call.
    var pages: [SliceLease.Work] { state.withLockedValue { $0.pages } }

    private func check() throws(StoreError) {
        let isAway = state.withLockedValue { state in
            if state.isAway { state.failures += 1 }
            return state.isAway
        }
        if isAway { throw StoreError(.unavailable, "the test has switched the store off") }
    }

    func dueTenants(in lane: Lane, limit: Int, withLapsed: Bool) async throws(StoreError) -> [TenantID] {
        try check()
        // More tenants than any test target has, so that other tests' tenants do not displace this test's.
        let due = try await inner.dueTenants(in: lane, limit: 10_000, withLapsed: withLapsed)
        return Array(due.filter { tenants.contains($0) }.prefix(limit))
    }

    func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration,
        withLapsed: Bool
    ) async throws(StoreError) -> [SliceLease] {
        try check()
        return try await inner.claim(
            tenant: tenant,
            lane: lane,
            limit: limit,
            by: node,
            lease: lease,
            withLapsed: withLapsed
        )
    }

    func resume(_ key: CredentialKey) async throws(StoreError) {
        try check()
        try await inner.resume(key)
    }

    func renew(_ leases: [SliceLease], by node: NodeID, lease: Duration) async throws(StoreError) -> Set<SliceKey> {
        try check()
        return try await inner.renew(leases, by: node, lease: lease)
    }

    func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork? {
        try checkWork()
        state.withLockedValue { $0.loads += 1 }
        return try await inner.load(lease)
    }

    func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try check()
        return try await inner.record(progress, by: node)
    }

    func settle(_ message: MessageID, tenant: TenantID) async throws(StoreError) {
        try check()
        try await inner.settle(message, tenant: tenant)
    }

    func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int,
        preferring dialects: [Vendor]?
    ) async throws(StoreError) -> ExpansionResult {
        try checkWork()
        guard inventedPages > 0 else {
            return try await inner.expand(lease, by: node, pageSize: pageSize, preferring: dialects)
        }
        let number = state.withLockedValue { state in
            state.pages.append(lease.work)
            return state.pages.count
        }
        guard number > inventedPages else { return .page(pageSize, after: IdentityID(.numbered(number))) }
        // Ends the row too, so that it is not claimed again.
        let app = AppID("shop")
        let end = SliceProgress(lease: lease, app: app, vendor: .rationalOwl, results: [], disposition: .finished)
        _ = try await inner.record(end, by: node)
        return .finished(recipients: inventedPages * pageSize)
    }

    func routing(of lease: SliceLease, by node: NodeID) async throws(StoreError) -> StoredRouting {
        try check()
        return try await inner.routing(of: lease, by: node)
    }

    func tags(
        _ names: Set<String>,
        of identities: [Int: IdentityID],
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Set<String>] {
        try check()
        return try await inner.tags(names, of: identities, tenant: tenant)
    }

    func called(
        _ users: [CalledUser],
        by message: MessageID,
        tenant: TenantID
    ) async throws(StoreError) -> [Int: Bool] {
        try check()
        return try await inner.called(users, by: message, tenant: tenant)
    }

    func earlier(
        than lease: SliceLease,
        for targets: [Int: TargetFacts],
        by node: NodeID
    ) async throws(StoreError) -> EarlierFinding {
        try check()
        return try await inner.earlier(than: lease, for: targets, by: node)
    }

    func image(_ media: MediaReference, tenant: TenantID) async throws(StoreError) -> InlineImage? {
        try check()
        return try await inner.image(media, tenant: tenant)
    }

    func begin(_ order: UpstreamOrder, of lease: SliceLease, by node: NodeID) async throws(StoreError) -> UpstreamStart
    {
        try check()
        return try await inner.begin(order, of: lease, by: node)
    }

    func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError) {
        try check()
        try await inner.condemn(verdicts, tenant: tenant)
    }

    func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError) {
        try check()
        try await inner.noteCredential(key, refusal: refusal)
    }

    func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32] {
        try check()
        return try await inner.draw(draws)
    }

    func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError) {
        try check()
        try await inner.release(leases, by: node)
    }

    func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp {
        try check()
        return try await inner.heartbeat(node)
    }

    func leave(_ node: NodeID) async throws(StoreError) {
        try check()
        try await inner.leave(node)
    }
}
