/// The date and time on a wall clock, in an unspecified zone: 2026-12-01T09:00:00.
///
/// Unit: seconds since 1970-01-01T00:00:00 on that clock.
package struct LocalTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var seconds: Int64

    package init(seconds: Int64) { self.seconds = seconds }

    /// The time on the clock of `zone` at `moment`.
    package init(_ moment: Timestamp, in zone: TimeZoneName) {
        seconds = moment.wholeSeconds + zone.offset(at: moment)
    }

    /// Parses `2026-12-01T09:00` with or without `:SS`. Returns nil for anything else, and for a day that does not exist.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16 || bytes.count == 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
            bytes.count == 16 || bytes[16] == UInt8(ascii: ":"),
            let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = bytes.count == 16 ? 0 : Self.number(bytes[17..<19]),
            year >= 1970, (1...12).contains(month), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(year, month, day)
        guard Self.date(days) == (year, month, day) else { return nil }
        seconds = days * 86_400 + hour * 3600 + minute * 60 + second
    }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.seconds < right.seconds }

    /// `2026-12-01T09:00:00`.
    package var description: String {
        let (year, month, day) = Self.date(Self.floor(seconds, 86_400))
        let second = seconds - Self.floor(seconds, 86_400) * 86_400
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    }

    /// The minute of the day, 0...1439.
    package var minute: Int { Int((seconds - Self.floor(seconds, 86_400) * 86_400) / 60) }

    /// The next time after this one at which the clock shows `minute` of a day.
    func next(minute: Int) -> LocalTime {
        let start = Self.floor(seconds, 86_400) * 86_400 + Int64(minute) * 60
        return LocalTime(seconds: start > seconds ? start : start + 86_400)
    }

    /// The moment at which the clock of `zone` shows this time, as in PostgreSQL's `AT TIME ZONE`: a time that is skipped in spring is shifted by the
    /// skipped time, and of a time that occurs twice in autumn the second counts.
    package func moment(in zone: TimeZoneName) -> Timestamp {
        // One day to each side is beyond any change of the clock that matters here.
        let before = seconds - zone.offset(at: Timestamp(seconds: seconds - 86_400))
        let after = seconds - zone.offset(at: Timestamp(seconds: seconds + 86_400))
        guard before != after else { return Timestamp(seconds: before) }
        let isAfter = LocalTime(Timestamp(seconds: after), in: zone) == self
        return Timestamp(seconds: isAfter ? after : before)
    }

    /// When the first zone reaches this time. UTC+14 (Pacific/Kiritimati) is the largest offset.
    package var earliest: Timestamp { Timestamp(seconds: seconds - 14 * 3600) }

    /// When the last zone reaches this time. UTC−12 (Etc/GMT+12) is the smallest offset.
    package var latest: Timestamp { Timestamp(seconds: seconds + 12 * 3600) }

    // MARK: The calendar

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int64 {
        value >= 0 ? value / unit : (value - unit + 1) / unit
    }

    /// Days since 1970. Years begin in March, so that the leap day is the last day of a year (Hinnant, "chrono-Compatible Low-Level Date
    /// Algorithms").
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = floor(y, 400)
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(_ days: Int64) -> (Int64, Int64, Int64) {
        let z = days + 719_468
        let era = floor(z, 146_097)
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Timestamp {
    /// Seconds, rounded down also before 1970.
    fileprivate var wholeSeconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }
}
