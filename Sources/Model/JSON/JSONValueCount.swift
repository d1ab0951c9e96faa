extension JSONParser {
    /// Whether a text has more values than `parse` reads. It builds no values, so that the question about a refused body costs little.
    ///
    /// Of a text that is not JSON it counts what looks like values.
    package static func hasTooManyValues(_ bytes: [UInt8]) -> Bool {
        // Two bytes per value, such as `1,`, are the least.
        guard bytes.count > 2 * valueLimit else { return false }
        var count = 0
        var isInString = false
        var isEscaped = false
        var isInScalar = false
        for byte in bytes {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                isInScalar = false
                count += 1
            // The text before it was a key.
            case UInt8(ascii: ":"):
                isInScalar = false
                count -= 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                isInScalar = false
                count += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), 0x20, 0x0A, 0x0D, 0x09: isInScalar = false
            default:
                if !isInScalar { count += 1 }
                isInScalar = true
            }
            // One key may be counted until its colon.
            if count > valueLimit + 1 { return true }
        }
        return count > valueLimit
    }
}
