/// Checks of the bytes of header values and texts. They run for each push.
package enum ByteChecks {
    /// Whether all bytes are hexadecimal digits, in upper or lower case.
    @inlinable
    package static func isHex(_ span: Span<UInt8>) -> Bool { !span.contains(filler: UInt8(ascii: "0")) { $0.notHex } }

    /// Whether all bytes are printable ASCII without the space: no control characters, no spaces, nothing above 0x7E.
    @inlinable
    package static func isVisible(_ span: Span<UInt8>) -> Bool {
        !span.contains(filler: UInt8(ascii: "x")) { $0.high | $0.below(0x21) | $0.equal(0x7F) }
    }

    /// Whether no byte must be escaped in a JSON string (RFC 8259 §7).
    @inlinable
    package static func isPlainJSON(_ span: Span<UInt8>) -> Bool {
        !span.contains(filler: UInt8(ascii: "x")) { bytes in
            bytes.anyBelow(0x20) | bytes.anyEqual(UInt8(ascii: "\"")) | bytes.anyEqual(UInt8(ascii: "\\"))
        }
    }

    /// Whether this byte must be escaped in a JSON string.
    @inlinable
    @inline(__always)
    package static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The lower-case hexadecimal digit of the low four bits.
    @inlinable
    @inline(__always)
    package static func hexDigit(_ value: UInt8) -> UInt8 {
        let low = value & 15
        return low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10
    }
}
