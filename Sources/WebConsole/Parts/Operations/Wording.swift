package import Model

/// Writes the values of answers in the language and the zone of a request. Missing members are shown as –, never as an error.
package struct Wording: Sendable {
    private let format: ConsoleFormat

    package init(_ request: PageRequest) { format = ConsoleFormat(request) }

    package var language: Language { format.language }
    package var now: Timestamp { format.now }

    /// Unknown, which is not zero.
    package static let unknown = ConsoleFormat.unknown

    package func callAsFunction(_ text: Text) -> String { text(language) }

    // MARK: Values

    /// A number with separators.
    package func count(_ value: Int64?) -> String { format.count(value) }

    package func count(_ json: JSON?) -> String { count(json?.int) }

    /// A share of one as per cent with at most two decimals: `99.9%`.
    package func share(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return Self.unknown }
        return decimal(value * 100) + "%"
    }

    /// A number with at most two decimals, without zeros at the end.
    package func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return Self.unknown }
        let hundredths = Int64((abs(value) * 100).rounded())
        var text = count(hundredths / 100)
        let rest = hundredths % 100
        if rest > 0 { text += rest % 10 == 0 ? ".\(rest / 10)" : (rest < 10 ? ".0\(rest)" : ".\(rest)") }
        return value < 0 && hundredths > 0 ? "−" + text : text
    }

    /// The text of a member; – without one.
    package func text(_ json: JSON?) -> String {
        guard let text = json?.lenientString, !text.isEmpty else { return Self.unknown }
        return text
    }

    /// The texts of a list, with `, ` in between; – without one.
    package func list(_ json: JSON?) -> String {
        let texts = (json?.array ?? []).compactMap(\.lenientString)
        return texts.isEmpty ? Self.unknown : texts.joined(separator: ", ")
    }

    /// A size: `1.2 KB`.
    package func bytes(_ value: Int64?) -> String {
        guard let value else { return Self.unknown }
        switch value {
        case ..<1000: return language == .ko ? "\(count(value))바이트" : "\(count(value), one: "byte")"
        case ..<1_000_000: return "\(decimal(Double(value) / 1000)) KB"
        default: return "\(decimal(Double(value) / 1_000_000)) MB"
        }
    }

    // MARK: Times

    package func moment(_ json: JSON?) -> Timestamp? { json?.string.flatMap { Timestamp(rfc3339: $0) } }

    /// A moment: `Mon 23 Nov 14:05`; – without one. Pages name the zone in the top bar.
    package func time(_ json: JSON?) -> String { format.dateTime(moment(json)) }

    package func time(_ moment: Timestamp) -> String { format.dateTime(moment) }

    /// The same with seconds and milliseconds, for rows that happen within a second.
    package func exactTime(_ json: JSON?) -> String {
        moment(json).map { "\(format.date($0)) \(format.timeOfMilliseconds($0))" } ?? Self.unknown
    }

    /// A local time of a form, such as `2026-12-01T09:00`, in the zone of the request. Nil: not a time.
    package func instant(_ local: String) -> Timestamp? { LocalTime(local)?.moment(in: format.zone) }

    /// A length of time in its largest unit: `3 min`, `2일`.
    package func duration(_ duration: Duration) -> String {
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
    package func ago(_ moment: Timestamp) -> String {
        let length = duration(max(.zero, now - moment))
        return language == .ko ? "\(length) 전" : "\(length) ago"
    }

    /// The zone's name for the label of a field: `Expires (KST)`.
    package var zoneName: String { format.zoneName }
}
