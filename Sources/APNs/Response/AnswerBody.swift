internal import Model

/// What can be read out of an answer's body or a GOAWAY's debug data: `{"reason":"…","timestamp":…}`.
///
/// Lenient, because a peer writes it: no body, a cut one, one with more keys, or none that is JSON give what was found before the fault.
/// Bounded by `APNsLimits.maxReasonBodyBytes`; nothing in it recurses. A body in several DATA frames is whole again before it comes here.
struct AnswerBody: Equatable {
    /// APNs' word, `unknown("")` if there was none.
    private(set) var reason = APNsReason.unknown("")
    /// When the device token was last known to be invalid; only 410 answers name it. On the wire in milliseconds.
    private(set) var since: Timestamp?

    init(_ body: some Collection<UInt8>) {
        let bytes = Array(body.prefix(APNsLimits.maxReasonBodyBytes))
        var scanner = JSONScanner()
        var key: Range<Int>?
        // What was found before a fault counts.
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
