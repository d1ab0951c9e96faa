import CNGHTTP2
import HTTP2Support
import Testing

@testable import HTTP2

/// nghttp2 without memory: each of its allocations fails once during a whole session.
struct SessionAllocationTests {
    private static let slots = UInt64(1)...6

    /// A session's whole life: settings, requests with and without body, answers, a reset, a cancellation, GOAWAY from both sides.
    private func live(_ memory: SessionMemory) throws(HTTP2Error) -> [UInt64] {
        let client = try Session(HTTP2Limits(), 10, [FieldName("x-slot")], memory: memory)
        do {
            try converse(client)
        } catch {
            client.fail(error)
        }
        client.fail(HTTP2Error(.connectionLost))
        // The calls that a connection may still make on a failed session.
        client.ping()
        client.goAway()
        client.cancel(Array(Self.slots))
        _ = try? client.output()
        _ = client.isFinished
        return client.completions.map(\.slot).sorted()
    }

    private func converse(_ client: Session) throws(HTTP2Error) {
        guard let server = PeerServer() else { return }
        func exchange() throws(HTTP2Error) {
            for _ in 0..<20 {
                let request = try client.output()
                server.receive(request)
                let answer = server.output()
                if request.isEmpty, answer.isEmpty { return }
                try client.receive(answer)
            }
        }
        client.enqueue(try requests())
        try exchange()
        server.respond(1, status: 200, fields: [("x-slot", "1")])
        server.respond(3, status: 400, fields: [("x-slot", "2")], body: [UInt8](repeating: 1, count: 3_000))
        server.reset(5, NGHTTP2_REFUSED_STREAM)
        client.cancel([4])
        client.ping()
        try exchange()
        client.expire(at: Pair.never + .seconds(1))
        server.goAway(last: 9, debug: "bye")
        try exchange()
    }

    private func requests() throws(HTTP2Error) -> RequestBatch {
        var batch = RequestBatch()
        let head = try HeaderBlock(method: "POST", authority: "example.com", fields: [(FieldName("apns-topic"), "t")])
        for slot in Self.slots {
            batch.append(slot: slot, head: head, deadline: Pair.never) { writer in
                writer.path("/3/device/\(slot)")
                writer.field(FieldName("apns-id", indexing: .nameOnce), "id-\(slot)")
                writer.body([UInt8](repeating: 1, count: slot == 2 ? 0 : 20_000))
            }
        }
        return batch
    }

    @Test(arguments: [false, true])
    func eachFailingAllocationEndsInAnErrorAndEveryRequestEndsOnce(once: Bool) throws {
        var (failing, refused) = (0, 0)
        while true {
            let memory = SessionMemory()
            memory.allocationsLeft = failing
            memory.refusesOnce = once
            do {
                #expect(try live(memory) == Array(Self.slots), "allocation \(failing)")
            } catch {
                #expect(error.code == .outOfMemory)
            }
            guard memory.hasRefused else { break }
            refused += 1
            failing += 1
            try #require(failing < 10_000)
        }
        #expect(refused > 50, "a session makes more allocations than that")
    }

    private struct NoMemory: Error {}

    private func allocate(_ size: Int, from memory: SessionMemory) throws -> UnsafeMutableRawPointer {
        guard let block = unsafe memory.allocate(size) else { throw NoMemory() }
        return unsafe block
    }

    private func holds(_ byte: UInt8, _ block: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        unsafe UnsafeRawBufferPointer(start: block, count: count).allSatisfy { $0 == byte }
    }

    @Test func blocksOfEverySizeAreWritableAndDistinct() throws {
        let memory = SessionMemory()
        var blocks: [(block: UnsafeMutableRawPointer, size: Int)] = unsafe []
        for size in Array(0...40) + [500, 1_008, 1_023, 1_024, 1_025, 5_000, 70_000] {
            let block = unsafe try allocate(size, from: memory)
            unsafe block.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: size), count: size)
            let isAligned = UInt(bitPattern: block) % 16 == 0
            #expect(isAligned)
            unsafe blocks.append((block, size))
        }
        for index in 0..<(unsafe blocks.count) {
            let (block, size) = unsafe blocks[index]
            guard let grown = unsafe memory.resize(block, size * 2 + 1) else { throw NoMemory() }
            let isKept = unsafe holds(UInt8(truncatingIfNeeded: size), grown, size)
            #expect(isKept, "size \(size)")
            unsafe memory.release(grown)
        }
    }

    @Test func freedBlockIsUsedAgainAndZeroedOnDemand() throws {
        let memory = SessionMemory()
        let first = unsafe try allocate(100, from: memory)
        unsafe first.initializeMemory(as: UInt8.self, repeating: 7, count: 100)
        unsafe memory.release(first)
        guard let second = unsafe memory.allocateZeroed(10, 10) else { throw NoMemory() }
        let (isSame, isZero) = unsafe (first == second, holds(0, second, 100))
        #expect(isSame)
        #expect(isZero)
    }

    @Test func absurdSizesAreRefused() {
        let memory = SessionMemory()
        let isRefused =
            unsafe memory.allocateZeroed(.max, 2) == nil && memory.allocate(-1) == nil && memory.allocate(.max) == nil
        #expect(isRefused)
    }
}

extension Session {
    fileprivate func enqueue(_ batch: RequestBatch) {
        var batch = batch
        enqueue(&batch)
    }
}
