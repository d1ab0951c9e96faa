import Logging
import Model
import ServiceLifecycle
import TestKit
import Webhooks

/// A tenant with one webhook, and dispatchers that call it.
struct WebhookStage {
    let clock = TestClock()
    let store: ScriptedWebhookStore
    let identifiers = TestIdentifiers()
    let events = EventLog()
    let app: AppID = "shop"
    let vendor = Vendor.rationalOwl
    let secret = Array("whsec_1234567890123456789012345678".utf8)
    let id: WebhookID

    init() {
        store = ScriptedWebhookStore(clock: clock)
        id = WebhookID(rawValue: identifiers.uuid(at: clock.now()))
    }

    func subscribe(_ url: String, order: WebhookOrder = .log) {
        let sealed = SealedSecret(keyID: "whk_1", bytes: [9])
        store.add(.webhook(id, EventFilter()), url: url, secret: .sealed(sealed), order: order)
    }

    func device() -> DeviceID { DeviceID(rawValue: identifiers.uuid(at: clock.now())) }

    /// Registers devices, which causes one event each; with `device` the same one each time.
    func register(_ count: Int, _ device: DeviceID? = nil, data: JSON? = nil) {
        for _ in 0..<count {
            let now = clock.now()
            let key = VendorDeviceKey(identifiers.randomHex(byteCount: 8))
            let event = EventRecord(
                offset: 0,
                at: now,
                kind: EventKind.registered.rawValue,
                app: app,
                vendor: vendor,
                subject: EventSubject(
                    identity: IdentityID(rawValue: identifiers.uuid(at: now)),
                    device: device ?? self.device(),
                    address: .deviceKey(key)
                ),
                data: data
            )
            store.append(event)
        }
    }

    /// Runs a dispatcher while `body` runs, then shuts it down regularly.
    func run(
        _ caller: any WebhookCaller,
        store other: (any WebhookStore)? = nil,
        policy: WebhookPolicy = WebhookPolicy(),
        opens: Bool = true,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let events = events
        let secret = secret
        let dispatcher = WebhookDispatcher(
            store: other ?? store,
            caller: caller,
            node: "n1",
            policy: policy,
            clock: clock.timer,
            encode: { _, _, _ in nil },
            open: { _, _, sealed in opens && sealed.bytes == [9] ? secret : nil },
            derive: { _, _, _, _ in [] },
            observe: { events.record($0) }
        )
        let group = ServiceGroup(services: [dispatcher], logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// Moves the time after the dispatcher has started to sleep.
    func pass(_ duration: Duration) async {
        await clock.sleepers(atLeast: 1)
        clock.advance(by: duration)
    }

    func offsets(_ body: [UInt8]) -> [Int64] {
        let json = try? JSONParser.parse(body)
        return (json?["events"]?.array ?? []).compactMap { $0["offset"]?.int }
    }
}
