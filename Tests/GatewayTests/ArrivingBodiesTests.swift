import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import GatewayHTTP

/// The room for small bodies that arrive in several parts.
struct ArrivingBodiesTests {
    private typealias Part = ArrivingBodies.Part

    private static let address = "198.51.100.1"

    /// One more body that sends slowly.
    private func hold(_ bytes: Int, _ bodies: ArrivingBodies, from address: String = Self.address) -> Part? {
        var part = Part()
        return bodies.grow(&part, count: bytes, most: bytes, address: address) ? part : nil
    }

    private func fits(_ bytes: Int, _ bodies: ArrivingBodies, from address: String = Self.address) -> Bool {
        hold(bytes, bodies, from: address) != nil
    }

    // The attack: every connection of an address begins a body and does not end it.
    @Test func anAddressHasItsShareAndOthersTheirs() throws {
        let bodies = ArrivingBodies()
        let count = ArrivingBodies.addressBytes / LargeBodies.smallBytes
        let parts = (0..<count).compactMap { _ in hold(LargeBodies.smallBytes, bodies) }
        #expect(parts.count == count && bodies.heldBytes == ArrivingBodies.addressBytes)
        #expect(!fits(1, bodies))
        #expect(fits(LargeBodies.smallBytes, bodies, from: "198.51.100.2"))
        var last = try #require(parts.last)
        bodies.end(&last)
        bodies.end(&last)
        #expect(fits(LargeBodies.smallBytes, bodies))
    }

    // Many addresses: the sum is bounded, and an address that holds nothing has room for one body.
    @Test func theSumIsBoundedExceptForOneBodyOfEachAddress() {
        let bodies = ArrivingBodies(capacityBytes: 100, addressBytes: 60)
        #expect(fits(50, bodies))
        #expect(fits(50, bodies, from: "198.51.100.2"))
        #expect(!fits(1, bodies), "within its share, but the node has no room")
        #expect(fits(50, bodies, from: "198.51.100.3"))
        #expect(!fits(1, bodies, from: "198.51.100.3"))
        #expect(bodies.heldBytes == 150)
    }

    @Test func aBodyHoldsWhatHasArrivedAndAtMostTwice() {
        let bodies = ArrivingBodies()
        var part = Part()
        func grow(_ count: Int) -> Int {
            let isGrown = bodies.grow(&part, count: count, most: LargeBodies.smallBytes, address: Self.address)
            #expect(isGrown && bodies.heldBytes == part.bytes)
            return part.bytes
        }
        #expect(grow(1) == 4096)
        #expect(grow(4096) == 4096)
        #expect(grow(4097) == 8194)
        #expect(grow(40_000) == LargeBodies.smallBytes)
        bodies.end(&part)
        #expect(bodies.heldBytes == 0)
    }

    // MARK: Reading

    private func read(_ parts: [Int], stated: Int?, _ arriving: ArrivingBodies) async throws -> Int {
        var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
        if let stated { head.headerFields[.contentLength] = "\(stated)" }
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        for count in parts { continuation.yield(ByteBuffer(repeating: 0x61, count: count)) }
        continuation.finish()
        let bytes = try await BodyReader.read(
            Request(head: head, body: RequestBody(asyncSequence: stream)),
            on: nil,
            from: Self.address,
            arriving: arriving,
            limitBytes: 1 << 20
        ) { (_, _) async throws(BodyReader.Failure) in
            // A large body has room of another kind.
            #expect(arriving.heldBytes == 10)
        }
        return bytes.count
    }

    @Test func onlyBodiesInSeveralPartsNeedRoom() async throws {
        let bodies = ArrivingBodies(capacityBytes: 100_000, addressBytes: 10_000)
        var other = try #require(hold(10, bodies))
        #expect(try await read([5000, 4000], stated: 9000, bodies) == 9000)
        #expect(try await read([2000, 2500], stated: nil, bodies) == 4500)
        #expect(try await read([4000, 66_000], stated: 70_000, bodies) == 70_000)
        #expect(bodies.heldBytes == 10, "each gives its room back")
        let noRoom = BodyReader.Failure.noRoom(LimitExcess(.bodies, wait: 15))
        await #expect(throws: noRoom) { try await read([20_000, 1], stated: 20_001, bodies) }
        await #expect(throws: noRoom) { try await read([20_000], stated: nil, bodies) }
        #expect(bodies.heldBytes == 10)
        #expect(try await read([20_000], stated: 20_000, bodies) == 20_000, "in one part")
        bodies.end(&other)
        #expect(try await read([20_000, 1], stated: 20_001, bodies) == 20_001, "alone")
    }
}
