/// Encodes and decodes `%XX`. Never traps on any input.
package enum PercentCoding {
    /// Decodes escaped bytes to text.
    ///
    /// - Parameters:
    ///   - encoded: the escaped bytes.
    ///   - plusIsSpace: whether `+` means a space, as in forms.
    /// - Returns: nil for a broken escape or bytes that are not UTF-8.
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

    /// Escapes everything except letters, digits, `-`, `.`, `_`, `~`. The result is harmless in a page, and decoding restores the text.
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
