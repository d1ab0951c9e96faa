import ConsoleDelivery
import Model
import PageParts

/// The systems, versions and models of the devices to which notifications went, and how many devices were reached, gained and lost.
struct VersionsPage: ConsolePage {
    let path = "versions"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.audience, VersionsText.title, .devices)

    private static let devices = "devices"
    /// Eight: more bars are rows of the table.
    private static let barCount = 8

    /// The order of the choices.
    private static let choices: [ClientFacts.Field] = [.os, .osVersion, .model, .appVersion, .sdkVersion, .locale]

    /// The fact by which the request groups the counts.
    private static func fact(_ request: PageRequest) -> ClientFacts.Field {
        request.value("by").flatMap { ClientFacts.Field(rawValue: $0) } ?? .os
    }

    /// A value of the fact, with its counts.
    private struct Line {
        let name: String
        let figures: ReachFigures

        init(_ line: JSON, _ fact: ClientFacts.Field, _ words: Words) {
            let value = line["group"]?[fact.rawValue]?.string ?? ""
            name =
                switch value {
                case "": words(VersionsText.unreported)
                case "other": words(VersionsText.further)
                default: Reading.line(value, 60)
                }
            figures = ReachFigures(line)
        }
    }

    private func call(_ request: PageRequest) -> APICall {
        var call = ReachFigures.call(path, request)
        call.query.append(PageRequest.Parameter("by", Self.fact(request).rawValue))
        return call
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([call(request), ReachFigures.call(Self.devices, request)], answers)
    }

    func export(_ request: PageRequest) -> APICall? { call(request).exported(by: request) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Words(request)
        let fact = Self.fact(request)
        if let refusal = ReachFigures.refusal(path, answers, VersionsText.title, request) { return refusal }
        let body = try answers.required(path)
        let lines = ReachFigures.lines(body).map { Line($0, fact, words) }
        var page = PageContent(title: words(VersionsText.title), sentence: sentence(lines, request))
        page.permanent = ShownRange(request).permanent
        page.filters = [
            .choice(
                label: words(VersionsText.by),
                parameter: "by",
                options: Self.choices.map { choice in
                    Filter.Option(value: choice.rawValue, label: words(VersionsText.name(of: choice)))
                },
                selected: fact.rawValue
            )
        ]
        page.blocks = [changes(answers, request)]
        guard !lines.isEmpty else {
            let empty = EmptyState(title: words(VersionsText.empty), step: words(VersionsText.emptyStep))
            page.blocks.append(Block(body: [.empty(empty)]))
            return page
        }
        page.blocks.append(chart(lines, fact, words))
        page.blocks.append(
            Block(
                title: words(VersionsText.table),
                note: "\(words(VersionsText.name(of: fact))) · \(ShownRange(request).words(words.language))",
                body: [.table(table(lines, fact, words))],
                foot: ReachFigures.footOfLargest(body, words)
            )
        )
        return page
    }

    /// The value with the most notifications.
    private func sentence(_ lines: [Line], _ request: PageRequest) -> Sentence {
        let words = Words(request)
        let range = ShownRange(request).inSentence(words.language)
        guard let first = lines.max(by: { $0.figures.reached < $1.figures.reached }) else {
            return Sentence(mark: .info, text: words(VersionsText.none(range)))
        }
        let all = lines.reduce(Int64(0)) { $0 + $1.figures.reached }
        let text = VersionsText.most(range, first.name, words.count(first.figures.reached), words.count(all))
        return Sentence(mark: .info, text: words(text))
    }

    /// The devices that were reached, and the registrations that began and ended.
    private func changes(_ answers: Answers, _ request: PageRequest) -> Block {
        let words = Words(request)
        let total = answers.body(Self.devices)["total"]
        let facts = VersionsText.changes.map { member, label in
            Fact(label: words(label), value: words.count(total?[member]))
        }
        var body: [Part] = [.facts(facts)]
        if let problem = Reading.problem(answers[Self.devices], request.language) { body.insert(problem, at: 0) }
        return Block(title: words(VersionsText.devices), body: body, foot: words(VersionsText.changesNote))
    }

    private func chart(_ lines: [Line], _ fact: ClientFacts.Field, _ words: Words) -> Block {
        let bars = lines.sorted { $0.figures.reached > $1.figures.reached }.prefix(Self.barCount).map { line in
            BarChart.Bar(
                label: line.name,
                value: Double(line.figures.reached),
                text: words.count(line.figures.reached),
                style: ReachFigures.Kind.reached.style
            )
        }
        let chart = BarChart(caption: words(ReachFigures.Kind.reached.name), bars: Array(bars))
        return Block(title: words(VersionsText.name(of: fact)), body: [.bars(chart)])
    }

    private func table(_ lines: [Line], _ fact: ClientFacts.Field, _ words: Words) -> Table {
        let rows = lines.prefix(ConsoleLimits.rows).enumerated().map { place, line -> Table.Row in
            let figures = line.figures
            let texts = [
                words.count(figures.reached), words.count(figures.received), words.count(figures.read),
                words.rate(figures.read, of: figures.reached),
            ]
            let cells = [Table.Cell.strong(line.name)] + texts.map { Table.Cell.text($0) }
            return Table.Row(cells: cells, id: "version-\(place)")
        }
        let numbers = ReachFigures.Kind.allCases.map(\.name) + [CampaignsText.readShare]
        let columns =
            [Table.Column(label: words(VersionsText.name(of: fact)))]
            + numbers.map { Table.Column(label: words($0), isNumber: true) }
        return Table(caption: words(VersionsText.table), columns: columns, rows: Array(rows))
    }
}

