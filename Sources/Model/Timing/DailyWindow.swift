/// The minutes of each day in which something may be received: `0900`–`2100`. `2200`–`0700` wraps at midnight.
///
/// The last minute is included, so `0000`–`2359` is the whole day. The wall clock decides: a minute that occurs twice in autumn is included
/// twice, and a minute that is skipped in spring does not occur.
package struct DailyWindow: Sendable, Hashable, CustomStringConvertible {
    /// The first minute of the day, 0...1439.
    package let from: Int
    /// The last minute of the day, 0...1439.
    package let to: Int

    /// Returns nil unless both are minutes of a day.
    package init?(from: Int, to: Int) {
        guard (0..<1440).contains(from), (0..<1440).contains(to) else { return nil }
        self.from = from
        self.to = to
    }

    /// Parses two times such as `0900` or `09:00`. Returns nil for anything else.
    package init?(from: String, to: String) {
        guard let from = Self.minute(from), let to = Self.minute(to) else { return nil }
        self.init(from: from, to: to)
    }

    /// Parses `0900-2100`.
    package init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        self.init(from: String(ends[0]), to: String(ends[1]))
    }

    package var description: String { "\(Self.text(from))-\(Self.text(to))" }

    /// Whether the window includes every minute and therefore restricts nothing.
    package var isWholeDay: Bool { minutes == 1440 }

    private var minutes: Int { Self.between(from, to) + 1 }

    /// Whether the clock of `zone` is inside the window at `moment`.
    package func contains(_ moment: Timestamp, in zone: TimeZoneName) -> Bool {
        Self.between(from, LocalTime(moment, in: zone).minute) < minutes
    }

    /// The next moment inside the window: `moment` itself, or later. A beginning that is skipped in spring is shifted by the skipped time.
    package func opening(from moment: Timestamp, in zone: TimeZoneName) -> Timestamp {
        if contains(moment, in: zone) { return moment }
        return LocalTime(moment, in: zone).next(minute: from).moment(in: zone)
    }

    /// Parses a minute of the day such as `0900` or `09:00`.
    package static func minute(_ text: String) -> Int? {
        var digits = Array(text.utf8)
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 4, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let numbers = digits.map { Int($0 - UInt8(ascii: "0")) }
        let (hour, minute) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }

    /// Formats a minute of the day: `0900`.
    package static func text(_ minute: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(minute / 60) + two(minute % 60)
    }

    private static func between(_ from: Int, _ to: Int) -> Int { (to - from + 1440) % 1440 }
}
