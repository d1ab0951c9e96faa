extension ConsoleFormat {
    /// A value for one line: at most `limit` characters, without line ends, control characters, and marks that change the direction of what follows.
    static func line(_ text: String, _ limit: Int = 120) -> String {
        var out = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
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
