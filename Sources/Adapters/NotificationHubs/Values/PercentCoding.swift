import Model

/// `%XX`, both ways; `+` is itself. Never traps on any input.
enum PercentCoding {
    /// Nil for a broken escape or bytes that are no UTF-8.
    static func decode(_ encoded: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(HexCoding.value), let low = rest.next().flatMap(HexCoding.value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Everything but letters, digits, `-`, `.`, `_`, `~` escaped.
    static func encode(_ text: String) -> String {
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

/// Text inside an element.
enum XMLText {
    /// Without what XML 1.0 has no spelling for.
    static func escape(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\t", "\n", "\r": out.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": continue
            default: out.unicodeScalars.append(scalar)  // every other character stands for itself
            }
        }
        return out
    }
}
