import HTTP2
import HTTP2Support

/// Requests through a session with a scripted peer: the whole HTTP/2 client except for socket and TLS.
struct SessionPiece {
    private static let batchCount = 100

    private let session: Session
    private let head: HeaderBlock
    private let authorization: HeaderBlock
    private let body = Array((#"{"aps":{"alert":""# + String(repeating: "x", count: 178) + #""}}"#).utf8)
    /// Created before the measurement. HPACK never indexes a path or the values of this field, so the same ones can be reused.
    private let tokens = (0..<SessionPiece.batchCount).map { SessionPiece.hex($0, count: 64) }
    private let ids = (0..<SessionPiece.batchCount).map { SessionPiece.id($0) }
    private let idName = FieldName("apns-id", indexing: .nameOnce)

    init() throws {
        session = try Session(collectedFields: [FieldName("apns-id")])
        head = try HeaderBlock(
            method: "POST",
            authority: "api.push.apple.com",
            fields: [
                (FieldName("apns-topic"), "com.example.shop"), (FieldName("apns-push-type"), "alert"),
                (FieldName("apns-priority"), "10"),
            ]
        )
        // The length is that of a provider token.
        let token = (0..<184).map { String(UnicodeScalar(UInt8(ascii: "A") + UInt8($0 * 7 % 26))) }.joined()
        authorization = try HeaderBlock(
            fields: [(FieldName("authorization", indexing: .never), "bearer " + token)]
        )
        // SETTINGS with 1000 streams, and the largest connection window.
        try session.receive([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0xE8])
        try session.receive([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0, 0])
        _ = try session.output()
    }

    /// Sends `count` requests, rounded up to whole batches, and reads their answers.
    func roundTrips(_ count: Int) throws {
        var batch = RequestBatch()
        var stream: UInt32 = 1
        let deadline = Moment(.now + .seconds(3_600))
        var done = 0
        while done < count {
            for index in 0..<SessionPiece.batchCount { append(done + index, deadline, to: &batch) }
            session.enqueue(&batch)
            guard try session.output(dispatched: authorization).count > 20_000 else {
                throw PieceFailure(sentence: "nothing was sent")
            }
            var answers: [UInt8] = []
            answers.reserveCapacity(64 * SessionPiece.batchCount)
            for _ in 0..<SessionPiece.batchCount {
                appendAnswer(stream, to: &answers)
                stream += 2
            }
            try session.receive(answers)
            guard session.completions.count == SessionPiece.batchCount else {
                throw PieceFailure(sentence: "\(session.completions.count) answers")
            }
            session.completions.removeAll(keepingCapacity: true)
            done += SessionPiece.batchCount
        }
    }

    private func append(_ number: Int, _ deadline: Moment, to batch: inout RequestBatch) {
        let place = number % SessionPiece.batchCount
        batch.append(slot: UInt64(number), head: head, deadline: deadline) { writer in
            writer.path("/3/device/")
            writer.path(tokens[place].span)
            writer.field(idName, ids[place].span)
            writer.body(body)
        }
    }

    /// A HEADERS frame that ends the stream: `:status 200` and an apns-id that is not indexed.
    private func appendAnswer(_ stream: UInt32, to bytes: inout [UInt8]) {
        bytes += [0, 0, 47, 1, 5]
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: stream >> shift)) }
        bytes += [0x88, 0x00, 7]
        bytes += "apns-id".utf8
        bytes.append(36)
        bytes += "6f1c2a3e-9b7d-4e58-8c21-0d5a4b9e7f36".utf8
    }

    /// `count` hexadecimal digits that look random.
    private static func hex(_ number: Int, count: Int) -> [UInt8] {
        var bits = UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            bits = bits &* 0x5851_F42D_4C95_7F2D &+ 1
            let value = UInt8(truncatingIfNeeded: bits >> 60)
            return value < 10 ? 0x30 + value : 0x57 + value
        }
    }

    /// An id in the 8-4-4-4-12 form.
    private static func id(_ number: Int) -> [UInt8] {
        var text = hex(number + 1_000, count: 32)
        for place in [20, 16, 12, 8] { text.insert(UInt8(ascii: "-"), at: place) }
        return text
    }
}
