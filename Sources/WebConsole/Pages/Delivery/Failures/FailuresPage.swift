import Model
import PageParts

/// Why notifications did not reach devices: each reason with its meaning, who should act, and what to do.
struct FailuresPage: ConsolePage {
    let path = "failures"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.delivery, FailuresText.title, .failures, key: "f")

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open(FailureFigures.calls(request) + [Reading.vendors], answers)
    }

    func export(_ request: PageRequest) -> APICall? {
        let range = ShownRange(request)
        return FailureFigures.call("losses", request, range.from, range.to).exported(by: request)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        _ = try answers.required("losses")
        let words = Words(request)
        let figures = FailureFigures(answers, request)
        var blocks: [Block] = []
        if figures.losses.isEmpty {
            let empty = EmptyState(title: words(FailuresText.none), step: words(FailuresText.noneStep))
            blocks.append(Block(body: [.empty(empty)]))
        } else {
            blocks.append(chart(figures, request))
            blocks.append(
                Block(
                    title: words(FailuresText.table),
                    note: ShownRange(request).words(words.language),
                    body: [.table(table(figures, request))],
                    foot: figures.isWhole ? nil : words(FailuresText.incomplete)
                )
            )
        }
        var page = PageContent(title: words(FailuresText.title), sentence: sentence(figures, request), blocks: blocks)
        page.filters = [Reading.vendorFilter(request, answers)]
        page.permanent = ShownRange(request).permanent
        return page
    }

    /// The page of a reason, with the range and filters of this one.
    static func link(_ loss: FailureFigures.Loss, _ request: PageRequest) -> Link {
        let label = loss.reason ?? FailuresText.stage(loss.stage)(request.language)
        return Reading.link(label, Link.path("failures", loss.key), request, [("stage", loss.stage)])
    }

    /// The meaning of a loss, the party that should act, and the recommended action.
    static func explanation(_ loss: FailureFigures.Loss, _ words: Words) -> (
        meaning: String, party: String, action: String
    ) {
        if let reason = LossReason.of(loss.reason) {
            return (words(reason.meaning), words(reason.party.name), words(reason.action))
        }
        guard loss.reason == nil else {
            let meaning = LossReason.meaning(loss.reason, words.language)
            return (meaning, words(ReasonWords.Responsible.operations.name), words(FailuresText.undocumented))
        }
        let party = loss.stage == "expired" ? ReasonWords.Responsible.operations : ReasonWords.Responsible.nobody
        return (
            words(FailuresText.meaning(ofStage: loss.stage)), words(party.name),
            words(FailuresText.action(ofStage: loss.stage))
        )
    }

    private func chart(_ figures: FailureFigures, _ request: PageRequest) -> Block {
        let words = Words(request)
        // The eight largest: more bars are rows of the table.
        let bars = figures.losses.prefix(8).map { loss in
            let link = Self.link(loss, request)
            return BarChart.Bar(
                label: link.label,
                value: Double(loss.count),
                text: words.count(loss.count),
                style: "lost",
                link: link
            )
        }
        let caption = words(FailuresText.chart)
        return Block(title: caption, body: [.bars(BarChart(caption: caption, bars: Array(bars)))])
    }

    private func table(_ figures: FailureFigures, _ request: PageRequest) -> Table {
        let words = Words(request)
        let rows = figures.losses.prefix(ConsoleLimits.rows).map { loss -> Table.Row in
            let text = Self.explanation(loss, words)
            return Table.Row(
                cells: [
                    .link(Self.link(loss, request)), .text(words(FailuresText.stage(loss.stage))),
                    .text(words.count(loss.count)), .text(words.rate(loss.count, of: figures.targets)),
                    .text(text.meaning), .text(text.party), .text(text.action), .text(Self.first(figures, loss, words)),
                ],
                id: "\(loss.stage)-\(loss.key)"
            )
        }
        return Table(
            caption: words(FailuresText.table),
            columns: [
                .init(label: words(FailuresText.reason)), .init(label: words(FailuresText.stage)),
                .init(label: words(FailuresText.count), isNumber: true),
                .init(label: words(FailuresText.share), isNumber: true), .init(label: words(FailuresText.meaning)),
                .init(label: words(FailuresText.party)), .init(label: words(FailuresText.action)),
                .init(label: words(FailuresText.first)),
            ],
            rows: Array(rows)
        )
    }

    static func first(_ figures: FailureFigures, _ loss: FailureFigures.Loss, _ words: Words) -> String {
        guard let first = figures.first(loss) else { return Words.unknown }
        let time = words.format.date(first.at)
        return first.isBefore ? words(FailuresText.before(time)) : time
    }

    // MARK: Sentence

    /// Reasons that stop every notification of an app.
    private static let credentialReasons = LossReason.ofCredentials

    private func sentence(_ figures: FailureFigures, _ request: PageRequest) -> Sentence {
        let words = Words(request)
        guard let largest = figures.losses.first else { return Sentence(mark: .ok, text: words(FailuresText.none)) }
        let blocked = figures.losses.first { $0.reason.map { Self.credentialReasons.contains($0) } ?? false }
        if let blocked, let reason = blocked.reason {
            let text = FailuresText.credential(reason, words.count(blocked.count))
            return Sentence(mark: .bad, text: words(text), link: Self.link(blocked, request))
        }
        let link = Self.link(largest, request)
        let text = FailuresText.most(
            words.count(figures.lost),
            words.count(figures.targets),
            words.rate(figures.lost, of: figures.targets),
            link.label,
            words.count(largest.count)
        )
        // A tenth: fewer are the usual share of devices without the app.
        let isMany = figures.lost > figures.targets / 10
        return Sentence(mark: isMany ? .warn : .info, text: words(text), link: link)
    }
}
