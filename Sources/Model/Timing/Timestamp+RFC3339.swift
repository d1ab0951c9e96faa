extension Timestamp {
    /// The moment as RFC 3339 text in UTC, with milliseconds: `2026-12-25T13:30:00.000Z`. A moment after the year 9999 is written as the end of that year.
    package var rfc3339: String {
        let moment = min(milliseconds, Self.lastMillisecond)
        let whole = moment >= 0 ? moment / 1000 : (moment - 999) / 1000
        let rest = String(moment - whole * 1000)
        return LocalTime(seconds: whole).description + "." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
            + "Z"
    }

    /// The last moment with a year of four digits: 9999-12-31T23:59:59.999Z.
    private static let lastMillisecond: Int64 = 253_402_300_799_999

    /// The UTC day as RFC 3339 text: `2026-12-25`.
    package var rfc3339Date: String { String(rfc3339.prefix(10)) }

    /// Parses RFC 3339 text to the millisecond. Returns nil for anything else, for a leap second, and for a year before 1970.
    package init?(rfc3339 text: String) {
        var bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40 else { return nil }
        if bytes[10] == UInt8(ascii: "t") || bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        guard let local = LocalTime(String(decoding: bytes[..<19], as: UTF8.self)) else { return nil }
        var rest = bytes[19...]
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { Self.digits.contains($0) }
            guard !digits.isEmpty else { return nil }
            for place in 0..<3 { fraction = fraction * 10 + Self.digit(digits.dropFirst(place).first) }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = Self.offset(rest) else { return nil }
        self.init(milliseconds: (local.seconds - offset) * 1000 + fraction)
        guard milliseconds >= 0 else { return nil }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private static func digit(_ byte: UInt8?) -> Int64 { byte.map { Int64($0 - digits.lowerBound) } ?? 0 }

    /// Parses the offset in seconds east of UTC: `Z`, `+09:00`, `-0330`.
    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let sign = text.first else { return nil }
        if text.count == 1 { return sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") ? 0 : nil }
        let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), digits.count == 4, text.count <= 6,
            digits.allSatisfy({ Self.digits.contains($0) })
        else { return nil }
        let hours = digit(digits[0]) * 10 + digit(digits[1])
        let minutes = digit(digits[2]) * 10 + digit(digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }
}
