import DatabaseSupport
import DeliveryEngine
import EngineStore
import EngineSupport
import FoundationEssentials
import Model
import Store
import TestKit
import Testing

/// Tenants of one test in the database that the tests of this target share, and engines that serve only these
/// tenants.
struct EngineWorld {
    let stores: DatabaseStores
    let store: OutageStore
    let transport = ScriptedTransport(name: "apns")
    let identifiers = TestIdentifiers(seed: 7)
    let scope = AppScope(app: "shop", vendor: .rationalOwl)
    let acme: TenantID
    let beta: TenantID

    /// - Parameters:
    ///   - inventedPages: above zero: `expand` invents pages.
    ///   - omitted: safeguards that the store leaves out.
    /// - Throws: the error of a store that cannot be prepared.
    init(inventedPages: Int = 0, omitting omitted: Set<PostgresDeliveryStore.Omission> = []) async throws {
        stores = try await .shared()
        acme = stores.tenantID("acme")
        beta = stores.tenantID("beta")
        try await stores.provision("acme", "beta")
        let inner = PostgresDeliveryStore(engine: stores.engine, inboxVendors: [.ipns], omitting: omitted)
        store = OutageStore(inner, tenants: [acme, beta], inventedPages: inventedPages)
    }

    /// Short delays: the rules are the same, and the test is fast.
    static var policy: EnginePolicy {
        var policy = EnginePolicy()
        policy.pollInterval = .milliseconds(10)
        policy.flushInterval = .milliseconds(20)
        policy.heartbeatInterval = .milliseconds(50)
        policy.storeBackoff = RetryBackoff(first: .milliseconds(5), cap: .milliseconds(20))
        policy.fullRetry = .milliseconds(5)
        policy.retryScale = 0.001
        return policy
    }

    func engine(
        _ node: String = "node",
        policy: EnginePolicy = EngineWorld.policy,
        transport: (any PushTransport)? = nil,
        upstreams: (any UpstreamTransport)? = nil
    ) -> DeliveryEngine {
        let adapter: any VendorAdapter = upstreams == nil ? PlainAdapter() : PlainUpstreamAdapter(callSize: 50)
        return DeliveryEngine(
            store: store,
            transports: [.ios: transport ?? self.transport],
            upstreams: upstreams,
            payloads: PayloadWriter(adapters: [.rationalOwl: adapter]),
            identifiers: identifiers,
            policy: policy,
            node: self.node(node)
        )
    }

    /// The id of this test's node with that name. All tests share the table of nodes.
    func node(_ name: String = "node") -> NodeID { NodeID("\(name)-of-\(stores.node)") }

    func token(_ tenant: TenantID, _ index: Int) -> DeviceToken { DeviceToken(stored: "\(tenant)-\(index)") }

    /// Registers devices 0..<count of a tenant and returns their identities.
    func register(_ count: Int, in tenant: TenantID? = nil) async throws -> [IdentityID] {
        let tenant = tenant ?? acme
        let now = try await stores.now()
        let devices = (0..<count).map { index in
            let key = VendorDeviceKey("d\(index)")
            return SeededDevice(
                key: key,
                identity: IdentityID(identifiers.uuid(at: now)),
                device: DeviceID(identifiers.uuid(at: now)),
                registration: DeviceRegistration(
                    key: key,
                    platform: .ios,
                    environment: .production,
                    token: token(tenant, index)
                )
            )
        }
        try await stores.register(devices, scope: scope, in: tenant)
        return devices.map(\.identity)
    }

    /// Accepts a message to `identities` in slices of `sliceSize`; with a claim, the slices are leased.
    func submit(
        to identities: [IdentityID],
        in tenant: TenantID? = nil,
        sliceSize: Int = 100,
        lane: Lane = .bulk,
        claim: NewMessage.Claim? = nil
    ) async throws -> (MessageID, [SliceLease]) {
        let starts = Array(stride(from: 0, to: identities.count, by: sliceSize))
        let slices = starts.enumerated().map { number, start in
            NewSlice(
                number: Int32(number + 1),
                work: .deliver,
                targets: identities[start..<min(start + sliceSize, identities.count)].map { TargetID($0) }
            )
        }
        return try await accept(slices, recipients: identities.count, in: tenant, lane: lane, claim: claim)
    }

