import Foundation
package import Model

/// `rv.st`: `yyyy/m/d h:m:s` with optional leading zeros, a local time in the app's zone (docs/contracts/rationalowl.md#8.3).
package enum ReservationTime {
    /// Korea has had one offset, +9 h, since 1988: the default zone needs no table.
    private static let koreanOffset: Int64 = 9 * 3600

    /// The time; nil if the text has another format or the zone is unknown.
    ///
    /// A time that a clock change skips or repeats is read with one of its two offsets.
    package static func parse(_ text: String, zone: String) -> Timestamp? {
        guard let local = localSeconds(text), let offset = offset(of: zone, atLocal: local) else { return nil }
        return Timestamp(seconds: local - offset)
    }

    /// Whether `name` is a supported time zone.
    package static func isZone(_ name: String) -> Bool {
        name == "Asia/Seoul" || TimeZone(identifier: name) != nil
    }

    /// Seconds since 1970 as if the text were UTC.
    private static func localSeconds(_ text: String) -> Int64? {
        let halves = text.split(separator: " ", omittingEmptySubsequences: true)
        guard halves.count == 2,
            let date = numbers(halves[0], separator: "/"), let time = numbers(halves[1], separator: ":")
        else { return nil }
        let (year, month, day) = (date[0], date[1], date[2])
        guard (2000...2999).contains(year), (1...12).contains(month), (1...daysIn(month, of: year)).contains(day),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...59).contains(time[2])
        else { return nil }
        return days(year, month, day) * 86_400 + Int64(time[0] * 3600 + time[1] * 60 + time[2])
    }

    private static func numbers(_ text: Substring, separator: Character) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let numbers = parts.compactMap { part in
            part.utf8.count <= 4 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        return numbers.count == 3 ? numbers : nil
    }

    private static func daysIn(_ month: Int, of year: Int) -> Int {
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31  // the other seven months
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Int64(era * 146_097 + dayOfEra - 719_468)
    }

    private static func offset(of zone: String, atLocal local: Int64) -> Int64? {
        if zone == "Asia/Seoul" { return koreanOffset }
        guard let zone = TimeZone(identifier: zone) else { return nil }
        func offset(at seconds: Int64) -> Int64 {
            Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
        }
        // The offset depends on UTC, which is the unknown: it is computed from a guess, and then from the result.
        return offset(at: local - offset(at: local))
    }
}
