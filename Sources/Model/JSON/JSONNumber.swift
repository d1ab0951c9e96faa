/// Numbers as RFC 8259 spells them.
package enum JSONNumber {
    /// Whether all of `bytes` is one number.
    package static func isNumber(_ bytes: Span<UInt8>) -> Bool { end(in: bytes, from: 0) == bytes.count }

    /// Where the number that starts at `start` ends; nil if there is none.
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