    func accept(
        _ slices: [NewSlice],
        recipients: Int?,
        in tenant: TenantID? = nil,
        lane: Lane = .bulk,
        claim: NewMessage.Claim? = nil
    ) async throws -> (MessageID, [SliceLease]) {
        let tenant = tenant ?? acme
        let now = try await stores.now()
        let message = NewMessage(
            id: MessageID(identifiers.uuid(at: now)),
            scope: scope,
            content: Content(body: "hello"),
            lane: lane,
            times: NewMessage.Times(acceptedAt: now, dueAt: now, expiresAt: now + .seconds(3600)),
            targets: NewMessage.Targets(recipients: recipients, slices: slices),
            claim: claim
        )
        try await stores.accept(message, in: tenant)
        let leases = slices.map { slice in
            SliceLease(
                key: SliceKey(tenant: tenant, message: message.id, number: slice.number),
                epoch: 1,
                lane: lane,
                dueDay: now.day,
                work: slice.work,
                targets: slice.targets
            )
        }
        return (message.id, claim == nil ? [] : leases)
    }

    func isDone(_ message: MessageID, in tenant: TenantID? = nil) async throws -> Bool {
        let slices = try await stores.slices(of: message, in: tenant ?? acme)
        return !slices.isEmpty && slices.allSatisfy(\.isDone)
    }

    func isAnySettled(_ message: MessageID) async throws -> Bool { try await !deliveries(message).isEmpty }

    func deliveries(_ message: MessageID) async throws -> [StoredDelivery] {
        try await stores.deliveries(of: message, in: acme)
    }

    func slices(_ message: MessageID) async throws -> [StoredSlice] { try await stores.slices(of: message, in: acme) }

    func funnel(_ message: MessageID) async throws -> Funnel? { try await stores.funnel(of: message, in: acme) }

    /// The number of sent deliveries of a message.
    func sent(_ message: MessageID, in tenant: TenantID? = nil) async throws -> Int? {
        try await stores.funnel(of: message, in: tenant ?? acme)?.sent
    }

    /// Ends the leases of this test's node on the slices of a message and leases them to another node.
    func takeOver(_ message: MessageID, for thief: NodeID) async throws {
        let held = try await slices(message).map {
            SliceLease(key: $0.key, epoch: $0.epoch, lane: .bulk, dueDay: 0, work: .deliver)
        }
        let delivery: any DeliveryStore = stores.delivery
        try await delivery.release(held, by: node())
        let taken = try await delivery.claim(
            tenant: acme,
            lane: .bulk,
            limit: held.count,
            by: thief,
            lease: .seconds(3600)
        )
        #expect(taken.count == held.count)
    }

    /// The slices that some node has leased.
    func leasedSlices() async throws -> [StoredSlice] {
        try await stores.leasedSlices(in: acme) + stores.leasedSlices(in: beta)
    }

    /// The number of pushes per token.
    var pushes: [DeviceToken: Int] {
        Dictionary(transport.sent.map { ($0.push.token, 1) }, uniquingKeysWith: +)
    }

    /// Polls for a condition; gives up after five minutes.
    func eventually(
        _ what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record(what, sourceLocation: sourceLocation)
    }

    /// Runs engines while `body` runs, then drains them; `releasing` is called when the drain has begun.
    func running(
        _ engines: DeliveryEngine...,
        while body: () async throws -> Void,
        releasing: () -> Void = {}
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for engine in engines { group.addTask { try await engine.run() } }
            do {
                try await body()
            } catch {
                group.cancelAll()
                throw error
            }
            for engine in engines { engine.drain() }
            releasing()
            try await group.waitForAll()
        }
    }
}
