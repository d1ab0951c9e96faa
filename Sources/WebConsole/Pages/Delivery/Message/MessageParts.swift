import Model
import PageParts

/// The cards of the page of a message.
enum MessageParts {
    // MARK: Funnel

    static func funnel(_ message: JSON, _ funnel: MessageFunnel, _ request: PageRequest) -> Block {
        let words = Words(request)
        let gateway = words(ReadingWords.gateway)
        let targets = funnel.targets ?? funnel.settled
        let notSent = [
            (MessagePageText.suppressed, funnel.suppressed), (MessagePageText.expired, funnel.expired),
            (MessagePageText.canceled, funnel.canceled), (MessagePageText.pending, funnel.pending ?? 0),
        ]
        let losses = notSent.filter { $0.1 > 0 }.map { "\(words($0.0)) \(words.count($0.1))" }
        let lostNote = losses.isEmpty ? "" : "\(words(MessagePageText.notSent)): " + losses.joined(separator: " · ")
        var acceptedNote = words(MessagePageText.unanswered)
        if funnel.failed > 0 {
            acceptedNote = "\(words(MessagePageText.notAccepted)) \(words.count(funnel.failed)) · \(acceptedNote)"
        }
        func stage(_ name: Text, _ value: Int64, _ rate: String?, _ source: String, _ note: String) -> FunnelChart.Stage
        {
            FunnelChart.Stage(
                name: words(name),
                value: Reading.value(value),
                rate: rate,
                source: source,
                note: note,
                style: .gateway
            )
        }
        var accepted = stage(
            MessagePageText.accepted,
            funnel.reached,
            words.rate(funnel.reached, of: targets),
            words(MessagePageText.apns),
            acceptedNote
        )
        accepted.style = .transport
        var stages = [stage(MessagesText.targets, targets, nil, gateway, lostNote), accepted]
        for (name, value) in [(MessagePageText.received, funnel.received), (MessagePageText.read, funnel.read)] {
            var reported = stage(
                name,
                value,
                words.rate(value, of: funnel.reached),
                words(ReadingWords.phone),
                words(MessagePageText.ofAccepted)
            )
            reported.style = .app
            reported.able = Reading.value(funnel.reached)
            stages.append(reported)
        }
        return Block(
            width: 8,
            title: words(MessagePageText.funnel),
            body: [.funnel(FunnelChart(caption: words(MessagePageText.funnel), stages: stages))]
        )
    }

    // MARK: Losses

    /// The name of a loss: its reason, else its state.
    static func name(_ loss: MessageDeliveries.Loss, _ language: Language) -> String {
        loss.reason ?? StateTag.delivery(loss.state).text(language)
    }

    /// The deliveries behind a loss.
    static func rows(_ message: JSON, _ loss: MessageDeliveries.Loss, _ language: Language) -> Link {
        var query = [PageRequest.Parameter("state", loss.state)]
        if let reason = loss.reason { query.append(PageRequest.Parameter("reason", reason)) }
        return Link(name(loss, language), MessagePage.path(message, "deliveries"), query)
    }

    static func losses(
        _ message: JSON,
        _ funnel: MessageFunnel,
        _ deliveries: MessageDeliveries,
        _ answers: Answers,
        _ request: PageRequest
    ) -> Block {
        let words = Words(request)
        var body: [Part] = []
        for name in ["sample", "failed", "suppressed"] {
            if let problem = Reading.problem(answers[name], words.language) { body.append(problem) }
        }
        if deliveries.losses.isEmpty {
            if body.isEmpty { body.append(.text(words(MessagePageText.none))) }
        } else {
            body.append(.table(table(message, deliveries, words)))
        }
        let note = deliveries.areLossesWhole ? words(MessagePageText.exact) : limit(words)
        return Block(
            width: 12,
            title: words(MessagePageText.losses),
            note: "\(words(ReadingWords.sourceGateway)) · \(note)",
            body: body
        )
    }

    private static func limit(_ words: Words) -> String {
        words(MessagePageText.sample(words.count(Int64(MessageDeliveries.limit))))
    }

    private static func table(_ message: JSON, _ deliveries: MessageDeliveries, _ words: Words) -> Table {
        let language = words.language
        return Table(
            caption: words(MessagePageText.losses),
            columns: [
                .init(label: words(MessagePageText.reason)), .init(label: words(ReadingWords.state)),
                .init(label: words(MessagePageText.count), isNumber: true),
                .init(label: words(MessagePageText.meaning)),
                .init(label: words(MessagePageText.party)),
            ],
            rows: deliveries.losses.prefix(ConsoleLimits.rows).map { loss in
                let reason = LossReason.of(loss.reason)
                return Table.Row(cells: [
                    .link(rows(message, loss, language)), StateTag.delivery(loss.state).cell(language),
                    .text(words.count(loss.count)), .text(LossReason.meaning(loss.reason, language)),
                    .text(reason?.party.name(language) ?? Words.unknown),
                ])
            }
        )
    }

