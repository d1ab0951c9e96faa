import Model

/// The formats of times in this vendor's calls. All are UTC.
enum HubTime {
    private static func local(_ time: Timestamp) -> String {
        LocalTime(seconds: time.milliseconds >= 0 ? time.seconds : 0).description
    }

    /// `2026-01-01T00:00:00Z`.
    static func iso(_ time: Timestamp) -> String { local(time) + "Z" }

    /// `20260101000000`.
    static func compact(_ time: Timestamp) -> String { local(time).filter { $0.isNumber } }

    /// `1/1/2026 12:00:00 AM`: the end of the details of errors.
    static func american(_ time: Timestamp) -> String {
        let numbers = local(time).split { !$0.isNumber }.compactMap { Int($0) }
        guard numbers.count == 6 else { return "" }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let hour = numbers[3] % 12 == 0 ? 12 : numbers[3] % 12
        let half = numbers[3] < 12 ? "AM" : "PM"
        return
            "\(numbers[1])/\(numbers[2])/\(numbers[0]) \(hour):\(two(numbers[4])):\(two(numbers[5])) \(half)"
    }

    /// Seconds since 1970 in digits, as in `apns-expiration`. Nil for any other text, and for times beyond the calendar.
    static func unix(_ text: String) -> Timestamp? {
        guard let seconds = Int64(text), (0...99_999_999_999).contains(seconds) else { return nil }
        return Timestamp(seconds: seconds)
    }

    /// The expiry of a push: a date, or seconds; `0` means one attempt (docs/contracts/notificationhubs.md#5.2).
    static func end(_ text: String) -> Timestamp? { unix(text) ?? parse(text) }

    /// A time in the formats of the SDKs: ISO 8601 with or without seconds, fraction and zone (`Z`, `+0000`, `+09:00`), or .NET's invariant
    /// `MM/dd/yyyy HH:mm:ss` (docs/contracts/notificationhubs.md#4.1, docs/contracts/notificationhubs.md#7). The `T` may be in quotes
    /// (docs/contracts/notificationhubs.md#7.5). Nil for any other text.
    static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= HubsLimits.dateBytes, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.replacing("'", with: "")
        if let time = invariant(text) { return time }
        guard text.utf8.count >= 16 else { return nil }
        let hasSeconds = text.utf8.dropFirst(16).first == UInt8(ascii: ":")
        let head = hasSeconds ? 19 : 16
        // Nil for times beyond the calendar, such as the vendor's "never".
        guard let local = LocalTime(String(text.prefix(head))) else { return nil }
        var rest = text.dropFirst(head)
        if rest.first == "." { rest = rest.dropFirst().drop { $0.isNumber } }
        guard let offset = offset(rest) else { return nil }
        return Timestamp(seconds: local.seconds - offset)
    }

    /// Seconds east of UTC.
    private static func offset(_ text: Substring) -> Int64? {
        if text.isEmpty || text == "Z" || text == "z" { return 0 }
        guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, digits.allSatisfy(\.isNumber), let number = Int64(digits), number / 100 < 15
        else {
            return nil
        }
        let seconds = number / 100 * 3600 + number % 100 * 60
        return sign == "-" ? -seconds : seconds
    }

    private static func invariant(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 2 else { return nil }
        let date = parts[0].split(separator: "/")
        guard date.count == 3, date[0].count == 2, date[1].count == 2, date[2].count == 4 else { return nil }
        return LocalTime("\(date[2])-\(date[0])-\(date[1])T\(parts[1])").map { Timestamp(seconds: $0.seconds) }
    }
}
