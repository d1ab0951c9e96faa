import Logging
import Model
import Testing

@testable import GatewayHTTP

/// The room for large bodies (H2).
struct BodyQueueTests {
    private let a = LimitedName("a")
    private let b = LimitedName("b")
    private let c = LimitedName("c")

    @Test func bodiesAreAdmittedInOrder() {
        var queue = BodyQueue(capacityBytes: 100)
        #expect(queue.ask(bytes: 60, address: a) == .admitted(1))
        #expect(queue.ask(bytes: 60, address: b) == .waits(2))
        #expect(queue.ask(bytes: 30, address: c) == .waits(3), "a small body does not pass a large one")
        #expect(queue.admittedBytes == 60)
        #expect(queue.end(1) == [2, 3])
        #expect(queue.admittedBytes == 90 && queue.isAdmitted(3) && !queue.isWaiting(3))
        #expect(queue.end(2) == [] && queue.end(3) == [] && queue.end(3) == [])
        #expect(queue.admittedBytes == 0)
    }

    @Test func anAddressHasHalfOfTheRoomAndLetsOthersPass() {
        var queue = BodyQueue(capacityBytes: 100)
        #expect(queue.ask(bytes: 40, address: a) == .admitted(1))
        #expect(queue.ask(bytes: 40, address: a) == .waits(2))
        #expect(queue.ask(bytes: 40, address: b) == .admitted(3))
        #expect(queue.end(1) == [2])
    }

    @Test func aBodyAboveTheCapacityIsAloneAndAWaitCanEnd() {
        var queue = BodyQueue(capacityBytes: 100)
        #expect(queue.ask(bytes: 500, address: a) == .admitted(1))
        #expect(queue.ask(bytes: 500, address: b) == .waits(2))
        #expect(queue.ask(bytes: 10, address: c) == .waits(3))
        #expect(queue.end(2) == [], "the first body still fills the room")
        #expect(queue.end(1) == [3])
    }

    @Test func theQueueIsBounded() {
        var queue = BodyQueue(capacityBytes: 1)
        #expect(queue.ask(bytes: 2, address: a) == .admitted(1))
        for _ in 0..<BodyQueue.waitingLimit {
            guard case .waits = queue.ask(bytes: 2, address: b) else {
                Issue.record("it should wait")
                return
            }
        }
        #expect(queue.ask(bytes: 2, address: c) == .refused)
    }

    private func bodies(_ edit: (inout CallLimitSettings) -> Void) -> LargeBodies {
        var settings = CallLimitSettings()
        edit(&settings)
        return LargeBodies(
            limiter: CallLimiter(settings, logger: Logger(label: "bodies") { _ in SwiftLogNoOpLogHandler() })
        )
    }

    @Test func aWaitEndsInTime() async throws {
        let bodies = bodies {
            $0.bodyBytes = 100
            $0.bodyWaitSeconds = 1
        }
        let first = try await bodies.room(bytes: 80, address: "198.51.100.1")
        await #expect(throws: LimitExcess(.bodies, wait: 1)) {
            try await bodies.room(bytes: 80, address: "198.51.100.2")
        }
        first.release()
        try await bodies.room(bytes: 80, address: "198.51.100.2").release()
    }

    @Test func aWaitEndsWithRoom() async throws {
        let bodies = bodies {
            $0.bodyBytes = 100
            $0.bodyWaitSeconds = 60
        }
        let first = try await bodies.room(bytes: 80, address: "198.51.100.1")
        async let second = bodies.room(bytes: 80, address: "198.51.100.2")
        first.release()
        first.release()
        try await second.release()
        // The room of a call that ended without a release is free again.
        _ = try await bodies.room(bytes: 100, address: "198.51.100.3")
        try await bodies.room(bytes: 100, address: "198.51.100.4").release()
    }

    @Test func withoutALimitThereIsAlwaysRoom() async throws {
        let bodies = bodies { $0.bodyBytes = 0 }
        let rooms = [
            try await bodies.room(bytes: 1 << 40, address: nil), try await bodies.room(bytes: 1 << 40, address: nil),
        ]
        for room in rooms { room.release() }
    }
}
