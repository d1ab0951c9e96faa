import Model
import PageParts

/// One reason: its meaning and recommended action, its course over the range, and deliveries that have it.
struct FailurePage: ConsolePage {
    let path = "failures/{reason}"
    let permission = Permission.figures

    /// Five messages are searched for deliveries, each by one call.
    private static let messageLimit = 5

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let first = Reading.open(FailureFigures.calls(request) + [messages(request)], answers)
        guard first.isEmpty else { return first }
        let calls = candidates(request, answers).enumerated().map { index, message in
            let path = "messages/\(APICall.segment(message["id"]?.string ?? ""))/deliveries"
            return Reading.get(
                "rows\(index)",
                path,
                [("limit", String(MessageDeliveries.limit)), ("state", state(request, answers))]
            )
        }
        return Reading.open(calls, answers)
    }

    private func messages(_ request: PageRequest) -> APICall {
        let range = ShownRange(request)
        return Reading.get(
            "messages",
            "messages",
            [
                Reading.rows, ("counts", "true"), ("app", request.value("app")), ("vendor", request.value("vendor")),
                ("from", range.from.rfc3339), ("to", range.to.rfc3339),
            ]
        )
    }

    func export(_ request: PageRequest) -> APICall? { FailuresPage().export(request) }

    private func losses(_ request: PageRequest, _ figures: FailureFigures) -> [FailureFigures.Loss] {
        let key = request.path["reason"] ?? ""
        let stage = request.value("stage")
        return figures.losses.filter { $0.key == key && (stage == nil || $0.stage == stage) }
    }

    private func state(_ request: PageRequest, _ answers: Answers) -> String? {
        let state = losses(request, FailureFigures(answers, request)).first?.state
        return state.flatMap { DeliveryState(rawValue: $0)?.rawValue }
    }

    /// The latest messages that have deliveries in the state of the loss.
    private func candidates(_ request: PageRequest, _ answers: Answers) -> [JSON] {
        guard let state = state(request, answers) else { return [] }
        let messages = answers.body("messages")["messages"]?.array ?? []
        let having = messages.filter { message in
            // A message whose counts are not known may have some.
            guard let funnel = message["funnel"], funnel.object != nil else { return true }
            return Reading.number(funnel[state]) > 0
        }
        return Array(having.prefix(Self.messageLimit))
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        _ = try answers.required("losses")
        let words = Words(request)
        let figures = FailureFigures(answers, request)
        let key = request.path["reason"] ?? ""
        let losses = losses(request, figures)
        let stage = request.value("stage") ?? "rejected"
        let isStage = FailureFigures.Loss(stage: key, reason: nil, count: 0).stage == stage
        let loss = losses.first ?? FailureFigures.Loss(stage: stage, reason: isStage ? nil : key, count: 0)
        let text = FailuresPage.explanation(loss, words)
        let facts = [
            Fact(label: words(FailuresText.stage), value: words(FailuresText.stage(loss.stage))),
            Fact(label: words(FailuresText.meaning), value: text.meaning),
            Fact(label: words(FailuresText.party), value: text.party),
            Fact(label: words(FailuresText.action), value: text.action),
            Fact(label: words(FailuresText.first), value: FailuresPage.first(figures, loss, words)),
            Fact(label: words(FailuresText.count), value: words.count(loss.count)),
        ]
        var page = PageContent(
            title: loss.reason.map { Reading.line($0, 80) } ?? words(FailuresText.stage(loss.stage)),
            sentence: sentence(loss, figures, text.meaning, words),
            blocks: [
                Block(width: 6, title: words(FailuresText.facts), body: [.facts(facts)]),
                course(key, figures, words), rows(loss, request, answers),
            ]
        )
        page.permanent = ShownRange(request).permanent
        page.actions = [
            .link(Reading.link(words(FailuresText.title), "failures", request, [("stage", nil)])),
            .link(Link(words(FailuresText.exports), "exports")),
        ]
        return page
    }

    private func sentence(
        _ loss: FailureFigures.Loss,
        _ figures: FailureFigures,
        _ meaning: String,
        _ words: Words
    ) -> Sentence {
        guard loss.count > 0 else { return Sentence(mark: .ok, text: words(FailuresText.absent(meaning))) }
        let rate = words.rate(loss.count, of: figures.targets)
        return Sentence(mark: .warn, text: words(FailuresText.one(words.count(loss.count), rate, meaning)))
    }

    private func course(_ key: String, _ figures: FailureFigures, _ words: Words) -> Block {
        let caption = words(FailuresText.course)
        let chart = LineChart(
            caption: caption,
            moments: figures.parts.map { words.format.shortDate($0.start) },
            lines: [
                LineChart.Line(
                    label: words(FailuresText.count),
                    style: .first,
                    values: figures.course(key).map { $0.map(Double.init) }
                )
            ],
            isLastOpen: true
        )
        return Block(width: 6, title: caption, note: words(ReadingWords.sourceGateway), body: [.lines(chart)])
    }

    private func rows(_ loss: FailureFigures.Loss, _ request: PageRequest, _ answers: Answers) -> Block {
        let words = Words(request)
        var rows: [Table.Row] = []
        for (index, message) in candidates(request, answers).enumerated() {
            let deliveries = answers.body("rows\(index)")["deliveries"]?.array ?? []
            for delivery in deliveries where loss.reason == nil || delivery["reason"]?.string == loss.reason {
                guard rows.count < ConsoleLimits.rows else { break }
                rows.append(row(delivery, message, words))
            }
        }
        let title = words(FailuresText.deliveries)
        guard !rows.isEmpty else {
            let link = Link(words(FailuresText.exports), "exports")
            return Block(title: title, body: [.callout(.info, words(FailuresText.noneSampled), link: link)])
        }
        let table = Table(
            caption: title,
            columns: [
                .init(label: words(DeliveriesText.target)), .init(label: words(MessagesText.message)),
                .init(label: words(ReadingWords.time)), .init(label: words(ReadingWords.state)),
                .init(label: words(DeliveriesText.why)),
            ],
            rows: rows
        )
        return Block(title: title, body: [.table(table)], foot: words(FailuresText.sampled))
    }

    private func row(_ delivery: JSON, _ message: JSON, _ words: Words) -> Table.Row {
        let id = message["id"]?.string ?? ""
        let target = delivery["target"]?.string ?? ""
        let label = Reading.text(delivery["address"]) ?? Reading.short(target)
        return Table.Row(
            cells: [
                .link(Link(label, Link.path("messages", id, "deliveries", target))),
                .link(Link(MessageReading.title(message, words.language), Link.path("messages", id))),
                .text(words.time(delivery["sentAt"] == .null ? message["dueAt"] : delivery["sentAt"])),
                StateTag.delivery(delivery["state"]?.string).cell(words.language),
                DeliveriesPage.diagnosis(delivery["device"]?.string, id, target, words),
            ],
            id: "\(id)-\(target)"
        )
    }
}
