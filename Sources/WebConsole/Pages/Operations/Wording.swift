import Foundation
import Model

/// Writes the values of answers in the language and the zone of a request. Missing members are shown as –, never as an error.
struct Wording: Sendable {
    let language: Language
    let now: Timestamp
    private let zone: TimeZone

    init(_ request: PageRequest) {
        language = request.language
        now = request.now
        zone = TimeZone(identifier: request.zone) ?? .gmt
    }

    /// Unknown, which is not zero.
    static let unknown = "–"

    func callAsFunction(_ text: Text) -> String { text(language) }

    // MARK: Values

    /// A number with separators.
    func count(_ value: Int64?) -> String {
        guard let value else { return Self.unknown }
        var digits = String(value.magnitude)
        var parts: [Substring] = []
        while digits.utf8.count > 3 {
            parts.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        parts.insert(digits[...], at: 0)
        return (value < 0 ? "−" : "") + parts.joined(separator: ",")
    }

    func count(_ json: JSON?) -> String { count(json?.int) }

    /// A share of one as per cent with at most two decimals: `99.9%`.
    func share(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return Self.unknown }
        return decimal(value * 100) + "%"
    }

    /// A number with at most two decimals, without zeros at the end.
    func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return Self.unknown }
        let hundredths = Int64((abs(value) * 100).rounded())
        var text = count(hundredths / 100)
        let rest = hundredths % 100
        if rest > 0 { text += rest % 10 == 0 ? ".\(rest / 10)" : (rest < 10 ? ".0\(rest)" : ".\(rest)") }
        return value < 0 && hundredths > 0 ? "−" + text : text
    }

    /// The text of a member; – without one.
    func text(_ json: JSON?) -> String {
        guard let text = json?.lenientString, !text.isEmpty else { return Self.unknown }
        return text
    }

    /// The texts of a list, with `, ` in between; – without one.
    func list(_ json: JSON?) -> String {
        let texts = (json?.array ?? []).compactMap(\.lenientString)
        return texts.isEmpty ? Self.unknown : texts.joined(separator: ", ")
    }

    /// A size: `1.2 KB`.
    func bytes(_ value: Int64?) -> String {
        guard let value else { return Self.unknown }
        switch value {
        case ..<1000: return language == .ko ? "\(count(value))바이트" : "\(count(value), one: "byte")"
        case ..<1_000_000: return "\(decimal(Double(value) / 1000)) KB"
        default: return "\(decimal(Double(value) / 1_000_000)) MB"
        }
    }

    // MARK: Times

    func moment(_ json: JSON?) -> Timestamp? { json?.string.flatMap { Timestamp(rfc3339: $0) } }

    /// A moment with its zone: `Mon 23 Nov 14:05 KST`; – without one.
    func time(_ json: JSON?) -> String { moment(json).map { time($0) } ?? Self.unknown }

    func time(_ moment: Timestamp) -> String { "\(local(moment, withSeconds: false)) \(zoneName(at: moment))" }

    /// The same with seconds and milliseconds, for rows that happen within a second.
    func exactTime(_ json: JSON?) -> String {
        guard let moment = moment(json) else { return Self.unknown }
        return "\(local(moment, withSeconds: true)) \(zoneName(at: moment))"
    }

    private func local(_ moment: Timestamp, withSeconds: Bool) -> String {
        let part = parts(of: moment)
        guard let month = part.month, let day = part.day, let weekday = part.weekday, let year = part.year,
            (1...12).contains(month), (1...7).contains(weekday)
        else { return Self.unknown }
        let isThisYear = parts(of: now).year == year
        var clock = "\(Self.two(part.hour)):\(Self.two(part.minute))"
        if withSeconds {
            let rest = String((moment.milliseconds % 1000 + 1000) % 1000)
            clock += ":\(Self.two(part.second))." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
        }
        switch language {
        case .ko:
            return (isThisYear ? "" : "\(year)년 ") + "\(month)월 \(day)일 (\(Self.korean[weekday - 1])) \(clock)"
        case .en:
            return "\(Self.weekdays[weekday - 1]) \(day) \(Self.months[month - 1])" + (isThisYear ? "" : " \(year)")
                + " \(clock)"
        }
    }

    private static let korean = ["일", "월", "화", "수", "목", "금", "토"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func two(_ value: Int?) -> String {
        let text = String(value ?? 0)
        return text.utf8.count < 2 ? "0" + text : text
    }

    private func parts(of moment: Timestamp) -> DateComponents {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        // A date far outside the calendar has no parts.
        let bounded = min(max(moment.milliseconds, 0), 253_402_300_799_999)
        let date = Date(timeIntervalSince1970: Double(bounded) / 1000)
        return calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute, .second], from: date)
    }

    private func zoneName(at moment: Timestamp) -> String {
        let bounded = min(max(moment.milliseconds, 0), 253_402_300_799_999)
        let date = Date(timeIntervalSince1970: Double(bounded) / 1000)
        if zone.identifier == "Asia/Seoul" { return "KST" }
        if zone.secondsFromGMT(for: date) == 0, zone.identifier == "GMT" || zone.identifier == "UTC" { return "UTC" }
        return zone.abbreviation(for: date) ?? zone.identifier
    }

    /// A local time of a form, such as `2026-12-01T09:00`, in the zone of the request. Nil: not a time.
    func instant(_ local: String) -> Timestamp? {
        let digits = local.split(whereSeparator: { "-T:".contains($0) }).map { Int($0) }
        guard (5...6).contains(digits.count), local.utf8.count <= 19, let year = digits[0], let month = digits[1],
            let day = digits[2], let hour = digits[3], let minute = digits[4],
            (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour),
            (0...59).contains(minute)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = DateComponents(year: year, month: month, day: day, hour: hour, minute: minute)
        guard let date = calendar.date(from: parts), calendar.component(.day, from: date) == day else { return nil }
        return Timestamp(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }

    /// A length of time in its largest unit: `3 min`, `2일`.
    func duration(_ duration: Duration) -> String {
        let seconds = duration.milliseconds / 1000
        let magnitude = seconds.magnitude
        let (value, unit): (UInt64, Text) =
            switch magnitude {
            case ..<60: (magnitude, Text(ko: "초", en: " s"))
            case ..<3600: (magnitude / 60, Text(ko: "분", en: " min"))
            case ..<172_800: (magnitude / 3600, Text(ko: "시간", en: " h"))
            default: (magnitude / 86_400, Text(ko: "일", en: " days"))
            }
        return "\(count(Int64(clamping: value)))\(unit(language))"
    }

    /// How long ago a moment was: `3 min ago`.
    func ago(_ moment: Timestamp) -> String {
        let length = duration(max(.zero, now - moment))
        return language == .ko ? "\(length) 전" : "\(length) ago"
    }

    /// The zone's name for a heading: `Time (KST)`.
    var zoneName: String { zoneName(at: now) }
}
