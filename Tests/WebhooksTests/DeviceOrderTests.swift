import Model
import TestKit
import Testing
import Webhooks

/// Webhooks that receive events in parallel, in order per device (docs/webhooks.md, "Order").
@Suite(.timeLimit(.minutes(10))) struct DeviceOrderTests {
    private let url = "https://a.example/"
    private let stage = WebhookStage()
    private let caller = ScriptedCaller()

    private var calls: [[Int64]] { caller.calls.map { stage.offsets($0.body) } }

    @Test func theLanesOfAPageAreCalledInParallel() async throws {
        stage.subscribe(url, order: .device)
        stage.register(100)
        caller.hold(url)
        try await stage.run(caller) {
            await caller.calls(atLeast: 8)
            caller.release()
            await stage.events.wait(for: .accepted, 1)
        }
        #expect(calls.count == 8)
        #expect(calls.flatMap { $0 }.sorted() == Array(1...100))
        #expect(stage.store.standing()?.cursor == 100)
        #expect(caller.calls.allSatisfy { $0.keepsConnection })
    }

    @Test func theLogOrderMakesOneCallOfAHundredEventsAtATime() async throws {
        stage.subscribe(url)
        stage.register(250)
        caller.hold(url)
        try await stage.run(caller) {
            await caller.calls(atLeast: 1)
            await stage.pass(.seconds(1))
            await stage.clock.sleepers(atLeast: 1)
            #expect(caller.calls.count == 1)
            caller.release()
            await stage.events.delivered.reaches(250)
        }
        #expect(calls.map(\.count) == [100, 100, 50])
        #expect(calls.flatMap { $0 } == Array(1...250))
        #expect(caller.calls.allSatisfy { !$0.keepsConnection })
    }

    @Test func aDeviceReceivesItsEventsInOrderOverManyPages() async throws {
        stage.subscribe(url, order: .device)
        let devices = (0..<30).map { _ in stage.device() }
        for index in 0..<600 { stage.register(1, devices[index * 7 % 30]) }
        var policy = WebhookPolicy()
        policy.eventsPerLaneCall = 5
        policy.callsPerLane = 2
        try await stage.run(caller, policy: policy) { await stage.events.delivered.reaches(600) }
        // Calls are recorded when they are made. Each event of a device is made after the one before it was made.
        var seen: Set<Int64> = []
        var last: [Int64: Int64] = [:]
        for offset in calls.flatMap({ $0 }) where seen.insert(offset).inserted {
            let device = (offset - 1) * 7 % 30
            #expect(last[device] ?? 0 < offset)
            last[device] = offset
        }
        #expect(seen.sorted() == Array(1...600))
        #expect(stage.store.standing()?.cursor == 600)
    }

    @Test func aFailedLaneHoldsTheCursorAndNothingBeforeItIsRepeated() async throws {
        stage.subscribe(url, order: .device)
        stage.register(100)
        caller.answer { stage.offsets($0.body).contains(50) ? .refused(status: 503) : nil }
        try await stage.run(caller) {
            await stage.events.wait(for: .postponed, 1)
            await stage.pass(.seconds(5))
            await stage.events.wait(for: .postponed, 2)
            let standing = stage.store.standing()
            #expect(standing?.lease.attempts == 2 && standing?.failure == "status 503")
            caller.answer { _ in nil }
            await stage.pass(.seconds(30))
            await stage.events.wait(for: .accepted, 1)
        }
        let refused = try #require(calls.first { $0.contains(50) }?.first)
        let later = Array(refused...100)
        #expect(calls.count == 10 && refused > 1)
        #expect(calls.prefix(8).flatMap { $0 }.sorted() == Array(1...100))
        // One call at a time until one succeeds.
        #expect(Array(calls.suffix(2)) == [later, later])
        #expect(stage.store.standing()?.cursor == 100)
    }

    @Test func aCallHasAtMostAThousandEvents() async throws {
        stage.subscribe(url, order: .device)
        stage.register(2500, stage.device())
        try await stage.run(caller) { await stage.events.wait(for: .accepted, 1) }
        #expect(calls.map(\.count) == [1000, 1000, 500])
        #expect(calls.flatMap { $0 } == Array(1...2500))
    }

    @Test func aCallHasAtMostOneMiB() async throws {
        stage.subscribe(url, order: .device)
        stage.register(30, stage.device(), data: .string(String(repeating: "x", count: 100_000)))
        try await stage.run(caller) { await stage.events.wait(for: .accepted, 1) }
        #expect(calls.map(\.count) == [10, 10, 10])
        #expect(caller.calls.allSatisfy { $0.body.count <= 1 << 20 })
    }

    /// The lease must not end while calls are made: a lane makes four calls, and the rest waits for the next page.
    @Test func aLaneEndsAfterFourCalls() async throws {
        stage.subscribe(url, order: .device)
        stage.register(5000, stage.device())
        try await stage.run(caller) { await stage.events.wait(for: .accepted, 2) }
        #expect(calls.map(\.count) == [1000, 1000, 1000, 1000, 1000])
        #expect(calls.flatMap { $0 } == Array(1...5000))
        let policy = WebhookPolicy()
        #expect(Duration.seconds(10) * policy.callsPerLane < policy.lease)
    }

    @Test func parallelCallsCountAgainstTheLimitAndLeaveRoom() async throws {
        stage.subscribe(url, order: .device)
        stage.register(100)
        stage.store.add(.sender("s1", "shop", .rationalOwl, .unbound), url: "https://b.example/", secret: .derived)
        caller.hold(url)
        try await stage.run(caller, policy: WebhookPolicy(concurrency: 4)) {
            await caller.calls(atLeast: 2)
            await stage.pass(.seconds(1))
            await stage.clock.sleepers(atLeast: 1)
            // One call for the webhook, and half of the three free ones.
            #expect(caller.calls.count == 2)
            caller.release()
            await stage.events.wait(for: .accepted, 1)
        }
        #expect(calls.count == 2)
    }

    @Test func aSecretOfAnotherMasterKeyPostponesThePage() async throws {
        stage.subscribe(url, order: .device)
        stage.register(1)
        try await stage.run(caller, opens: false) { await stage.events.wait(for: .postponed, 1) }
        #expect(caller.calls.isEmpty && stage.store.standing()?.cursor == 0)
    }
}
