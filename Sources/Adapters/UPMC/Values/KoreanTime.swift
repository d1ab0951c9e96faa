import Model

/// A time in this vendor's format: Korean time, nine hours ahead of UTC, without summer time.
///
/// Assumed: the vendor's server used Korean time; no document names a zone (docs/contracts/upmc.md#1.10.1).
struct KoreanTime: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int

    private static let offset: Int64 = 9 * 3600

    init(_ time: Timestamp) {
        let seconds = min(max(time.milliseconds / 1000, 0), 253_370_000_000) + Self.offset
        let days = seconds / 86_400
        let rest = Int(seconds % 86_400)
        // Days since 0000-03-01, so that a leap day ends a year (Howard Hinnant, "chrono-compatible low-level date algorithms").
        let shifted = days + 719_468
        let era = shifted / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * ofYear + 2) / 153
        day = Int(ofYear - (153 * monthIndex + 2) / 5 + 1)
        month = Int(monthIndex < 10 ? monthIndex + 3 : monthIndex - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// Parses `YYYYMMDD HHMMSS`, with or without the space; the seconds may be missing. Nil for any other text and for invalid dates such as 31 April.
    init?(reservation text: String) {
        let digits = Array(text.utf8.filter { $0 != 0x20 })
        guard digits.count == 14 || digits.count == 12, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            return nil
        }
        func number(_ range: Range<Int>) -> Int {
            digits[range].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        year = number(0..<4)
        month = number(4..<6)
        day = number(6..<8)
        hour = number(8..<10)
        minute = number(10..<12)
        second = digits.count == 14 ? number(12..<14) : 0
        guard year >= 1970, hour < 24, minute < 60, second < 60, KoreanTime(timestamp) == self else { return nil }
    }

    var timestamp: Timestamp {
        let shifted = Int64(month <= 2 ? year - 1 : year)
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let ofYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        let days = era * 146_097 + ofEra - 719_468
        return Timestamp(seconds: days * 86_400 + Int64(hour * 3600 + minute * 60 + second) - Self.offset)
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// `YYYYMMDDHH`, the format of `mps.senddate`.
    var sendDate: String {
        Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(day, 2) + Self.padded(hour, 2)
    }

    /// `YYYYMMDDHHMMSS`, the format of times in a history.
    var whole: String { sendDate + Self.padded(minute, 2) + Self.padded(second, 2) }

    /// `MMddHHmmss`, the format of a page's name.
    var pageName: String { String(whole.dropFirst(4)) }
}
