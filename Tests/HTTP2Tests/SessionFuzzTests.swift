import CNGHTTP2
import HTTP2Support
import TestKit
import Testing

@testable import HTTP2

/// Hostile bytes for every parser of the session.
struct SessionFuzzTests {
    /// Feeds bytes in pieces and returns the slots of the requests that ended, once per end.
    private func feed(_ pair: Pair, _ pieces: some Sequence<[UInt8]>) -> [UInt64] {
        do {
            for piece in pieces {
                try pair.client.receive(piece)
                _ = try pair.client.output()
            }
        } catch {
            pair.client.fail(error)
        }
        pair.client.fail(HTTP2Error(.connectionLost))
        return pair.client.completions.map(\.slot).sorted()
    }

    private func openedPair() throws -> Pair {
        let pair = try Pair(initialStreamLimit: 3, collected: [FieldName("x-a"), FieldName("x-b")])
        try pair.exchange()
        pair.enqueue(1...3)
        try pair.exchange()
        return pair
    }

    @Test func conversationCutAfterAnyByteEndsEveryRequestOnce() throws {
        var cut = 0
        while true {
            let pair = try openedPair()
            pair.server.respond(1, status: 410, fields: [("x-a", "1"), ("x-b", "22")], body: Array("{}".utf8))
            pair.server.settings(maxStreams: 1)
            pair.server.reset(5, NGHTTP2_INTERNAL_ERROR)
            pair.server.goAway(last: 5, debug: "bye")
            let bytes = pair.server.output()
            #expect(feed(pair, [Array(bytes.prefix(cut))]) == [1, 2, 3], "cut at \(cut)")
            if cut == bytes.count { break }
            cut += 1
        }
        #expect(cut > 80)
    }

    @Test(arguments: UInt64(1)...150)
    func framesWithRandomContentEndEveryRequestOnce(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pair = try openedPair()
        let pieces = (0..<50).map { _ in
            let length = Int.random(in: 0...[0, 4, 5, 8, 60].randomElement(using: &random)!, using: &random)
            return Frame.make(
                UInt8.random(in: 0...11, using: &random),
                flags: UInt8.random(in: 0...63, using: &random),
                stream: [0, 1, 3, 5, 7, 2, .max].randomElement(using: &random) ?? 0,
                (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            )
        }
        #expect(feed(pair, pieces) == [1, 2, 3])
    }

    // RFC 9113 §8.3.2: a response has one `:status` of three digits.
    @Test(arguments: [
        [], Array("2".utf8), Array("20".utf8), Array("2000".utf8), Array("2x0".utf8), [0, 0, 0], [255, 255, 255],
    ])
    func statusOtherThanANumberIsNotAnAnswer(status: [UInt8]) throws {
        let pair = try openedPair()
        let block: [UInt8] = [8, UInt8(status.count)] + status
        #expect(feed(pair, [Frame.make(.headers, flags: 5, stream: 1, block)]) == [1, 2, 3])
        #expect(!pair.outcomes().values.contains { Int($0) != nil })
    }

    @Test(arguments: UInt64(1)...100)
    func keptFieldsAreCompleteOrMissing(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pair = try openedPair()
        let texts = (0..<2).map { _ in
            let length = Int.random(
                in: 0...[1, 36, 600, 1_020, 1_021, 1_022, 3_000].randomElement(using: &random)!,
                using: &random
            )
            return String(decoding: (0..<length).map { _ in UInt8.random(in: 97...122, using: &random) }, as: UTF8.self)
        }
        let body = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        pair.server.respond(1, status: 400, fields: [("x-a", texts[0]), ("x-b", texts[1])], body: body)
        try pair.exchange()
        let response = try #require(pair.client.completions.first).result.get()
        #expect(Array(response.body) == body)
        var room = pair.client.limits.maxResponseFieldBytes
        for (name, text) in [(FieldName("x-a"), texts[0]), (FieldName("x-b"), texts[1])] {
            let isKept = text.utf8.count + ResponseStore.fieldOverheadBytes <= room
            if isKept { room -= text.utf8.count + ResponseStore.fieldOverheadBytes }
            #expect(response.value(name) == (isKept ? text : nil))
        }
    }

    // Requests from a producer are not trusted either: an invalid request fails alone.
    @Test(arguments: UInt64(1)...150)
    func randomRequestBytesAreSentUnchangedOrNotAtAll(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let pair = try Pair(initialStreamLimit: 100)
        try pair.exchange()
        func noise(_ limit: Int) -> [UInt8] {
            let isText = Bool.random(using: &random)
            return (0..<Int.random(in: 0...limit, using: &random)).map { _ in
                UInt8.random(in: isText ? 0x21...0x7E : 0...255, using: &random)
            }
        }
        var batch = RequestBatch()
        for slot in UInt64(1)...20 {
            batch.append(slot: slot, head: pair.head, deadline: Pair.never) { writer in
                let path = Bool.random(using: &random) ? Array("/".utf8) + noise(40) : noise(40)
                writer.path(path.span)
                for _ in 0..<Int.random(in: 0...10, using: &random) {
                    let value = noise(30)
                    writer.field(FieldName("x-a"), value.span)
                }
                writer.body(noise(200))
            }
        }
        let taken = batch.count
        pair.client.enqueue(&batch)
        let refused = pair.client.completions.count
        try pair.exchange()
        // nghttp2's server resets malformed requests, so the client's own check must be at least as strict.
        #expect(pair.client.completions.count == refused)
        #expect(pair.server.requests.values.count(where: \.isComplete) == taken - refused)
    }
}
