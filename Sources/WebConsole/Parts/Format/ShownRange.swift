package import Model

/// The range that a page shows, from the parameters `range`, `from` and `to` of its address. Relative ranges stay relative; an invalid one is the default.
package struct ShownRange: Sendable, Hashable {
    /// The choices of the top bar.
    package enum Preset: String, Sendable, Hashable, CaseIterable {
        case day = "24h"
        case week = "7d"
        case month = "30d"
        case quarter = "90d"

        package var words: Text {
            switch self {
            case .day: Text(ko: "최근 24시간", en: "Last 24 hours")
            case .week: Text(ko: "최근 7일", en: "Last 7 days")
            case .month: Text(ko: "최근 30일", en: "Last 30 days")
            case .quarter: Text(ko: "최근 90일", en: "Last 90 days")
            }
        }

        /// In a sentence.
        package var inSentence: Text {
            switch self {
            case .day: Text(ko: "최근 24시간 동안", en: "in the last 24 hours")
            case .week: Text(ko: "최근 7일간", en: "in the last 7 days")
            case .month: Text(ko: "최근 30일간", en: "in the last 30 days")
            case .quarter: Text(ko: "최근 90일간", en: "in the last 90 days")
            }
        }

        package var before: Text {
            switch self {
            case .day: Text(ko: "이전 24시간", en: "Previous 24 hours")
            case .week: Text(ko: "이전 7일", en: "Previous 7 days")
            case .month: Text(ko: "이전 30일", en: "Previous 30 days")
            case .quarter: Text(ko: "이전 90일", en: "Previous 90 days")
            }
        }

        fileprivate var days: Int64 {
            switch self {
            case .day: 1
            case .week: 7
            case .month: 30
            case .quarter: 90
            }
        }
    }

    static let standard = Preset.week
    /// The parameters that the top bar sets and that links keep.
    package static let parameters = ["app", "range", "from", "to", "zone"]
    /// The longest range of the analytics. Unit: seconds.
    private static let longest: Int64 = 400 * 86_400

    /// Nil: the range has fixed ends.
    package let preset: Preset?
    package let from: Timestamp
    package let to: Timestamp
    /// Whether the address names both ends, so that it shows the same range at any time.
    let isFixed: Bool
    private let format: ConsoleFormat

    package init(_ request: PageRequest) {
        let format = ConsoleFormat(request)
        self.format = format
        let zone = format.zone
        let named = request.value("range").flatMap(Preset.init(rawValue:))
        let start = request.value("from").flatMap { Self.moment($0, zone, isEnd: false) }
        let end = request.value("to").flatMap { Self.moment($0, zone, isEnd: true) }
        if named == nil, let start, start < end ?? request.now {
            preset = nil
            isFixed = end != nil
            let last = end ?? request.now
            from = max(start, last + .seconds(-Self.longest))
            to = last
            return
        }
        let choice = named ?? Self.standard
        preset = choice
        isFixed = false
        switch choice {
        case .day:
            to = request.now
            from = Timestamp(seconds: request.now.seconds / 3600 * 3600 - 86_400 + 3600)
        case .week, .month, .quarter:
            from = Self.midnight(1 - choice.days, after: request.now, zone)
            to = Self.midnight(1, after: request.now, zone)
        }
    }

    /// The parameters of the questions of the analytics.
    package var query: [PageRequest.Parameter] {
        [
            PageRequest.Parameter("from", from.rfc3339), PageRequest.Parameter("to", to.rfc3339),
            PageRequest.Parameter("zone", format.zone.text),
        ]
    }

    /// The parameters with which the address shows this range at any time; empty: it does already.
    package var permanent: [PageRequest.Parameter] { isFixed ? [] : query + [PageRequest.Parameter("range", "")] }

    /// `hour` for up to two days, `day` for up to 120, then `week`.
    package var interval: String {
        let seconds = to.seconds - from.seconds
        return seconds <= 2 * 86_400 ? "hour" : seconds <= 120 * 86_400 ? "day" : "week"
    }

    /// Whether the range contains the present, so that its last part is not over.
    package var isOpen: Bool { to >= format.now }

    /// `Last 7 days`, or the ends.
    package func words(_ language: Language) -> String { preset.map { $0.words(language) } ?? ends }

    /// `in the last 7 days`, or `from … to …`.
    package func inSentence(_ language: Language) -> String {
        if let preset { return preset.inSentence(language) }
        return language == .ko ? "\(ends) 동안" : "from \(format.date(from)) to \(format.date(lastMoment))"
    }

    /// `Previous 7 days`.
    package func before(_ language: Language) -> String {
        preset.map { $0.before(language) } ?? Text(ko: "이전 기간", en: "Previous period")(language)
    }

    private var lastMoment: Timestamp { to + .milliseconds(-1) }

    private var ends: String { "\(format.date(from)) – \(format.date(lastMoment))" }

    /// A moment in RFC 3339 format, a local time, or a day: its beginning, or its end.
    private static func moment(_ text: String, _ zone: TimeZoneName, isEnd: Bool) -> Timestamp? {
        if let moment = Timestamp(rfc3339: text) { return moment }
        if let local = LocalTime(text) { return local.moment(in: zone) }
        guard let day = LocalTime(text + "T00:00") else { return nil }
        return LocalTime(seconds: day.seconds + (isEnd ? 86_400 : 0)).moment(in: zone)
    }

    /// The beginning of the local day that is `days` after that of `now`.
    private static func midnight(_ days: Int64, after now: Timestamp, _ zone: TimeZoneName) -> Timestamp {
        let local = LocalTime(now, in: zone).seconds
        let day = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        return LocalTime(seconds: (day + days) * 86_400).moment(in: zone)
    }
}
