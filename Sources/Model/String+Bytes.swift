extension String {
    /// Whether the text contains a byte. `utf8.contains` tests the form of the text again for each of its bytes.
    package func hasByte(_ byte: UInt8) -> Bool {
        let bytes = utf8Span.span
        for index in bytes.indices where bytes[index] == byte { return true }
        return false
    }
}
