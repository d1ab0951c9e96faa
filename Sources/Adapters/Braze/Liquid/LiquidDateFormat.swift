import Model

/// The format of a `date` filter: the supported directives of `strftime`, in English and UTC.
struct LiquidDateFormat: Hashable {
    private enum Part: Hashable {
        case literal(String)
        /// `isPlain`: without the leading zero or space (`%-d`).
        case directive(Character, isPlain: Bool)
    }

    private static let directives: Set<Character> = [
        "Y", "y", "m", "d", "e", "B", "b", "h", "A", "a", "j", "H", "I", "l", "M", "S", "p", "P", "Z", "z", "s", "F",
        "T", "D", "R",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    /// Until the end of the year 9999, because years have four digits here.
    private static let range: ClosedRange<Int64> = 0...253_402_300_799

    private let parts: [Part]

    /// Nil for a format that is too long or contains an unknown directive.
    init?(_ text: String) {
        guard text.utf8.count <= LiquidLimits.formatBytes else { return nil }
        var parts: [Part] = []
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                parts.append(.literal(String(character)))
                continue
            }
            let isPlain = rest.first == "-"
            if isPlain { rest.removeFirst() }
            guard let directive = rest.popFirst() else { return nil }
            if directive == "%", !isPlain {
                parts.append(.literal("%"))
            } else {
                guard Self.directives.contains(directive) else { return nil }
                parts.append(.directive(directive, isPlain: isPlain))
            }
        }
        self.parts = parts
    }

    /// Formats `value` as a date; a value that is not a date is returned unchanged. Texts are ISO 8601, numbers are seconds since 1970.
    func applied(to value: JSON, now: Timestamp) -> JSON {
        guard let seconds = Self.seconds(value, now), Self.range.contains(seconds) else { return value }
        return .string(text(seconds))
    }

    private static func seconds(_ value: JSON, _ now: Timestamp) -> Int64? {
        switch value {
        case .number(let text): return Int64(text) ?? value.double.flatMap { Int64(exactly: $0.rounded(.down)) }
        case .string("now"), .string("today"): return now.seconds
        case .string(let text): return BrazeTime.date(text)?.seconds ?? Int64(text)
        case .null, .bool, .array, .object: return nil
        }
    }

    private func text(_ seconds: Int64) -> String {
        // `2026-12-01T09:00:00`; the fields are taken by position.
        let clock = LocalTime(seconds: seconds).description
        func field(_ place: Int, _ length: Int) -> Int { Int(clock.dropFirst(place).prefix(length)) ?? 0 }
        let (year, month, day) = (field(0, 4), field(5, 2), field(8, 2))
        let (hour, minute, second) = (field(11, 2), field(14, 2), field(17, 2))
        let weekday = Self.days[Int((seconds / 86_400 + 4) % 7)]
        let monthName = Self.months[(month + 11) % 12]
        var text = ""
        for part in parts {
            guard case .directive(let directive, let isPlain) = part else {
                if case .literal(let literal) = part { text += literal }
                continue
            }
            func padded(_ number: Int, _ width: Int = 2, with pad: String = "0") -> String {
                let digits = "\(number)"
                return isPlain ? digits : String(repeating: pad, count: max(0, width - digits.count)) + digits
            }
            switch directive {
            case "Y": text += "\(year)"
            case "y": text += padded(year % 100)
            case "m": text += padded(month)
            case "d": text += padded(day)
            case "e": text += padded(day, with: " ")
            case "B": text += monthName
            case "b", "h": text += monthName.prefix(3)
            case "A": text += weekday
            case "a": text += weekday.prefix(3)
            case "j": text += padded(Self.dayOfYear(seconds, year), 3)
            case "H": text += padded(hour)
            case "I": text += padded((hour + 11) % 12 + 1)
            case "l": text += padded((hour + 11) % 12 + 1, with: " ")
            case "M": text += padded(minute)
            case "S": text += padded(second)
            case "p": text += hour < 12 ? "AM" : "PM"
            case "P": text += hour < 12 ? "am" : "pm"
            case "Z": text += "UTC"
            case "z": text += "+0000"
            case "s": text += "\(seconds)"
            case "F": text += clock.prefix(10)
            case "T": text += clock.dropFirst(11)
            case "D": text += "\(padded(month))/\(padded(day))/\(padded(year % 100))"
            case "R": text += clock.dropFirst(11).prefix(5)
            // `init` refuses all other directives.
            default: continue
            }
        }
        return text
    }

    private static func dayOfYear(_ seconds: Int64, _ year: Int) -> Int {
        let digits = String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
        let first = LocalTime("\(digits)-01-01T00:00")?.seconds ?? seconds
        return Int((seconds - first) / 86_400) + 1
    }
}
