/// `%XX`, both ways. Never traps on any input.
package enum PercentCoding {
    /// The text of escaped bytes.
    ///
    /// - Parameters:
    ///   - encoded: as it came.
    ///   - plusIsSpace: as in forms; elsewhere `+` is itself.
    /// - Returns: nil for a broken escape or bytes that are no UTF-8.
    package static func decode(_ encoded: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(HexCoding.value), let low = rest.next().flatMap(HexCoding.value)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)  // any other byte stands for itself
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Everything but letters, digits, `-`, `.`, `_`, `~` escaped: inert in a page, whole again after decoding.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default:  // any other byte is escaped
                bytes += [UInt8(ascii: "%"), HexCoding.digit(byte >> 4), HexCoding.digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
