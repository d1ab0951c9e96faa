import Model

/// The formats of times in this vendor's calls.
enum BrazeTime {
    /// The time as answers spell it.
    static func text(_ time: Timestamp) -> String { "\(LocalTime(seconds: time.seconds))Z" }

    /// ISO 8601 with or without fraction (after `.` or `:`), and a zone (`Z`, `+0900`, `+09:00`); without a zone it is UTC (Assumed). Nil for any other text.
    static func parse(_ text: String) -> Timestamp? {
        guard (19...BrazeLimits.dateBytes).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }),
            let local = LocalTime(String(text.prefix(19)))
        else { return nil }
        var rest = text.dropFirst(19)
        if rest.first == "." || rest.first == ":" { rest = rest.dropFirst().drop { $0.isNumber } }
        return offset(rest).map { Timestamp(seconds: local.seconds - $0) }
    }

    /// A date in an attribute: as above, also with a space instead of the `T`; or a day alone, which means its start in UTC (Assumed).
    static func date(_ text: String) -> Timestamp? {
        if let day = LocalTime("\(text)T00:00") { return Timestamp(seconds: day.seconds) }
        return parse(text.utf8.count >= 19 ? text.replacing(" ", with: "T", maxReplacements: 1) : text)
    }

    /// Seconds east of UTC.
    private static func offset(_ text: Substring) -> Int64? {
        if text.isEmpty || text == "Z" || text == "z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, digits.allSatisfy(\.isNumber), let number = Int64(digits), number / 100 < 15,
            number % 100 < 60
        else { return nil }
        let seconds = number / 100 * 3600 + number % 100 * 60
        return sign == "-" ? -seconds : seconds
    }
}
