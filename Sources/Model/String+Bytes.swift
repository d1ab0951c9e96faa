extension String {
    /// Whether the text contains a byte. `utf8.contains` tests the form of the text again for each of its bytes.
    package func hasByte(_ byte: UInt8) -> Bool { hasByte { $0 == byte } }

    /// Whether the text contains such a byte.
    @inline(__always) func hasByte(where isSought: (UInt8) -> Bool) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where isSought(bytes[index]) { return true }
        return false
    }

    /// Its first bytes of printable ASCII, for logs and stored reasons: one character of a foreign text may have thousands of bytes.
    package func printable(_ limit: Int) -> String {
        String(decoding: utf8.lazy.filter { (0x20...0x7E).contains($0) }.prefix(limit), as: UTF8.self)
    }

    /// Its first `limit` characters in one line, without control characters and marks that change the direction of what follows: for pages and terminals.
    package func oneLine(_ limit: Int = .max) -> String {
        var out = String.UnicodeScalarView()
        var count = 0
        for scalar in unicodeScalars {
            guard count < limit else { return String(out) + "…" }
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x2028, 0x2029: out.append(" ")
            case 0x00..<0x20, 0x7F..<0xA0: out.append("\u{FFFD}")
            case 0x202A...0x202E, 0x2066...0x2069: continue
            default: out.append(scalar)
            }
            count += 1
        }
        return String(out)
    }
}
