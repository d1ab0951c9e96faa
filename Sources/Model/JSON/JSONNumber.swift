/// The number syntax of RFC 8259.
package enum JSONNumber {
    /// Whether `bytes` is exactly one number.
    package static func isNumber(_ bytes: Span<UInt8>) -> Bool { end(in: bytes, from: 0) == bytes.count }

    /// The end of the number that starts at `start`; nil if no number starts there.
    package static func end(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        func byte() -> UInt8? { index < bytes.count ? bytes[index] : nil }
        func digits() -> Int {
            let first = index
            while let digit = byte(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) { index += 1 }
            return index - first
        }
        if byte() == UInt8(ascii: "-") { index += 1 }
        let leadsWithZero = byte() == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadsWithZero || count == 1 else { return nil }
        if byte() == UInt8(ascii: ".") {
            index += 1
            guard digits() > 0 else { return nil }
        }
        if let sign = byte(), sign | 0x20 == UInt8(ascii: "e") {
            index += 1
            if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { index += 1 }
            guard digits() > 0 else { return nil }
        }
        return index
    }
}
