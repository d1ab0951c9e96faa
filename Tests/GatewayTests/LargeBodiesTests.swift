import Foundation
import Model
import Testing

@testable import GatewayHTTP

/// The thread for large bodies. The limit is for a body that is never freed.
@Suite(.timeLimit(.minutes(10))) struct LargeBodiesTests {
    /// The thread that runs this: the kernel names it.
    private static func thread() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
    }

    /// Something that was read of a body.
    private final class Reading: Sendable {
        private let onFree: @Sendable () -> Void

        init(_ onFree: @escaping @Sendable () -> Void) { self.onFree = onFree }

        deinit { onFree() }
    }

    private static let large = [UInt8](repeating: UInt8(ascii: "a"), count: LargeBodies.smallBytes + 1)

    @Test func largeBodiesAreReadByOneThread() async throws {
        let reader = await LargeBodies.parse { () -> String in Self.thread() }
        try #require(!reader.isEmpty)
        for _ in 0..<20 {
            let own = await LargeBodies.parse(Self.large) { () -> String in Self.thread() }
            let small = await LargeBodies.parse([]) { () -> String in Self.thread() }
            #expect(own == reader && small != reader)
        }
    }

    /// The nice value of the thread that runs this: the 19th field of its state, of which the second one, a name in parentheses, may contain spaces.
    private static func niceness() -> Int32? {
        let state = (try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)) ?? ""
        guard let end = state.lastIndex(of: ")") else { return nil }
        let fields = state[state.index(after: end)...].split(separator: " ")
        return fields.count > 16 ? Int32(fields[16]) : nil
    }

    // On two cores, a body that takes long to read would otherwise occupy one of them.
    @Test func smallCallsComeFirst() async throws {
        let own = try #require(Self.niceness())
        let reading = await LargeBodies.parse { () -> Int32? in Self.niceness() }
        #expect(reading == min(own + LargeBodies.niceness, 19))
        let after = Self.niceness()
        #expect(after == own, "the other threads of the process keep theirs")
    }

    // To free many values takes as long as to read them.
    @Test func aLargeBodyIsFreedByTheThreadThatReadsIt() async throws {
        let reader = await LargeBodies.parse { () -> String in Self.thread() }
        let (events, log) = AsyncStream.makeStream(of: String.self)
        var call = VendorRequest(route: "send", path: "/", body: Self.large)
        call.reading.keep(Reading { log.yield(Self.thread()) })
        let room = HeldPermit { log.yield("room") }
        LargeBodies.free(bodyOf: &call, [room, nil])
        #expect(call.body.isEmpty && call.path == "/")
        var seen = events.makeAsyncIterator()
        #expect(await seen.next() == reader)
        // The holder has the room too.
        room.release()
        #expect(await seen.next() == "room")
    }

    // A permit that is released before the body is freed would admit more bodies than the memory has room for.
    @Test func theRoomOfALargeBodyIsHeldUntilItIsFreed() async throws {
        let (events, log) = AsyncStream.makeStream(of: String.self)
        var call = VendorRequest(route: "send", path: "/", body: Self.large)
        call.reading.keep(Reading { log.yield("reading") })
        LargeBodies.free(bodyOf: &call, [HeldPermit { log.yield("room") }])
        var seen = events.makeAsyncIterator()
        #expect(await seen.next() == "reading")
        #expect(await seen.next() == "room")
    }

    @Test func aSmallBodyStaysWithItsCall() {
        var call = VendorRequest(route: "send", path: "/", body: [1])
        let reading = Reading {}
        call.reading.keep(reading)
        LargeBodies.free(bodyOf: &call, [])
        let kept = call.reading.kept as? Reading
        #expect(call.body == [1] && kept === reading)
    }
}