enum VersionsText {
    static let title = Text(ko: "단말 통계", en: "Device figures")
    static let by = Text(ko: "구분", en: "By")
    static let devices = Text(ko: "단말", en: "Devices")
    static let table = Text(ko: "구분별 결과", en: "Results by value")
    static let unreported = Text(ko: "보고되지 않음", en: "Not reported")
    static let further = Text(ko: "그 외", en: "Further ones")
    static let empty = Text(
        ko: "단말의 운영 체제와 버전별로 접수, 수신 확인, 읽음 건수가 표시됩니다.",
        en: "For each system and version, the notifications that were accepted, received and read appear here."
    )
    static let emptyStep = Text(ko: "메시지를 발신하세요.", en: "Send a message.")
    static let changesNote = Text(
        ko: "단말은 한 번씩만 셉니다. 256대를 넘으면 어림값입니다. 가져온 등록과 삭제한 등록은 제외합니다.",
        en: "Each device counts once; above 256, the number is an estimate. Imports and erasures are left out."
    )

    /// The members of the answer about devices that the page shows.
    static let changes: [(member: String, label: Text)] = [
        ("devicesReached", Text(ko: "APNs가 접수한 단말", en: "Devices reached")),
        ("devicesReceived", Text(ko: "수신을 확인한 단말", en: "Devices that reported a receipt")),
        ("gained", Text(ko: "새 등록", en: "Registrations gained")),
        ("lost", Text(ko: "끝난 등록", en: "Registrations lost")),
        ("invalidated", Text(ko: "무효가 된 토큰", en: "Tokens invalidated")),
    ]

    /// The name of a fact.
    static func name(of fact: ClientFacts.Field) -> Text {
        switch fact {
        case .os: Text(ko: "운영 체제", en: "System")
        case .osVersion: Text(ko: "운영 체제 버전", en: "System version")
        case .model: Text(ko: "모델", en: "Model")
        case .appVersion: Text(ko: "앱 버전", en: "App version")
        case .sdkVersion: Text(ko: "SDK 버전", en: "SDK version")
        case .locale: Text(ko: "언어와 지역", en: "Language and region")
        }
    }

    static func none(_ range: String) -> Text {
        Text(ko: "\(range) 집계된 알림이 없습니다.", en: "No notification was counted \(range).")
    }

    static func most(_ range: String, _ value: String, _ count: String, _ all: String) -> Text {
        Text(
            ko: "\(range) 가장 많은 값: \(value). APNs 접수 \(all)건 중 \(count)건.",
            en: "Most notifications \(range): \(value), with \(count) of \(all) accepted by APNs."
        )
    }
}
