import Commands
import DeliveryEngine
import FoundationEssentials
import Model
import TestKit
import Testing

/// A database in memory with provisioned tenants, and engines on it.
struct EngineWorld {
    let database: MemoryDatabase
    let commands: InMemoryCommandStore
    let store: OutageStore
    let transport = ScriptedTransport(name: "apns")
    let identifiers = TestIdentifiers(seed: 7)
    let scope = AppScope(app: "shop", vendor: .rationalOwl)

    init(tenants: [TenantID] = ["acme"], inventedPages: Int = 0) {
        database = MemoryDatabase(clock: DatabaseClock())
        commands = InMemoryCommandStore(database)
        store = OutageStore(InMemoryDeliveryStore(database), inventedPages: inventedPages)
        for tenant in tenants {
            database.provision(
                tenant,
                app: "shop",
                routes: [.ios: PlatformRoute(topic: "com.example.shop", credentials: [.production: "apple"])],
                settings: [.rationalOwl: .unbound]
            )
        }
    }

    /// Short waits: the rules are the same, the test is not slow.
    static var policy: EnginePolicy {
        var policy = EnginePolicy()
        policy.pollInterval = .milliseconds(10)
        policy.flushInterval = .milliseconds(20)
        policy.heartbeatInterval = .milliseconds(50)
        policy.storeBackoff = Backoff(first: .milliseconds(5), cap: .milliseconds(20))
        policy.fullRetry = .milliseconds(5)
        policy.retryScale = 0.001
        return policy
    }

    func engine(
        _ node: NodeID = "node-1",
        policy: EnginePolicy = EngineWorld.policy,
        transport: (any PushTransport)? = nil
    ) -> DeliveryEngine {
        DeliveryEngine(
            store: store,
            transports: [.ios: transport ?? self.transport],
            adapters: [.rationalOwl: PlainAdapter()],
            identifiers: identifiers,
            policy: policy,
            node: node
        )
    }

    func token(_ tenant: TenantID, _ index: Int) -> DeviceToken { DeviceToken(stored: "\(tenant)-\(index)") }

    /// Registers devices 0..<count of a tenant and returns their identities.
    func register(_ count: Int, in tenant: TenantID = "acme") async throws -> [IdentityID] {
        let now = database.clock.now()
        var identities: [IdentityID] = []
        for index in 0..<count {
            let registration = DeviceRegistration(
                key: VendorDeviceKey("d\(index)"),
                platform: .ios,
                environment: .production,
                token: token(tenant, index)
            )
            let identity = IdentityID(identifiers.uuid(at: now))
            identities.append(identity)
            _ = try await commands.run(
                [
                    .register(
                        scope,
                        key: VendorDeviceKey("d\(index)"),
                        registration,
                        identity: identity,
                        device: DeviceID(identifiers.uuid(at: now)),
                        at: now
                    )
                ],
                in: tenant
            )
        }
        return identities
    }

    /// Accepts a message to `identities` in slices of `sliceSize`; with a claim the leases are handed over.
    func submit(
        to identities: [IdentityID],
        in tenant: TenantID = "acme",
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
        in tenant: TenantID = "acme",
        lane: Lane = .bulk,
        claim: NewMessage.Claim? = nil
    ) async throws -> (MessageID, [SliceLease]) {
        let now = database.clock.now()
        let message = NewMessage(
            id: MessageID(identifiers.uuid(at: now)),
            scope: scope,
            sender: nil,
            content: Content(body: "hello"),
            collapseID: nil,
            lane: lane,
            acceptedAt: now,
            dueAt: now,
            expiresAt: now + .seconds(3600),
            fallback: nil,
            recipients: recipients,
            slices: slices,
            suppressed: [],
            idempotency: nil,
            claim: claim
        )
        _ = try await commands.run([.accept(message)], in: tenant)
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

    func isDone(_ message: MessageID, in tenant: TenantID = "acme") -> Bool {
        let slices = database.slices(tenant, message)
        return !slices.isEmpty && slices.allSatisfy(\.isFinished)
    }

    func isAnySettled(_ message: MessageID, in tenant: TenantID = "acme") -> Bool {
        !database.deliveries(tenant, message).isEmpty
    }

    /// How often each token was pushed.
    var pushes: [DeviceToken: Int] {
        Dictionary(transport.sent.map { ($0.push.token, 1) }, uniquingKeysWith: +)
    }

    /// Waits for a condition, not for a time; gives up after half a minute.
    func eventually(
        _ what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () -> Bool
    ) async throws {
        for _ in 0..<6000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
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
