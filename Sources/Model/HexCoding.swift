/// Lower-case hexadecimal, for device tokens and identifiers.
package enum HexCoding {
    /// The value of one hex digit, either case.
    package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The lower-case digit of the low four bits.
    package static func digit(_ value: UInt8) -> UInt8 {
        let low = value & 15
        return low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10
    }

    /// The lower-case hex of `bytes`; of a UUID with its dashes, before the bytes 4, 6, 8 and 10.
    package static func encode(_ bytes: some Sequence<UInt8>, isUUID: Bool = false) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(2 * bytes.underestimatedCount + 4)
        for (index, byte) in bytes.enumerated() {
            if isUUID, (4...10).contains(index), index.isMultiple(of: 2) { out.append(UInt8(ascii: "-")) }
            out.append(digit(byte >> 4))
            out.append(digit(byte))
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes that `text` spells, or nil when it is not an even run of hex digits.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { value(of: $0) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
