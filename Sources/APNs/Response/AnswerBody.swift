internal import Model

/// The content of an answer's body or of a GOAWAY's debug data: `{"reason":"…","timestamp":…}`.
///
/// The parser is lenient, because the peer controls the input. If the body is missing, cut or not JSON, or has more keys, it returns the values before the
/// fault. It reads at most `APNsLimits.maxReasonBodyBytes` and does not recurse. A body in several DATA frames has been joined before.
struct AnswerBody: Equatable {
    /// APNs' reason; `unknown("")` if the body contains none.
    private(set) var reason = APNsReason.unknown("")
    /// When the device token was last known to be invalid; only 410 answers contain it. On the wire in milliseconds.
    private(set) var since: Timestamp?

    init(_ body: some Collection<UInt8>) {
        let bytes = Array(body.prefix(APNsLimits.maxReasonBodyBytes))
        var scanner = JSONScanner()
        var key: Range<Int>?
        // The values before a fault are used.
        while let token = try? scanner.next(in: bytes.span), token != .end {
            switch token {
            case .key(let range): key = scanner.depth == 1 ? range : nil
            case .string(let range), .number(let range):
                if let name = key { take(range, of: name, in: bytes) }
                key = nil
            case .word, .beginObject, .endObject, .beginArray, .endArray, .end: key = nil
            }
        }
    }

    private mutating func take(_ value: Range<Int>, of key: Range<Int>, in bytes: [UInt8]) {
        if bytes[key].elementsEqual("reason".utf8) {
            reason = APNsReason(wire: String(decoding: bytes[value], as: UTF8.self))
        } else if bytes[key].elementsEqual("timestamp".utf8) {
            since = Int64(String(decoding: bytes[value], as: UTF8.self)).map(Timestamp.init(milliseconds:))
        }
    }
}
