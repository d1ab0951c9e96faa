/// Writes a number as decimal digits without a `String`. Each push needs this for expirations and numbers in payloads.
package enum DecimalDigits {
    /// Passes the digits to `body`; they are valid only during the call.
    @inlinable
    @inline(__always)
    package static func spell(_ value: Int64, _ body: (Span<UInt8>) -> Void) {
        // At most 19 digits and a sign, written from the end.
        var bytes = InlineArray<20, UInt8>(repeating: 0)
        var first = 20
        var rest = value.magnitude
        repeat {
            first -= 1
            bytes[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 {
            first -= 1
            bytes[first] = UInt8(ascii: "-")
        }
        body(bytes.span.extracting(first..<20))
    }
}
