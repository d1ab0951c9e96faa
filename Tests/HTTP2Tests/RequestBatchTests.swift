import Testing

@testable import HTTP2

/// A batch that a producer fills and from which a connection takes requests.
struct RequestBatchTests {
    private let head: HeaderBlock

    init() throws { head = try HeaderBlock(method: "POST", authority: "example.com") }

    private func fill(_ batch: inout RequestBatch, _ slots: some Sequence<UInt64>) {
        for slot in slots {
            batch.append(slot: slot, head: head, deadline: .now) { writer in
                writer.path("/")
                writer.path("\(slot)")
                writer.field(FieldName("apns-id"), "id-\(slot)")
                writer.body(Array("body-\(slot)".utf8))
            }
        }
    }

    private func texts(_ batch: RequestBatch) -> [String] {
        batch.remaining.map { entry in
            String(decoding: batch.bytes[entry.start..<entry.start + entry.byteCount], as: UTF8.self)
        }
    }

    @Test func takingPartsKeepsEachRequestWhole() {
        var batch = RequestBatch()
        var taken = RequestBatch()
        fill(&batch, 1...5)
        #expect(taken.take(2, from: &batch) == 2)
        #expect(batch.slot(at: 0) == 3)
        #expect(taken.take(2, from: &batch) == 2)
        #expect(texts(taken) == (1...4).map { "/\($0)id-\($0)body-\($0)" })
        #expect(texts(batch) == ["/5id-5body-5"])
        #expect(taken.take(9, from: &batch) == 1)
        #expect(batch.isEmpty)
        #expect(taken.count == 5)
    }

    // Single sends work like this: batches arrive at an inbox that is not empty, and some of them are partly taken.
    @Test func wholeBatchesAreAppended() throws {
        let other = try HeaderBlock(method: "POST", authority: "example.org")
        var inbox = RequestBatch()
        var expected: [String] = []
        var heads: [String] = []
        for round in UInt64(0)..<40 {
            var batch = RequestBatch()
            let slots = (round * 10..<round * 10 + 1 + round % 4)
            for slot in slots {
                batch.append(slot: slot, head: (round + slot) % 3 == 0 ? other : head, deadline: .now) { writer in
                    writer.path("/\(slot)")
                    writer.field(FieldName("apns-id"), "id-\(slot)")
                }
            }
            var begun = RequestBatch()
            if round % 2 == 0, slots.count > 1 { #expect(begun.take(1, from: &batch) == 1) }
            let left = (0..<batch.count).map { batch.slot(at: $0) }
            expected += left.map { "/\($0)id-\($0)" }
            heads += left.map { (round + $0) % 3 == 0 ? "other" : "head" }
            #expect(inbox.take(100, from: &batch) == left.count)
            #expect(batch.isEmpty)
        }
        #expect(texts(inbox) == expected)
        #expect(inbox.remaining.map { inbox.heads[$0.head] === other ? "other" : "head" } == heads)
        #expect(inbox.remaining.allSatisfy { inbox.fields[$0.firstField].count == $0.byteCount - $0.pathCount })
    }

    @Test func batchThatIsNeverEmptyDoesNotGrow() {
        var batch = RequestBatch()
        var sink = RequestBatch()
        fill(&batch, 1...10)
        for round in UInt64(1)...1_000 {
            fill(&batch, [round])
            _ = sink.take(1, from: &batch)
            sink.removeAll()
        }
        #expect(batch.count == 10)
        #expect(batch.bytes.count < 1_000)
        #expect(texts(batch).last == "/1000id-1000body-1000")
    }

    @Test func headWithForbiddenBytesOrPseudoFieldsIsRefused() {
        let bad: [(FieldName, String)] = [
            (FieldName("apns-topic"), "a\r\nb"), (FieldName("Apns-Topic"), "x"), (FieldName(":path"), "/"),
        ]
        for field in bad {
            let error = #expect(throws: HTTP2Error.self) { try HeaderBlock(fields: [field]) }
            #expect(error?.code == .invalidRequest)
        }
        #expect(throws: HTTP2Error.self) {
            try HeaderBlock(fields: Array(repeating: (FieldName("a"), "b"), count: 25))
        }
    }
}
