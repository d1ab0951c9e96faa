import Model
import PageParts

/// How well the gateway agrees with the upstreams of an app, with masked examples of the differences.
struct ParityPage: ConsolePage {
    let path = "apps/{app}/parity"
    let permission = Permission.configure

    /// 200: as the gates of migrations.
    private static let sampleMinimum: Int64 = 200
    private static let periods: [(name: String, seconds: Int64, label: Text)] = [
        ("1h", 3600, ParityText.hour), ("24h", 86_400, ParityText.day), ("7d", 604_800, ParityText.week),
    ]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("parity"), let show = export(request) else { return [] }
        return [show]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall(
            "parity",
            .get,
            "apps/\(APICall.segment(request.path["app"] ?? ""))/parity",
            query: [PageRequest.Parameter("since", Self.since(request).rfc3339)]
        )
    }

    /// The beginning that the address names; nil: it has a period, which moves.
    private static func fixed(_ request: PageRequest) -> Timestamp? {
        request.value("period") == nil ? request.value("since").flatMap { Timestamp(rfc3339: $0) } : nil
    }

    /// The beginning of what is counted: that of the address, else that of its period.
    private static func since(_ request: PageRequest) -> Timestamp {
        if let fixed = fixed(request) { return fixed }
        let chosen = periods.first { $0.name == request.value("period") } ?? periods[1]
        return Timestamp(milliseconds: max(0, (request.now + .seconds(-chosen.seconds)).milliseconds))
    }

    /// The parameters with which the page begins at the same time later.
    private static func permanent(_ request: PageRequest) -> [PageRequest.Parameter] {
        if fixed(request) != nil { return [] }
        return [PageRequest.Parameter("since", since(request).rfc3339), PageRequest.Parameter("period", "")]
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("parity")
        let app = request.path["app"] ?? ""
        let figures = body["metrics"]?.array ?? []
        let samples = body["samples"]?.array ?? []
        var blocks = [
            Block(
                title: words(ParityText.figures),
                note: "\(words(ParityText.figuresNote)) · \(words.time(body["since"])) –",
                body: [.table(Self.table(figures, words))]
            )
        ]
        blocks += ParitySides.blocks(body, words)
        if !figures.isEmpty {
            let metric = request.value("metric")
            let shown = samples.filter { metric == nil || $0["metric"]?.string == metric }
            blocks.append(
                Block(
                    title: words(ParityText.examples),
                    note: words(ParityText.examplesNote),
                    body: shown.isEmpty
                        ? [.text(words(ParityText.noExamples))]
                        : shown.prefix(ConsoleLimits.rows).flatMap { Self.example($0, words) }
                )
            )
        }
        return PageContent(
            title: "\(words(ParityText.title)): \(app)",
            sentence: Self.sentence(figures, app, words),
            actions: [
                .link(Link(words(MigrationsText.title), "migrations", [PageRequest.Parameter("app", app)])),
                .link(Link(words(AppsText.routes), Link.path("apps", app, "routes"))),
            ],
            filters: Self.filters(figures, request, words),
            blocks: blocks,
            permanent: Self.permanent(request)
        )
    }

    /// The rule: nothing observed, too few observations, the lowest agreement, otherwise all agree.
    private static func sentence(_ figures: [JSON], _ app: String, _ words: Wording) -> Sentence {
        let counted = figures.filter { $0["samples"]?.int ?? 0 > 0 }
        guard !counted.isEmpty else { return Sentence(mark: .idle, text: words(ParityText.empty)) }
        let most = counted.compactMap { $0["samples"]?.int }.max() ?? 0
        let worst = counted.min { $0["agreement"]?.double ?? 1 < $1["agreement"]?.double ?? 1 }
        if let worst, let differences = worst["differences"]?.int, differences > 0 {
            let share = worst["agreement"]?.double ?? 0
            let text = ParityText.differs(
                app,
                words(MigrationsText.metricName(worst["metric"]?.string ?? "")),
                words.share(share),
                words.count(differences)
            )
            return Sentence(mark: share < 0.99 ? .bad : .warn, text: words(text))
        }
        guard most >= sampleMinimum else {
            return Sentence(mark: .idle, text: words(ParityText.tooFew(app, words.count(most))))
        }
        return Sentence(mark: .ok, text: words(ParityText.agrees(app, words.count(most))))
    }

    private static func table(_ figures: [JSON], _ words: Wording) -> Table {
        Table(
            caption: words(ParityText.figures),
            columns: [
                .init(label: words(ParityText.metric)), .init(label: words(ParityText.agreement), isNumber: true),
                .init(label: words(ParityText.differences), isNumber: true),
                .init(label: words(ParityText.samples), isNumber: true),
            ],
            rows: figures.map { figure in
                let metric = figure["metric"]?.string ?? ""
                return Table.Row(
                    cells: [
                        .strong(words(ParityText.metricMeaning(metric))),
                        .text(figure["agreement"]?.double.map { words.share($0) } ?? Wording.unknown),
                        .text(words.count(figure["differences"])), .text(words.count(figure["samples"])),
                    ],
                    id: metric
                )
            },
            empty: EmptyState(title: words(ParityText.empty), step: words(ParityText.emptyStep))
        )
    }

    private static func filters(_ figures: [JSON], _ request: PageRequest, _ words: Wording) -> [Filter] {
        let metrics = figures.compactMap { $0["metric"]?.string }
        return [
            .choice(
                label: words(ParityText.period),
                parameter: "period",
                options: periods.map { Filter.Option(value: $0.name, label: words($0.label)) },
                selected: fixed(request) == nil ? request.value("period") ?? "24h" : nil
            ),
            .choice(
                label: words(ParityText.examples),
                parameter: "metric",
                options: OperationsParts.choices(metrics.map { ($0, words(MigrationsText.metricName($0))) }, words),
                selected: request.value("metric")
            ),
        ]
    }

    /// One difference: the call, the fields, and both answers.
    private static func example(_ sample: JSON, _ words: Wording) -> [Part] {
        let facts = sample["facts"]?.object ?? JSONObject()
        let known: Set<String> = ["call", "fields", "ours", "theirs"]
        var parts: [Part] = [
            .facts([
                Fact(
                    label: words(ParityText.metric),
                    value: words(MigrationsText.metricName(sample["metric"]?.string ?? ""))
                ),
                Fact(
                    label: words(ParityText.call),
                    value: "\(VendorName.of(sample["vendor"]?.string, words.language)) · \(words.text(facts["call"]))"
                ),
                Fact(label: words(ParityText.fields), value: words.list(facts["fields"]), isMono: true),
            ])
        ]
        for (name, label) in [("ours", ParityText.ours), ("theirs", ParityText.theirs)] {
            guard let answer = facts[name], answer != .null else { continue }
            parts += OperationsParts.code(answer.string ?? OperationsParts.pretty(answer), label, words)
        }
        let others = JSONObject(facts.pairs.filter { !known.contains($0.key) }.map { ($0.key, $0.value) })
        if !others.isEmpty {
            parts += OperationsParts.code(OperationsParts.pretty(.object(others)), ParityText.facts, words)
        }
        return parts
    }
}
