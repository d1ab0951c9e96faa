/// Looks over the bytes of headers and texts, which happens to each push.
///
/// Each loop runs to the end and only collects a flag: without an early exit the compiler looks at sixteen bytes at once, and a good text has
/// to be seen whole anyway. Not inlined, because within other code the compiler gives that up (measured).
enum ByteChecks {
    /// Only hex digits, of either case.
    @inline(never)
    static func isHex(_ span: Span<UInt8>) -> Bool {
        var bad: UInt8 = 0
        for index in span.indices {
            let byte = span[index]
            let digit = byte &- UInt8(ascii: "0")
            let letter = (byte | 0x20) &- UInt8(ascii: "a")
            bad |= (digit > 9 ? 1 : 0) & (letter > 5 ? 1 : 0)
        }
        return bad == 0
    }

    /// Only ASCII that can be seen: no control character, no space, nothing above 0x7E.
    @inline(never)
    static func isVisible(_ span: Span<UInt8>) -> Bool {
        var bad: UInt8 = 0
        for index in span.indices { bad |= (span[index] &- 0x21 > 0x7E - 0x21) ? 1 : 0 }
        return bad == 0
    }

    /// Nothing that JSON wants escaped in a string: RFC 8259 §7.
    @inline(never)
    static func isPlainJSON(_ span: Span<UInt8>) -> Bool {
        var bad: UInt8 = 0
        for index in span.indices {
            let byte = span[index]
            bad |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return bad == 0
    }

    /// Whether JSON wants this byte escaped in a string.
    @inline(__always)
    static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The lower-case digit of the low four bits.
    @inline(__always)
    static func hexDigit(_ value: UInt8) -> UInt8 {
        let low = value & 15
        return low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10
    }
}
