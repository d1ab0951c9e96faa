import Logging
import Model
import ServiceLifecycle
import TestKit
import Testing
import Webhooks

@Suite(.timeLimit(.minutes(10))) struct WebhookDispatcherTests {
    /// Senders with callbacks, and a dispatcher that calls them.
    private struct Office {
        let clock = TestClock()
        let store: ScriptedWebhookStore
        let caller = ScriptedCaller()
        let identifiers = TestIdentifiers()
        let events = EventLog()
        let app: AppID = "shop"
        let vendor = Vendor.rationalOwl

        init() {
            store = ScriptedWebhookStore(clock: clock)
        }

        func url(_ sender: SenderID) -> String { "https://\(sender).example/" }

        func subscribe(_ sender: SenderID, of tenant: TenantID = ScriptedWebhookStore.tenant) {
            store.add(.sender(sender, app, vendor, .unbound), url: url(sender), secret: .derived, tenant: tenant)
        }

        /// A message to `count` phones without the app. Each target causes an event at once.
        @discardableResult
        func send(_ sender: SenderID, count: Int = 1) -> MessageID {
            let now = clock.now()
            let message = MessageID(rawValue: identifiers.uuid(at: now))
            for index in 0..<count {
                let address = Address.phone("010\(index)")
                let target = identifiers.target(for: address, in: message)
                let event = EventRecord(
                    offset: 0,
                    at: now,
                    kind: DeliveryState.suppressed.rawValue,
                    app: app,
                    vendor: vendor,
                    sender: sender,
                    subject: EventSubject(message: message, target: target, address: address)
                )
                let delivery = DeliverySnapshot(
                    message: message,
                    target: target,
                    address: address,
                    state: .suppressed,
                    reason: SuppressionReason.noDevice.rawValue,
                    sentAt: now
                )
                store.append(event, delivery: delivery)
            }
            return message
        }

        /// Runs a dispatcher while `body` runs, then shuts it down regularly.
        func run(
            _ policy: WebhookPolicy = WebhookPolicy(),
            afterShutdown: @escaping @Sendable () -> Void = {},
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            let events = events
            let dispatcher = WebhookDispatcher(
                store: store,
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

        /// Moves the time after the dispatcher has started to sleep.
        func pass(_ duration: Duration) async {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: duration)
        }
    }

    @Test func aSendersDeliveriesArePostedOnceAndSigned() async throws {
        let office = Office()
        office.subscribe("s1")
        office.send("s1", count: 2)
        try await office.run {
            await office.caller.calls(atLeast: 1)
            for _ in 0..<3 { await office.pass(.seconds(1)) }
        }
        let call = try #require(office.caller.calls.first)
        #expect(office.caller.calls.count == 1)
        #expect(call.url == "https://s1.example/")
        #expect(office.targets(of: call).count == 2)
        let secret = "acme/\(office.app)/\(office.vendor)/s1"
        #expect(call.signature == Signature.of(call.body, secret: Array(secret.utf8)))
    }

    // docs/contracts/rationalowl.md#8.6: flush every second or 100 targets.
    @Test func moreThanAHundredTargetsArePostedAtOnceInSeveralCalls() async throws {
        let office = Office()
        office.subscribe("s1")
        office.send("s1", count: 250)
        // The time does not move, so only the backlog itself can cause the second and third call.
        try await office.run { await office.caller.calls(atLeast: 3) }
        let posted = office.caller.calls.map { office.targets(of: $0).count }
        #expect(posted == [100, 100, 50])
        #expect(Set(office.caller.calls.flatMap { office.targets(of: $0) }).count == 250)
    }

    @Test func aFailedCallIsRepeatedBeforeLaterOnes() async throws {
        let office = Office()
        office.subscribe("s1")
        let first = office.send("s1")
        office.caller.script(office.url("s1"), .refused(status: 500), .failed("timeout"))
        try await office.run {
            await office.caller.calls(atLeast: 1)
            office.send("s1")
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

    // A held call represents a receiver that uses its full ten seconds.
    @Test func aSlowReceiverDelaysNoOther() async throws {
        let office = Office()
        office.subscribe("slow")
        office.subscribe("swift")
        office.send("slow")
        office.caller.hold(office.url("slow"))
        try await office.run {
            await office.caller.calls(atLeast: 1)
            for count in 2...4 {
                office.send("swift")
                await office.pass(.seconds(1))
                await office.caller.calls(atLeast: count)
            }
            office.caller.release()
        }
        #expect(office.caller.calls.filter { $0.url == office.url("swift") }.count == 3)
        #expect(office.caller.calls.filter { $0.url == office.url("slow") }.count == 1)
    }

    @Test func concurrentCallsAreBounded() async throws {
        let office = Office()
        for sender in ["a", "b", "c"] as [SenderID] {
            office.subscribe(sender)
            office.send(sender)
            office.caller.hold(office.url(sender))
        }
        try await office.run(WebhookPolicy(concurrency: 2)) {
            await office.caller.calls(atLeast: 2)
            await office.pass(.seconds(1))
            await office.clock.sleepers(atLeast: 1)
            #expect(office.caller.calls.count == 2)
            // The limit is reported, for a metric.
            await office.events.wait(for: .waiting, 1)
            office.caller.release()
            await office.caller.calls(atLeast: 3)
        }
    }

    // The held call has the only slot, and nothing else is due.
    @Test func aFullNodeReportsNoLimitWhileNothingWaits() async throws {
        let office = Office()
        office.subscribe("a")
        office.send("a")
        office.caller.hold(office.url("a"))
        try await office.run(WebhookPolicy(concurrency: 1)) {
            await office.caller.calls(atLeast: 1)
            for _ in 0..<2 { await office.pass(.seconds(1)) }
            await office.clock.sleepers(atLeast: 1)
            #expect(office.events.count(.waiting) == 0)
            office.caller.release()
        }
        #expect(office.events.count(.waiting) == 0)
    }

    // Held calls represent receivers that use their full time.
    @Test func aTenantsSlowReceiversLeaveCallsForOthers() async throws {
        let office = Office()
        let slow = (0..<8).map { SenderID("slow\($0)") }
        for sender in slow {
            office.subscribe(sender)
            office.send(sender)
            office.caller.hold(office.url(sender))
        }
        office.subscribe("swift", of: "globex")
        office.send("swift")
        try await office.run(WebhookPolicy(concurrency: 4, tenantCalls: 3, hostCalls: 2)) {
            await office.caller.calls(atLeast: 4)
            #expect(office.caller.calls.contains { $0.url == office.url("swift") })
            // The limit holds at later turns too.
            await office.pass(.seconds(1))
            await office.clock.sleepers(atLeast: 1)
            #expect(office.caller.calls.count { $0.url != office.url("swift") } == 3)
            office.caller.release()
            // Each end of a call lets the next one begin, without another tick.
            await office.caller.calls(atLeast: slow.count + 1)
        }
    }

    @Test func afterADayTheCallIsDroppedAndLaterOnesContinue() async throws {
        let office = Office()
        office.subscribe("s1")
        office.send("s1")
        office.caller.script(office.url("s1"), .forbidden, .forbidden)
        try await office.run {
            await office.caller.calls(atLeast: 1)
            await office.events.wait(for: .postponed, 1)
            await office.pass(.seconds(86_400))
            await office.caller.calls(atLeast: 2)
            await office.events.wait(for: .dropped, 1)
            office.send("s1")
            await office.pass(.seconds(1))
            await office.caller.calls(atLeast: 3)
        }
        #expect(office.caller.calls.last.map { office.targets(of: $0).count } == 1)
    }

    @Test func shutdownWaitsForTheCallInProgress() async throws {
        let office = Office()
        office.subscribe("s1")
        office.send("s1")
        office.caller.hold(office.url("s1"))
        try await office.run(afterShutdown: { office.caller.release() }) { await office.caller.calls(atLeast: 1) }
        let standing = try #require(office.store.standing(of: "s1"))
        #expect(standing.owner == nil)
        #expect(standing.cursor == office.store.head)
    }

    @Test func aStoreFailureIsReportedAndRecoveredFrom() async throws {
        let office = Office()
        office.subscribe("s1")
        office.send("s1")
        office.store.failNext(StoreError(.unavailable, "down"))
        try await office.run {
            await office.pass(.seconds(1))
            await office.caller.calls(atLeast: 1)
        }
        #expect(office.events.count(.storeFailed) == 1)
    }
}
