package import Model

/// Moments on the clock of the page's zone. The names of days and months are here, so that no data of a locale is needed.
extension ConsoleFormat {
    /// The parts of a moment on the clock of the zone.
    struct Clock: Sendable, Hashable {
        var year: Int
        var month: Int
        var day: Int
        /// 0 is Sunday.
        var weekday: Int
        /// `14:05:07`.
        var time: String
    }

    /// A moment of the years 1970 to 9999; another one is the nearest of them.
    private static func local(_ moment: Timestamp, in zone: TimeZoneName) -> LocalTime {
        LocalTime(Timestamp(milliseconds: min(max(moment.milliseconds, 0), lastMillisecond)), in: zone)
    }

    /// 9999-12-31T00:00:00Z: a day before the last, so that no zone reaches a year of five digits.
    private static let lastMillisecond: Int64 = 253_402_214_400_000

    /// The offset of a zone costs a search in the table of zones, so that each text below asks for one clock.
    static func clock(_ moment: Timestamp, in zone: TimeZoneName) -> Clock {
        let local = Self.local(moment, in: zone)
        // `2026-11-23T14:05:07`; a year has four digits or more.
        let halves = local.description.split(separator: "T", maxSplits: 1)
        let date = (halves.first ?? "").split(separator: "-").map { Int($0) ?? 0 }
        let days = local.seconds >= 0 ? local.seconds / 86_400 : (local.seconds - 86_399) / 86_400
        return Clock(
            year: date.first ?? 0,
            month: date.dropFirst().first ?? 1,
            day: date.dropFirst(2).first ?? 1,
            // 1970-01-01 was a Thursday.
            weekday: Int(((days + 4) % 7 + 7) % 7),
            time: halves.count > 1 ? String(halves[1]) : ""
        )
    }

    func clock(_ moment: Timestamp) -> Clock { Self.clock(moment, in: zone) }

    /// `Mon 23 Nov`, `11월 23일 (월)`; with the year if it is not that of `now`.
    package func date(_ moment: Timestamp) -> String { date(clock(moment)) }

    private func date(_ parts: Clock) -> String {
        let hasYear = parts.year != year
        switch language {
        case .ko:
            let year = hasYear ? "\(parts.year)년 " : ""
            return "\(year)\(parts.month)월 \(parts.day)일 (\(Self.weekday(parts.weekday).ko))"
        case .en:
            let year = hasYear ? " \(parts.year)" : ""
            return "\(Self.weekday(parts.weekday).en) \(parts.day) \(Self.month(parts.month))\(year)"
        }
    }

    /// `23 Nov`, `11월 23일`: for the axes of charts.
    package func shortDate(_ moment: Timestamp) -> String {
        let parts = clock(moment)
        return language == .ko ? "\(parts.month)월 \(parts.day)일" : "\(parts.day) \(Self.month(parts.month))"
    }

    /// `14:05`.
    package func time(_ moment: Timestamp) -> String { Self.minutes(clock(moment)) }

    private static func minutes(_ parts: Clock) -> String { String(parts.time.prefix(5)) }

    /// `14:05:07`.
    package func timeOfSeconds(_ moment: Timestamp) -> String { clock(moment).time }

    /// `14:05:07.204`.
    package func timeOfMilliseconds(_ moment: Timestamp) -> String {
        let rest = String((moment.milliseconds % 1000 + 1000) % 1000)
        return clock(moment).time + "." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    /// `Mon 23 Nov 14:05`, `11월 23일 (월) 14:05`. Pages name the zone once, in the top bar.
    package func dateTime(_ moment: Timestamp) -> String {
        let parts = clock(moment)
        return "\(date(parts)) \(Self.minutes(parts))"
    }

    /// The same with the zone, for texts that are read elsewhere.
    package func zonedDateTime(_ moment: Timestamp) -> String { "\(dateTime(moment)) \(zoneName)" }

    /// `–` without a moment.
    package func dateTime(_ moment: Timestamp?) -> String { moment.map { dateTime($0) } ?? Self.unknown }

    /// A moment of an answer of the API.
    package func dateTime(rfc3339 text: String?) -> String { dateTime(text.flatMap { Timestamp(rfc3339: $0) }) }

    /// `Mon`, `월`: a day of the week; 0 is Sunday.
    package func weekdayName(_ index: Int) -> String { Self.weekday(index)(language) }

    /// `2026-11-23T14:05`: the value of a field for a local time.
    package func fieldValue(_ moment: Timestamp) -> String {
        String(Self.local(moment, in: zone).description.prefix(16))
    }

    /// A short name of the zone: its usual letters, or its city.
    package var zoneName: String { Self.name(of: zone.text) }

    static func name(of zone: String) -> String {
        switch zone {
        case "Asia/Seoul": "KST"
        case "Asia/Tokyo": "JST"
        case "UTC", "Etc/UTC": "UTC"
        default:
            zone.split(separator: "/").last.map { $0.split(separator: "_").joined(separator: " ") } ?? zone
        }
    }

    private static let weekdays: [Text] = [
        Text(ko: "일", en: "Sun"), Text(ko: "월", en: "Mon"), Text(ko: "화", en: "Tue"), Text(ko: "수", en: "Wed"),
        Text(ko: "목", en: "Thu"), Text(ko: "금", en: "Fri"), Text(ko: "토", en: "Sat"),
    ]

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func weekday(_ index: Int) -> Text { weekdays[(index % 7 + 7) % 7] }

    private static func month(_ month: Int) -> String { months[((month - 1) % 12 + 12) % 12] }
}
