import Model
import PageParts

/// The cards of the overview, from the answers.
struct OverviewCards: Sendable {
    let request: PageRequest
    let answers: Answers
    let funnel: FunnelFigures
    let previous: FunnelFigures?
    let losses: [LossFigures]
    let queue: QueueFigures
    let credentials: [CredentialFigures]
    let latencies: LatencyFigures
    let range: ShownRange
    let format: ConsoleFormat

    init(_ request: PageRequest, _ answers: Answers, _ body: JSON) {
        self.request = request
        self.answers = answers
        funnel = FunnelFigures(body["total"])
        previous = body["previous"]?["total"].map { FunnelFigures($0) }
        losses = LossFigures.all(answers.body("losses"))
        queue = QueueFigures(answers, "queue")
        credentials = CredentialFigures.all(answers.body("credentials"))
        latencies = LatencyFigures(answers.body("latency"))
        range = ShownRange(request)
        format = ConsoleFormat(request)
    }

    static func messages(_ answers: Answers) -> [JSON] {
        Array((answers.body("messages")["messages"]?.array ?? []).prefix(OverviewPage.messageCount))
    }

    private var language: Language { request.language }
    private func text(_ text: Text) -> String { text(language) }

    var sentence: Sentence {
        OverviewSentence(
            funnel: funnel,
            queue: queue,
            credentials: credentials,
            losses: losses,
            rate: perSecond,
            range: range,
            format: format
        ).sentence
    }

    // MARK: Funnel

    var funnelCard: Block {
        let change = previous.flatMap { format.change(funnel[.accepted], from: $0[.accepted]) }
        let note = change.map { text(OverviewText.compared($0, range.before(language))) }
        return Block(
            width: 8,
            title: text(OverviewText.funnel),
            note: note,
            body: [.funnel(FunnelChart(caption: "", stages: stages))]
        )
    }

    private var stages: [FunnelChart.Stage] {
        let gateway = text(OverviewText.gateway)
        let able = funnel[.receivable]
        let reached = funnel[.accepted] + funnel[.uncertain]
        let unable = max(0, reached - able)
        let notSent: [FunnelStage] = [.suppressed, .canceled, .expired, .unsendable]
        return [
            .init(
                name: text(OverviewText.targets),
                value: funnel.int(.targets),
                source: gateway,
                note: funnel[.pending] > 0
                    ? "\(text(OverviewText.pending)) \(format.count(funnel[.pending]))" : text(OverviewText.ofAll),
                style: .gateway
            ),
            .init(
                name: text(OverviewText.sent),
                value: funnel.int(.sent),
                rate: format.rate(funnel.rate(.sentRate)),
                source: gateway,
                note: reasons(text(OverviewText.notSent), notSent),
                style: .gateway,
                link: Link(text(OverviewText.sent), "failures")
            ),
            .init(
                name: text(OverviewText.accepted),
                value: funnel.int(.accepted),
                rate: format.rate(funnel.rate(.acceptanceRate)),
                source: text(OverviewText.apns),
                note: acceptedNote(unable),
                style: .transport,
                link: Link(text(OverviewText.accepted), "failures")
            ),
            .init(
                name: text(OverviewText.received),
                value: funnel.int(.received),
                able: Int(clamping: able),
                rate: format.rate(funnel.rate(.receiptRate)),
                source: text(OverviewText.app),
                note: text(OverviewText.ableToReceive(format.count(able))),
                style: .app
            ),
            .init(
                name: text(OverviewText.read),
                value: funnel.int(.read),
                able: funnel.int(.readable),
                rate: format.rate(funnel.rate(.readRate)),
                source: text(OverviewText.app),
                note: text(OverviewText.ableToRead(format.count(funnel[.readable]))),
                style: .app
            ),
        ]
    }

