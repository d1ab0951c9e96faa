import Commands
import Logging
import Model
import ServiceLifecycle
import TestKit
import Testing
import Webhooks

@Suite(.timeLimit(.minutes(1))) struct WebhookDispatcherTests {
    /// A database with senders who want to be told, and a dispatcher that tells them.
    private struct Office {
        let clock = TestClock()
        let database: MemoryDatabase
        let caller = ScriptedCaller()
        let identifiers = TestIdentifiers()
        let events = EventLog()
        let scope = AppScope(app: "shop", vendor: .rationalOwl)

        init() {
            database = MemoryDatabase(clock: clock)
            database.provision("acme", app: "shop", routes: [:])
        }

        func url(_ sender: SenderID) -> String { "https://\(sender).example/" }

        func subscribe(_ sender: SenderID) async throws {
            let statements: [StoreStatement] = [
                .registerSender(scope, name: sender.rawValue, id: sender),
                .setCallback(scope, sender, url: url(sender)),
            ]
            _ = try await InMemoryCommandStore(database).run(statements, in: "acme")
        }

        /// A message of `count` phones without the app: each is an event at once.
        @discardableResult
        func send(_ sender: SenderID, count: Int = 1) async throws -> MessageID {
            let id = MessageID(rawValue: identifiers.uuid(at: clock.now()))
            let suppressed = (0..<count).map { index in
                let address = Address.phone("010\(index)")
                return SuppressedTarget(
                    target: identifiers.target(for: address, in: id),
                    identity: nil,
                    device: nil,
                    address: address,
                    reason: .noDevice
                )
            }
            let message = NewMessage(
                id: id,
                scope: scope,
                sender: sender,
                content: Content(body: "b"),
                collapseID: nil,
                lane: .bulk,
                acceptedAt: clock.now(),
                dueAt: clock.now(),
                expiresAt: clock.now() + .seconds(60),
                fallback: nil,
                recipients: count,
                slices: [],
                suppressed: suppressed,
                idempotency: nil,
                claim: nil
            )
            _ = try await InMemoryCommandStore(database).run([.accept(message)], in: "acme")
            return id
        }

        /// Runs a dispatcher while `body` does, then shuts it down in good order.
        func run(
            _ policy: WebhookPolicy = WebhookPolicy(),
            afterShutdown: @escaping @Sendable () -> Void = {},
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            let events = events
            let dispatcher = WebhookDispatcher(
                store: InMemoryWebhookStore(database),
                caller: caller,
                node: "n1",
                policy: policy,
                clock: clock.timer,
                encode: { _, deliveries, _ in
                    let ids = deliveries.map(\.target.description).joined(separator: ",")
                    return VendorRequestBody(contentType: "text/plain", bytes: Array(ids.utf8))
                },
                derive: { Array("\($0)/\($1)/\($2)/\($3)".utf8) },
                observe: { events.record($0) }
            )
            let group = ServiceGroup(services: [dispatcher], logger: Logger(label: "test"))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await body()
                await group.triggerGracefulShutdown()
                afterShutdown()
                try await tasks.waitForAll()
            }
        }

        func targets(of call: WebhookCall) -> [Substring] {
            String(decoding: call.body, as: UTF8.self).split(separator: ",")
        }

        /// Moves the time once the dispatcher sleeps.
        func pass(_ duration: Duration) async {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: duration)
        }
    }

    @Test func aSendersDeliveriesAreToldSignedAndOnce() async throws {
        let office = Office()
        try await office.subscribe("s1")
        try await office.send("s1", count: 2)
        try await office.run {
            await office.caller.calls(atLeast: 1)
            for _ in 0..<3 { await office.pass(.seconds(1)) }
        }
        let call = try #require(office.caller.calls.first)
        #expect(office.caller.calls.count == 1)
        #expect(call.url == "https://s1.example/")
        #expect(office.targets(of: call).count == 2)
        let secret = "acme/\(office.scope.app)/\(office.scope.vendor)/s1"
        #expect(call.signature == Signature.of(call.body, secret: Array(secret.utf8)))
    }

    // protocols/rationalowl.md §8.6: flush every second or 100 targets.
    @Test func moreThanAHundredTargetsAreToldAtOnceInSeveralCalls() async throws {
        let office = Office()
        try await office.subscribe("s1")
        try await office.send("s1", count: 250)
        // The time does not move: only the backlog itself may cause the second and third call.
        try await office.run { await office.caller.calls(atLeast: 3) }
        let told = office.caller.calls.map { office.targets(of: $0).count }
        #expect(told == [100, 100, 50])
        #expect(Set(office.caller.calls.flatMap { office.targets(of: $0) }).count == 250)
    }

    @Test func aFailedCallIsRepeatedBeforeAnythingBehindIt() async throws {
        let office = Office()
        try await office.subscribe("s1")
        let first = try await office.send("s1")
        office.caller.script(office.url("s1"), .refused(status: 500), .failed("timeout"))
        try await office.run {
            await office.caller.calls(atLeast: 1)
            try await office.send("s1")
            for (count, wait) in [(1, 5), (2, 30)] {
                await office.events.wait(for: .postponed, count)
                await office.pass(.seconds(wait))
            }
            await office.caller.calls(atLeast: 3)
        }
        let calls = office.caller.calls.map { office.targets(of: $0) }
        let expected = office.identifiers.target(for: .phone("0100"), in: first).description
        #expect(calls.allSatisfy { $0.first.map(String.init) == expected })
        #expect(calls.last?.count == 2)
    }

    // A held call stands for a receiver that takes its ten seconds.
    @Test func aSlowReceiverDelaysNobodyElse() async throws {
        let office = Office()
        try await office.subscribe("slow")
        try await office.subscribe("swift")
        try await office.send("slow")
        office.caller.hold(office.url("slow"))
        try await office.run {
            await office.caller.calls(atLeast: 1)
            for count in 2...4 {
                try await office.send("swift")
                await office.pass(.seconds(1))
                await office.caller.calls(atLeast: count)
            }
            office.caller.release()
        }
        #expect(office.caller.calls.filter { $0.url == office.url("swift") }.count == 3)
        #expect(office.caller.calls.filter { $0.url == office.url("slow") }.count == 1)
    }

    @Test func callsAtOnceAreBounded() async throws {
        let office = Office()
        for sender in ["a", "b", "c"] as [SenderID] {
            try await office.subscribe(sender)
            try await office.send(sender)
            office.caller.hold(office.url(sender))
        }
        try await office.run(WebhookPolicy(concurrency: 2)) {
            await office.caller.calls(atLeast: 2)
            await office.pass(.seconds(1))
            await office.clock.sleepers(atLeast: 1)
            #expect(office.caller.calls.count == 2)
            office.caller.release()
            await office.caller.calls(atLeast: 3)
        }
    }

    @Test func afterADayTheCallIsDroppedAndWhatIsBehindItGoesOn() async throws {
        let office = Office()
        try await office.subscribe("s1")
        try await office.send("s1")
        office.caller.script(office.url("s1"), .forbidden, .forbidden)
        try await office.run {
            await office.caller.calls(atLeast: 1)
            await office.events.wait(for: .postponed, 1)
            await office.pass(.seconds(86_400))
            await office.caller.calls(atLeast: 2)
            await office.events.wait(for: .dropped, 1)
            try await office.send("s1")
            await office.pass(.seconds(1))
            await office.caller.calls(atLeast: 3)
        }
        #expect(office.caller.calls.last.map { office.targets(of: $0).count } == 1)
    }

    @Test func shutdownWaitsForTheCallThatIsUnderWay() async throws {
        let office = Office()
        try await office.subscribe("s1")
        try await office.send("s1")
        office.caller.hold(office.url("s1"))
        try await office.run(afterShutdown: { office.caller.release() }) { await office.caller.calls(atLeast: 1) }
        let callback = office.database.sender("acme", office.scope, "s1")?.callback
        #expect(callback?.owner == nil)
        #expect(callback?.cursor == Int64(office.database.eventCount("acme")))
    }

    @Test func theStoresTroubleIsReportedAndOutlived() async throws {
        let office = Office()
        try await office.subscribe("s1")
        try await office.send("s1")
        office.database.failNext(StoreError(.unavailable, "down"))
        try await office.run {
            await office.pass(.seconds(1))
            await office.caller.calls(atLeast: 1)
        }
        #expect(office.events.count(.storeFailed) == 1)
    }
}
