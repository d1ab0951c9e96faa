extension String {
    /// Whether the text contains a byte. `utf8.contains` tests the form of the text again for each of its bytes.
    package func hasByte(_ byte: UInt8) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where bytes[index] == byte { return true }
        return false
    }

    /// Its first bytes of printable ASCII, for logs and stored reasons: one character of a foreign text may have thousands of bytes.
    package func printable(_ limit: Int) -> String {
        String(decoding: utf8.lazy.filter { (0x20...0x7E).contains($0) }.prefix(limit), as: UTF8.self)
    }
}
