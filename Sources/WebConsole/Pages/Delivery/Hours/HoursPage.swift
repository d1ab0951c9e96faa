import Model
import PageParts

/// The hours of the week in which notifications were accepted, and how many of those were received and read, on the clocks of the devices.
struct HoursPage: ReachPage {
    let path = "hours"
    let title = HoursText.title
    let menu: MenuEntry? = MenuEntry(.delivery, HoursText.title, .hours)

    func counted(_ body: JSON, _ request: PageRequest) -> PageContent {
        let words = Words(request)
        let kind = request.value("figure").flatMap { ReachFigures.Kind(rawValue: $0) } ?? .reached
        let week = WeekFigures(body, kind)
        var page = PageContent(title: words(title), sentence: sentence(week, kind, request))
        page.filters = [
            .choice(
                label: words(HoursText.figure),
                parameter: "figure",
                options: ReachFigures.Kind.allCases.map { Filter.Option(value: $0.rawValue, label: words($0.name)) },
                selected: kind.rawValue
            )
        ]
        guard week.busiest != nil else {
            let empty = EmptyState(title: words(HoursText.empty), step: words(HoursText.emptyStep))
            page.blocks = [Block(body: [.empty(empty)])]
            return page
        }
        let note = ShownRange(request).words(words.language)
        page.blocks = [
            chart(HoursText.byHour, WeekFigures.hours.map { (Self.hour($0), week.ofHour($0)) }, kind, words),
            chart(HoursText.byDay, WeekFigures.days.map { (Self.day($0, words), week.ofDay($0)) }, kind, words),
            Block(
                title: words(HoursText.table),
                note: "\(words(kind.name)) · \(note)",
                body: [.table(table(week, words))],
                foot: "\(words(HoursText.marked)) \(words(HoursText.clock)) \(ReachFigures.foot(body, words))"
            ),
        ]
        return page
    }

    private func sentence(_ week: WeekFigures, _ kind: ReachFigures.Kind, _ request: PageRequest) -> Sentence {
        let words = Words(request)
        let range = ShownRange(request).inSentence(words.language)
        guard let busiest = week.busiest else {
            return Sentence(mark: .info, text: words(HoursText.none(range, words(kind.inSentence))))
        }
        let text = HoursText.busiest(
            range,
            "\(Self.day(busiest.day, words)) \(Self.hour(busiest.hour))–\(Self.hour(busiest.hour + 1))",
            words.count(week[busiest.day, busiest.hour]),
            words.count(week.total),
            words(kind.inSentence)
        )
        return Sentence(mark: .info, text: words(text))
    }

    private func chart(
        _ title: Text,
        _ counts: [(label: String, count: Int64)],
        _ kind: ReachFigures.Kind,
        _ words: Words
    ) -> Block {
        let bars = counts.map { label, count in
            BarChart.Bar(label: label, value: Double(count), text: words.count(count), style: kind.style)
        }
        return Block(width: 6, title: words(title), body: [.bars(BarChart(caption: words(kind.name), bars: bars))])
    }

    /// A row for each hour and a column for each day: on a phone each hour is a card with seven labelled numbers.
    private func table(_ week: WeekFigures, _ words: Words) -> Table {
        let rows = WeekFigures.hours.map { hour -> Table.Row in
            let cells = WeekFigures.days.map { day -> Table.Cell in
                let count = words.count(week[day, hour])
                return week.isBusy(day, hour) ? .tag(.info, count) : .text(count)
            }
            return Table.Row(cells: [Table.Cell.strong(Self.hour(hour))] + cells, id: "hour-\(hour)")
        }
        let days = WeekFigures.days.map { Table.Column(label: Self.day($0, words), isNumber: true) }
        return Table(
            caption: words(HoursText.table),
            columns: [Table.Column(label: words(HoursText.hour))] + days,
            rows: rows
        )
    }

    /// `08:00`.
    private static func hour(_ hour: Int) -> String { hour < 10 ? "0\(hour):00" : "\(hour):00" }

    /// The name of a day; 0 is Monday.
    private static func day(_ day: Int, _ words: Words) -> String { words.format.weekdayName(day + 1) }
}

/// One count of each hour of a week, from Monday.
struct WeekFigures: Sendable, Hashable {
    static let days = Array(0..<7)
    static let hours = Array(0..<24)

    private let counts: [Int64]
    /// The largest count.
    private let most: Int64

    init(_ body: JSON, _ kind: ReachFigures.Kind) {
        var counts = [Int64](repeating: 0, count: 7 * 24)
        for line in ReachFigures.lines(body) {
            guard let place = line["group"]?["hour"]?.lenientString.flatMap({ Int($0) }), counts.indices.contains(place)
            else { continue }
            counts[place] += ReachFigures(line)[kind]
        }
        self.counts = counts
        most = counts.max() ?? 0
    }

    subscript(day: Int, hour: Int) -> Int64 { counts[day * 24 + hour] }

    func ofHour(_ hour: Int) -> Int64 { Self.days.reduce(0) { $0 + self[$1, hour] } }
    func ofDay(_ day: Int) -> Int64 { Self.hours.reduce(0) { $0 + self[day, $1] } }
    var total: Int64 { counts.reduce(0, +) }

    /// The first hour with the largest count; nil: there are no counts.
    var busiest: (day: Int, hour: Int)? {
        guard most > 0, let place = counts.firstIndex(of: most) else { return nil }
        return (place / 24, place % 24)
    }

    /// Whether an hour has at least four fifths of the largest count.
    func isBusy(_ day: Int, _ hour: Int) -> Bool { most > 0 && self[day, hour] * 5 >= most * 4 }
}

enum HoursText {
    static let title = Text(ko: "시간대", en: "Hours")
    static let figure = Text(ko: "기준", en: "Count")
    static let byHour = Text(ko: "시간별", en: "By hour of the day")
    static let byDay = Text(ko: "요일별", en: "By day of the week")
    static let table = Text(ko: "요일과 시간별", en: "By hour and day")
    static let hour = Text(ko: "시각", en: "Hour")
    static let marked = Text(
        ko: "가장 많은 시간의 5분의 4 이상인 시간을 강조합니다.",
        en: "Hours with at least four fifths of the busiest one are marked."
    )
    static let clock = Text(
        ko: "발신 결과가 확인된 시각을 단말의 시간대로 집계하며, 단말의 시간대를 모르면 앱의 시간대로 집계합니다.",
        en:
            "The hour is that of the outcome of the push, on the clock of the device if its time zone is known, else on that of the app."
    )
    static let empty = Text(
        ko: "요일과 시간별로 접수, 수신 확인, 읽음 건수가 표시됩니다.",
        en: "For each hour of the week, the notifications that were accepted, received and read appear here."
    )
    static let emptyStep = Text(
        ko: "더 긴 기간이나 다른 앱을 선택하세요.",
        en: "Choose a longer range or another app."
    )

    static func none(_ range: String, _ kind: String) -> Text {
        Text(ko: "\(range) 집계된 건이 없습니다. 기준: \(kind).", en: "No notifications were counted as \(kind) \(range).")
    }

    static func busiest(_ range: String, _ hour: String, _ count: String, _ total: String, _ kind: String) -> Text {
        Text(
            ko: "\(range) 가장 많은 시간대: \(hour). \(kind) \(total)건 중 \(count)건.",
            en: "Busiest hour \(range): \(hour), with \(count) of \(total, one: "notification") \(kind)."
        )
    }
}
