import Logging
import Model
import Testing

@testable import GatewayHTTP

/// The room for large bodies (H2).
struct BodyQueueTests {
    private let a = LimitedName("a")
    private let b = LimitedName("b")
    private let c = LimitedName("c")

    /// Asks for room that there is.
    private func admit(_ bytes: Int, _ address: LimitedName, _ queue: inout BodyQueue) throws -> BodyQueue.Ticket {
        guard case .admitted(let ticket) = queue.ask(bytes: bytes, address: address) else { throw Unexpected() }
        return ticket
    }

    /// Asks for room that there is not.
    private func wait(_ bytes: Int, _ address: LimitedName, _ queue: inout BodyQueue) throws -> BodyQueue.Ticket {
        guard case .waits(let ticket, nil) = queue.ask(bytes: bytes, address: address) else { throw Unexpected() }
        return ticket
    }

    private struct Unexpected: Error {}

    @Test func bodiesAreAdmittedInOrder() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(60, a, &queue)
        let second = try wait(60, b, &queue)
        let third = try wait(50, c, &queue)
        #expect(queue.admittedBytes == 60)
        #expect(queue.end(first) == [second], "the room of both is too little")
        #expect(queue.isAdmitted(second) && queue.isWaiting(third) && !queue.isWaiting(second))
        #expect(queue.end(second) == [third] && queue.admittedBytes == 50)
        #expect(queue.end(third) == [] && queue.end(third) == [])
        #expect(queue.admittedBytes == 0)
    }

    @Test func anAddressHasHalfOfTheRoomAndLetsOthersPass() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(40, a, &queue)
        let second = try wait(40, a, &queue)
        let small = try wait(5, a, &queue)
        _ = try admit(40, b, &queue)
        #expect(queue.end(first) == [second, small], "those of one address in their order")
    }

    // Then the bodies that hold the room have less time. An address that waits for its own share must not shorten the time of its others.
    @Test func theRoomIsWantedWhileABodyOfAnotherAddressWaits() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(50, a, &queue)
        _ = try wait(40, a, &queue)
        #expect(!queue.isRoomWanted, "its own share is used up")
        _ = try admit(50, b, &queue)
        let innocent = try wait(40, c, &queue)
        #expect(queue.isRoomWanted)
        #expect(queue.end(first) == [innocent])
        #expect(!queue.isWaiting(innocent) && queue.isRoomWanted, "that of the first address has a share again")
    }

    @Test func aBodyAboveTheCapacityIsAloneAndAWaitCanEnd() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(500, a, &queue)
        let second = try wait(500, b, &queue)
        let third = try wait(10, c, &queue)
        #expect(queue.end(second) == [], "the first body still fills the room")
        #expect(queue.end(first) == [third])
    }

    // An address that does nothing but ask has at most one body before each of another address.
    @Test func addressesTakeTurns() throws {
        var queue = BodyQueue(capacityBytes: 100)
        var held = try admit(80, a, &queue)
        let others = try (0..<3).map { _ in try wait(80, a, &queue) }
        let innocent = try wait(80, b, &queue)
        #expect(queue.end(held) == [innocent])
        #expect(queue.end(innocent) == [others[0]])
        held = try wait(80, b, &queue)
        #expect(queue.end(others[0]) == [held], "again after one of the other address")
    }

    // MARK: Places

    /// Takes all places of some addresses.
    private func fill(_ queue: inout BodyQueue, _ addresses: [LimitedName]) throws {
        for address in addresses {
            for _ in 0..<BodyQueue.addressWaitingLimit { _ = try wait(40, address, &queue) }
            let further = queue.ask(bytes: 40, address: address)
            #expect(further == .refused)
        }
    }

    @Test func oneAddressLeavesPlacesToOthers() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let held = [try admit(50, a, &queue), try admit(50, b, &queue)]
        try fill(&queue, [a])
        let innocent = try wait(50, c, &queue)
        #expect(queue.end(held[1]) == [innocent], "the other one has used up its share")
        // An innocent body that fits does not wait at all.
        _ = queue.end(innocent)
        _ = try admit(50, LimitedName("d"), &queue)
    }

    @Test func twoAddressesThatHoldTheRoomLeaveItToOthers() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let held = [try admit(50, a, &queue), try admit(50, b, &queue)]
        try fill(&queue, [a, b])
        let innocent = try wait(50, c, &queue)
        #expect(queue.end(held[0]) == [innocent], "before the next one of an address that had room")
        let admitted = queue.end(held[1])
        #expect(admitted.count == 1 && queue.admittedBytes == 90)
    }

    @Test func aFullQueueTakesThePlaceOfTheAddressWithTheMost() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(500, LimitedName("holder"), &queue)
        let heavy = (0..<BodyQueue.waitingLimit / BodyQueue.addressWaitingLimit).map { LimitedName("heavy \($0)") }
        try fill(&queue, heavy)
        for number in 0..<heavy.count {
            guard case .waits(let ticket, let other?) = queue.ask(bytes: 40, address: LimitedName("light \(number)"))
            else { throw Unexpected() }
            #expect(queue.isWaiting(ticket) && !queue.isWaiting(other))
            #expect(queue.end(other) == [], "it has ended")
        }
        #expect(queue.end(first).count == 2, "the room is used")
    }

    // With one place each, the last one to come is refused: nobody has more than it.
    @Test func theQueueIsBounded() throws {
        var queue = BodyQueue(capacityBytes: 1)
        let first = try admit(2, a, &queue)
        let waiting = try (0..<BodyQueue.waitingLimit).map { try wait(2, LimitedName("\($0)"), &queue) }
        #expect(queue.ask(bytes: 2, address: b) == .refused)
        #expect(queue.ask(bytes: 2, address: LimitedName("0")) == .refused)
        #expect(queue.end(first) == [waiting[0]])
        _ = try wait(2, b, &queue)
        #expect(queue.ask(bytes: 2, address: c) == .refused)
    }

    // MARK: Passing

    // A body for which there is too little room holds up nobody at first, and is admitted after as many bytes of others as the room has.
    @Test func aLargeBodyIsPassedByAsMuchAsTheRoom() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let first = try admit(60, a, &queue)
        let large = try wait(60, b, &queue)
        for number in 0..<4 {
            let small = try admit(30, LimitedName("small \(number)"), &queue)
            #expect(queue.end(small) == [])
        }
        let late = try wait(30, c, &queue)
        #expect(queue.isWaiting(large))
        #expect(queue.end(first) == [large, late])
    }

    // The same for those that already wait.
    @Test func waitingBodiesPassALargeOne() throws {
        var queue = BodyQueue(capacityBytes: 100)
        let held = [try admit(60, a, &queue), try admit(40, c, &queue)]
        let large = try wait(60, b, &queue)
        let small = try (0..<5).map { try wait(40, LimitedName("small \($0)"), &queue) }
        #expect(queue.end(held[1]) == [small[0]])
        #expect(queue.end(small[0]) == [small[1]])
        #expect(queue.end(small[1]) == [small[2]])
        #expect(queue.end(small[2]) == [], "120 bytes have passed it")
        #expect(queue.end(held[0]) == [large, small[3]])
    }

    // When it gives up, those behind it are admitted.
    @Test func aBodyThatGivesUpHoldsUpNobody() throws {
        var queue = BodyQueue(capacityBytes: 100)
        _ = try admit(60, a, &queue)
        let large = try wait(60, b, &queue)
        for number in 0..<4 {
            let small = try admit(30, LimitedName("small \(number)"), &queue)
            _ = queue.end(small)
        }
        let late = try wait(30, c, &queue)
        #expect(queue.end(large) == [late])
    }

    // MARK: Over tasks

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

    // Its caller gets "try again" at once, long before its wait would end.
    @Test func aCallWhosePlaceWentToAnotherAddressIsRefused() async throws {
        let bodies = bodies {
            $0.bodyBytes = 100
            $0.bodyWaitSeconds = 600
        }
        let first = try await bodies.room(bytes: 500, address: "198.51.100.1")
        var addresses = (0..<BodyQueue.waitingLimit).map { "203.0.113.\($0 / BodyQueue.addressWaitingLimit)" }
        addresses.append("198.51.100.2")
        await withTaskGroup(of: Bool.self) { group in
            for address in addresses {
                group.addTask {
                    guard let room = try? await bodies.room(bytes: 500, address: address) else { return false }
                    room.release()
                    return true
                }
            }
            #expect(await group.next() == false)
            first.release()
            var admitted = 0
            for await isAdmitted in group where isAdmitted { admitted += 1 }
            #expect(admitted == BodyQueue.waitingLimit)
        }
    }

    @Test func withoutALimitThereIsAlwaysRoom() async throws {
        let bodies = bodies { $0.bodyBytes = 0 }
        let rooms = [
            try await bodies.room(bytes: 1 << 40, address: nil), try await bodies.room(bytes: 1 << 40, address: nil),
        ]
        for room in rooms { room.release() }
    }
}
