// Addresses are built of segments, each percent-coded, so that no name changes the meaning of a path.

extension APICall {
    /// A segment of a path, percent-coded: only letters, digits, `-`, `.`, `_` and `~` stay, and a segment of dots is coded whole.
    package static func segment(_ text: String) -> String {
        let isDots = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
        var coded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                coded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !isDots: coded += "."
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                coded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return coded
    }
}

extension Link {
    /// A path below the tenant of these segments.
    package static func path(_ segments: String...) -> String {
        segments.map { APICall.segment($0) }.joined(separator: "/")
    }
}