    // MARK: Latency and dialects

    static func latency(_ deliveries: MessageDeliveries, _ request: PageRequest) -> Block {
        let words = Words(request)
        func fact(_ label: Text, _ values: [Int64], _ share: Double) -> Fact {
            Fact(label: words(label), value: words.latency(MessageDeliveries.percentile(values, share)))
        }
        return Block(
            width: 4,
            title: words(MessagePageText.latency),
            note: sample(deliveries, words),
            body: [
                .facts([
                    fact(MessagePageText.median, deliveries.latencies, 0.5),
                    fact(MessagePageText.p95, deliveries.latencies, 0.95),
                    fact(MessagePageText.receipt, deliveries.receipts, 0.5),
                ])
            ]
        )
    }

    private static func sample(_ deliveries: MessageDeliveries, _ words: Words) -> String {
        deliveries.isWhole ? words(MessagePageText.exact) : words(MessagePageText.sample(words.count(deliveries.size)))
    }

    static func dialects(_ message: JSON, _ deliveries: MessageDeliveries, _ request: PageRequest) -> Block {
        let words = Words(request)
        let own = Reading.text(message["vendor"])
        let rows = deliveries.dialects.sorted { ($1.value.count, $0.key ?? "") < ($0.value.count, $1.key ?? "") }
        return Block(
            width: 8,
            title: words(MessagePageText.dialects),
            note: sample(deliveries, words),
            body: [
                .table(
                    Table(
                        caption: words(MessagePageText.dialects),
                        columns: [
                            .init(label: words(MessagePageText.dialect)),
                            .init(label: words(MessagePageText.deliveries), isNumber: true),
                            .init(label: words(MessagePageText.accepted), isNumber: true),
                            .init(label: words(MessagePageText.received), isNumber: true),
                            .init(label: words(MessagePageText.read), isNumber: true),
                        ],
                        rows: rows.prefix(ConsoleLimits.rows).map { dialect, tally in
                            Table.Row(cells: [
                                .strong(VendorName.of(dialect.map { Reading.line($0, 40) } ?? own, words.language)),
                                .text(words.count(tally.count)), .text(words.rate(tally.reached, of: tally.count)),
                                .text(words.rate(tally.received, of: tally.reached)),
                                .text(words.rate(tally.read, of: tally.reached)),
                            ])
                        }
                    )
                )
            ]
        )
    }

    // MARK: Content

    static func facts(_ message: JSON, _ request: PageRequest) -> Block {
        let words = Words(request)
        func fact(_ label: Text, _ value: String?, isMono: Bool = false) -> Fact? {
            value.map { Fact(label: words(label), value: $0, isMono: isMono) }
        }
        let hasContent = message["body"] != nil || message["title"] != nil
        var facts: [Fact?] =
            hasContent
            ? [
                fact(MessagePageText.headline, Reading.text(message["title"], 4000)),
                fact(MessagePageText.body, Reading.text(message["body"], 10_000)),
            ] : [fact(MessagePageText.body, words(MessagePageText.hidden))]
        facts += [
            fact(ReadingWords.app, Reading.text(message["app"])),
            fact(ReadingWords.vendor, VendorName.of(Reading.text(message["vendor"]), words.language)),
            fact(MessagePageText.sender, MessagesPage.sender(message, words.language)),
            campaign(message, words), fact(MessagePageText.variant, Reading.text(message["variant"])),
            fact(MessagePageText.acceptedAt, words.time(message["acceptedAt"])),
            fact(MessagePageText.dueAt, words.time(message["dueAt"])),
            fact(MessagePageText.localDue, Reading.text(message["localDue"])),
            fact(MessagePageText.expiresAt, words.time(message["expiresAt"])),
            fact(MessagePageText.id, Reading.text(message["id"]), isMono: true),
        ]
        return Block(width: 12, title: words(MessagePageText.content), body: [.facts(facts.compactMap { $0 })])
    }

    private static func campaign(_ message: JSON, _ words: Words) -> Fact? {
        guard let campaign = Reading.text(message["campaign"], 256) else { return nil }
        let link = Link(campaign, "messages", [PageRequest.Parameter("campaign", campaign)])
        return Fact(label: words(MessagePageText.campaign), value: campaign, link: link)
    }
}
