package import Model

/// How numbers, rates, moments and sizes are written: by the language of the page and in its time zone.
///
/// Unknown is `–`, zero is `0`, and an estimate begins with `≈`.
package struct ConsoleFormat: Sendable, Hashable {
    package static let unknown = "–"

    package let language: Language
    package let zone: TimeZoneName
    /// Dates of another year than this moment's have a year.
    package let now: Timestamp
    /// The year of `now` on the clock of the zone.
    package let year: Int

    package init(_ request: PageRequest) {
        self.init(request.language, zone: request.zone, now: request.now)
    }

    /// An unknown zone is UTC.
    package init(_ language: Language, zone: String, now: Timestamp) {
        let zone = TimeZoneName(zone) ?? .utc
        self.language = language
        self.zone = zone
        self.now = now
        year = Self.clock(now, in: zone).year
    }

    // MARK: Numbers

    /// `1,204,331`.
    package func count(_ value: some BinaryInteger) -> String {
        let digits = String(value.magnitude)
        var text = value < 0 ? "−" : ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// `–` without a value.
    package func count(_ value: Int64?) -> String { value.map { count($0) } ?? Self.unknown }

    /// `≈ 1,204,331`.
    package func estimate(_ value: some BinaryInteger) -> String { "≈ " + count(value) }

    /// `1.2M` or `120만`.
    package func compact(_ value: Double) -> String {
        guard value.isFinite else { return Self.unknown }
        let size = abs(value)
        let sign = value < 0 ? "−" : ""
        let units: [(Double, String)] =
            language == .ko
            ? [(1e12, "조"), (1e8, "억"), (1e4, "만")] : [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")]
        for (unit, word) in units where size >= unit { return sign + short(size / unit) + word }
        return sign + short(size)
    }

    /// At most one digit after the point, without a final 0. Ten thousand and more have separators.
    private func short(_ value: Double) -> String {
        guard value < 1e15 else { return "999,999,999,999,999" }
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 || tenths >= 1000 ? count((tenths + 5) / 10) : "\(tenths / 10).\(tenths % 10)"
    }

    /// `97.0%`. Something that is not everything is never `100.0%`, and something is never `0.0%`.
    package func rate(_ value: Double?) -> String {
        guard let value, value.isFinite else { return Self.unknown }
        var tenths = Int64((min(max(value, -1e6), 1e6) * 1000).rounded())
        if tenths == 1000, value < 1 { tenths = 999 }
        if tenths == 0, value > 0 { return "<0.1%" }
        return (tenths < 0 ? "−" : "") + "\(count(tenths.magnitude / 10)).\(tenths.magnitude % 10)%"
    }

    /// `97.0%` of a part and a whole.
    package func rate(_ part: Int64, of whole: Int64) -> String {
        whole > 0 ? rate(Double(part) / Double(whole)) : Self.unknown
    }

    /// `+4.1%`; nil without a value before.
    package func change(_ value: Int64, from before: Int64) -> String? {
        guard before > 0 else { return nil }
        let change = Double(value) / Double(before) - 1
        return (change >= 0 ? "+" : "") + rate(change)
    }

    /// `239 bytes`, `4.0 KiB`.
    package func bytes(_ value: Int64) -> String {
        let units = [(Int64(1) << 30, "GiB"), (Int64(1) << 20, "MiB"), (Int64(1) << 10, "KiB")]
        for (unit, word) in units where value >= 10 * unit || (value >= unit && value % unit == 0) {
            let tenths = (value / unit) * 10 + (value % unit) * 10 / unit
            return "\(count(tenths / 10)).\(tenths % 10) \(word)"
        }
        return language == .ko ? "\(count(value))바이트" : "\(count(value), one: "byte")"
    }

    // MARK: Durations

    /// `162 ms`, `0.4 s`, `3 min`, `5 h`, `9 days`: the largest unit that leaves a number of at least 1, with a tenth of seconds.
    package func duration(milliseconds: Int64) -> String {
        let size = max(0, milliseconds)
        if size < 100 { return "\(size) ms" }
        if size < 60_000 {
            let tenths = (size + 50) / 100
            return "\(tenths / 10).\(tenths % 10)" + (language == .ko ? "초" : " s")
        }
        let seconds = size / 1000
        if seconds < 3600 { return "\(seconds / 60)" + (language == .ko ? "분" : " min") }
        if seconds < 86_400 { return "\(seconds / 3600)" + (language == .ko ? "시간" : " h") }
        return days(seconds / 86_400)
    }

    /// `9 days`.
    package func days(_ value: Int64) -> String {
        language == .ko ? "\(count(value))일" : "\(count(value), one: "day")"
    }

    /// `12 seconds ago`, `12초 전`.
    package func age(_ moment: Timestamp) -> String {
        let seconds = max(0, (now - moment).milliseconds / 1000)
        let (value, ko, en): (Int64, String, String) =
            switch seconds {
            case ..<60: (seconds, "초", "second")
            case ..<3600: (seconds / 60, "분", "minute")
            case ..<86_400: (seconds / 3600, "시간", "hour")
            default: (seconds / 86_400, "일", "day")
            }
        return language == .ko ? "\(count(value))\(ko) 전" : "\(count(value), one: en) ago"
    }
}
