/// The place of a call in a distributed trace, as callers send it and as sampled messages keep it.
///
/// Source: W3C Trace Context (Recommendation, 2021-11-23), https://www.w3.org/TR/trace-context/, read 2026-11-26.
package struct TraceContext: Sendable, Hashable {
    /// 128 bits, never all zero.
    package struct TraceID: Sendable, Hashable {
        package var high: UInt64
        package var low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    package var traceID: TraceID
    /// The span that is the parent of new ones. Never zero.
    package var spanID: UInt64
    /// Whether the spans of the trace are recorded and sent.
    package var isSampled: Bool
    /// `tracestate`: entries of other tracing systems, passed on unchanged. Nil: none.
    package var state: String?

    package init(traceID: TraceID, spanID: UInt64, isSampled: Bool, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }
}

// MARK: Headers

extension TraceContext {
    /// The name of the header with the ids.
    package static let parentHeader = "traceparent"
    /// The name of the header with the entries of tracing systems.
    package static let stateHeader = "tracestate"

    /// 55 characters: version, trace id, span id and flags of version 00.
    private static let parentLength = 55
    /// 512 characters, the least that must be passed on (§3.3.1.5). A longer value is dropped, because messages keep it.
    private static let stateLimit = 512

    /// Reads both headers. Nil, unless `traceparent` is valid: the call then begins a trace of its own (§3.2.2.2).
    package init?(parent: String, state: String? = nil) {
        let text = Array(parent.utf8)
        guard text.count >= Self.parentLength, [2, 35, 52].allSatisfy({ text[$0] == UInt8(ascii: "-") }) else {
            return nil
        }
        guard let version = Self.hex(text[0..<2]), version != 0xFF,
            version == 0 ? text.count == Self.parentLength : Self.mayBeLonger(text),
            let high = Self.hex(text[3..<19]), let low = Self.hex(text[19..<35]), high | low != 0,
            let span = Self.hex(text[36..<52]), span != 0, let flags = Self.hex(text[53..<55])
        else { return nil }
        traceID = TraceID(high: high, low: low)
        spanID = span
        isSampled = flags & 1 != 0
        self.state = state.flatMap { Self.isState($0) ? $0 : nil }
    }

    /// `traceparent` of version 00.
    package var parent: String { "00-\(traceID)-\(Self.text(spanID))-\(isSampled ? "01" : "00")" }

    /// A later version may add fields after a dash (§3.2.4).
    private static func mayBeLonger(_ text: [UInt8]) -> Bool {
        text.count == parentLength || text[parentLength] == UInt8(ascii: "-")
    }

    private static func isState(_ text: String) -> Bool {
        (1...stateLimit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The value of lower-case hex digits; upper-case ones are not valid (§3.2.2).
    private static func hex(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            guard !(0x41...0x5A).contains(digit), let next = HexCoding.value(of: digit) else { return nil }
            value = value << 4 | UInt64(next)
        }
        return value
    }

    /// 16 lower-case hex digits.
    package static func text(_ id: UInt64) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension TraceContext.TraceID: CustomStringConvertible {
    /// 32 lower-case hex digits.
    package var description: String { TraceContext.text(high) + TraceContext.text(low) }
}

// MARK: Stored form

extension TraceContext {
    /// The form in which a message keeps it: `traceparent`, then a space and `tracestate` if there is one.
    package var stored: String { state.map { "\(parent) \($0)" } ?? parent }

    package init?(stored: String) {
        let parts = stored.split(separator: " ", maxSplits: 1)
        guard let parent = parts.first else { return nil }
        self.init(parent: String(parent), state: parts.count > 1 ? String(parts[1]) : nil)
    }
}