    /// `Not sent: opted out 21,307 · no device 15,112`; the three largest.
    private func reasons(_ title: String, _ stages: [FunnelStage], extra: [(String, Int64)] = []) -> String {
        let names = Set(stages.map(\.rawValue))
        let found =
            losses.filter { names.contains($0.stage) }.map { ($0.name(language), $0.count) }
            + extra.filter { $0.1 > 0 }
        guard !found.isEmpty else { return "" }
        let shown = found.prefix(3).map { "\($0.0) \(format.count($0.1))" }.joined(separator: " · ")
        return "\(title): \(shown)" + (found.count > 3 ? " · …" : "")
    }

    private func acceptedNote(_ unable: Int64) -> String {
        let lost = reasons(
            text(OverviewText.notAccepted),
            [.rejected],
            extra: [(text(OverviewText.noAnswer), funnel[.uncertain])]
        )
        let note = unable > 0 ? text(OverviewText.unable(format.count(unable))) : ""
        return [lost, note].filter { !$0.isEmpty }.joined(separator: " · ")
    }

    // MARK: Now

    private var quarters: [Int64] {
        (answers.body("now")["series"]?.array?.first?["points"]?.array ?? []).map {
            FunnelFigures($0["counts"])[.accepted]
        }
    }

    /// Accepted notifications per second in the last whole quarter hour.
    private var perSecond: Double? { quarters.last.map { Double($0) / Double(QuarterRange.seconds) } }

    var nowCard: Block {
        let value = perSecond.map { $0 > 0 && $0 < 0.05 ? "<0.1" : format.compact($0) } ?? ConsoleFormat.unknown
        func latency(_ share: Double) -> String {
            latencies.percentile(share).map { format.duration(milliseconds: $0) } ?? ConsoleFormat.unknown
        }
        let facts = [
            Fact(
                label: text(OverviewText.queued),
                value: queue.lanes == nil ? ConsoleFormat.unknown : format.count(funnel[.pending])
            ),
            Fact(label: text(OverviewText.median), value: latency(0.5)),
            Fact(label: text(OverviewText.p95), value: latency(0.95)),
        ]
        let figure = Figure(
            value: value,
            unit: text(OverviewText.perSecond),
            spark: quarters.map(Double.init),
            caption: text(OverviewText.lastQuarter)
        )
        return Block(
            width: 4,
            title: text(OverviewText.now),
            tools: [Link(text(OverviewText.openLive), "live")],
            body: [.figure(figure), .facts(facts)]
        )
    }

    // MARK: Vendors

    var vendorCard: Block {
        let groups = answers.body("vendors")["groups"]?.array ?? []
        let rows = groups.prefix(ConsoleLimits.rows).map { group in
            let vendor = group["group"]?["vendor"]?.string ?? ConsoleFormat.unknown
            let counts = FunnelFigures(group["counts"])
            let median = latencies.median(of: vendor).map { format.duration(milliseconds: $0) }
            return Table.Row(
                cells: [
                    .link(Link(VendorName.of(vendor, format.language), "messages", [.init("vendor", vendor)])),
                    .text(format.count(counts[.targets])), .text(format.rate(counts.rate(.acceptanceRate))),
                    .text(format.rate(counts.rate(.receiptRate))), .text(format.rate(counts.rate(.readRate))),
                    .text(median ?? ConsoleFormat.unknown),
                ],
                id: vendor
            )
        }
        let columns = [
            Table.Column(label: text(OverviewText.vendor)),
            .init(label: text(OverviewText.targets), isNumber: true),
            .init(label: text(OverviewText.acceptedShort), isNumber: true),
            .init(label: text(OverviewText.received), isNumber: true),
            .init(label: text(OverviewText.read), isNumber: true),
            .init(label: text(OverviewText.median), isNumber: true),
        ]
        return Block(
            width: 6,
            title: text(OverviewText.vendors),
            body: [.table(Table(caption: text(OverviewText.vendors), columns: columns, rows: Array(rows)))],
            foot: text(OverviewText.dash)
        )
    }
}
