import Model
import PageParts

/// The chart, the actions and the recent messages of the overview.
extension OverviewCards {
    private var language: Language { request.language }
    private func text(_ text: Text) -> String { text(language) }

    // MARK: Chart

    private struct Point {
        var start: Timestamp
        var counts: FunnelFigures
    }

    /// The points that have begun.
    private func points(_ name: String) -> [Point] {
        (answers.body(name)["series"]?.array?.first?["points"]?.array ?? []).compactMap { point in
            guard let start = point["start"]?.string.flatMap({ Timestamp(rfc3339: $0) }), start <= format.now else {
                return nil
            }
            return Point(start: start, counts: FunnelFigures(point["counts"]))
        }
    }

    var chartCard: Block {
        let points = points("series")
        let before = self.points("before").prefix(points.count)
        let lines = [
            LineChart.Line(
                label: text(OverviewText.acceptedShort),
                style: .first,
                values: points.map { Double($0.counts[.accepted]) }
            ),
            LineChart.Line(
                label: text(OverviewText.read),
                style: .second,
                values: points.map { Double($0.counts[.read]) }
            ),
            LineChart.Line(
                label: range.before(language),
                style: .previous,
                values: before.map { Double($0.counts[.accepted]) }
            ),
        ]
        let chart = LineChart(
            caption: finding(points),
            moments: points.enumerated().map { label($0.element, isLast: $0.offset == points.count - 1) },
            lines: lines,
            isLastOpen: range.isOpen
        )
        return Block(
            width: 8,
            title: text(OverviewText.chart),
            note: range.words(language),
            body: [.lines(chart)]
        )
    }

    private func label(_ point: Point, isLast: Bool) -> String {
        switch range.interval {
        case "hour": format.time(point.start)
        case "day" where isLast && range.isOpen: text(OverviewText.today)
        default: format.shortDate(point.start)
        }
    }

    /// Below it, a change says nothing.
    private static let sample: Int64 = 1000
    /// A change by less is not a finding.
    private static let leastChange = 0.2

    /// The largest change from one part to the next, of parts that are over; otherwise what is drawn.
    private func finding(_ points: [Point]) -> String {
        let over = range.isOpen ? points.dropLast() : points[...]
        let changes = zip(over, over.dropFirst()).compactMap { first, second -> (Timestamp, Double)? in
            let (before, after) = (first.counts[.accepted], second.counts[.accepted])
            guard before >= Self.sample || after >= Self.sample, before > 0 else { return nil }
            return (second.start, Double(after) / Double(before) - 1)
        }
        guard let (start, change) = changes.max(by: { abs($0.1) < abs($1.1) }), abs(change) >= Self.leastChange else {
            return text(OverviewText.caption(range.interval))
        }
        let moment = range.interval == "hour" ? format.dateTime(start) : format.shortDate(start)
        let size = "\(format.count(Int64((abs(change) * 100).rounded())))%"
        return text(change < 0 ? OverviewText.fell(size, moment) : OverviewText.rose(size, moment))
    }

    // MARK: Actions

    /// Certificates are renewed in this time before they expire.
    private static let noticeDays: Int64 = 30
    /// Fewer are single devices.
    private static let leastTokens: Int64 = 10

    var actionCard: Block {
        let checks = credentialChecks + lossChecks
        return Block(
            width: 4,
            title: text(OverviewText.action),
            note: checks.isEmpty ? nil : format.count(checks.count),
            body: [checks.isEmpty ? .text(text(OverviewText.noAction)) : .checks(Array(checks.prefix(8)))]
        )
    }

    private var credentialChecks: [Check] {
        credentials.filter(\.isUsed).compactMap { credential in
            let link = Link(text(OverviewText.upload), "credentials/\(PercentCoding.encode(credential.name))")
            if let refusal = credential.refusal {
                let title = OverviewText.rejected(credential.name, refusal, since: nil)
                let action = ReasonWords.of(refusal)?.action ?? OverviewText.waiting
                return Check(mark: .bad, title: text(title), detail: text(action), link: link)
            }
            if let days = credential.daysToExpiry, days <= Self.noticeDays {
                let detail = credential.expiresAt.map { text(OverviewText.validUntil(format.dateTime($0))) } ?? ""
                let title =
                    days < 0
                    ? OverviewText.expired(credential.name)
                    : OverviewText.expires(credential.name, format.days(days))
                return Check(mark: days < 0 ? .bad : .warn, title: text(title), detail: detail, link: link)
            }
            guard !credential.isUsable else { return nil }
            return Check(mark: .bad, title: text(OverviewText.unusable(credential.name)), detail: "", link: link)
        }
    }

    /// Losses that somebody should act on, apart from those of credentials, which are above.
    private var lossChecks: [Check] {
        losses.filter { $0.count >= Self.leastTokens }.compactMap { loss in
            guard let reason = loss.reason, let words = ReasonWords.of(reason) else { return nil }
            let name = words.name(language)
            let count = format.count(loss.count)
            let isRejected = loss.stage == FunnelStage.rejected.rawValue
            switch words.party {
            case .nobody, .user, .pushService: return nil
            case .sender, .app, .operations, .appleAccount, .gateway:
                // A device without a token is not a fault of the app by itself.
                guard reason != SuppressionReason.noDevice.rawValue else { return nil }
                let title = isRejected ? OverviewText.rejectedTokens(count, name) : OverviewText.lost(count, name)
                let link = Link(text(OverviewText.devices), "failures", [.init("reason", reason)])
                return Check(mark: .warn, title: text(title), detail: text(words.action), link: link)
            }
        }
    }

    // MARK: Messages

    var messageCard: Block {
        let rows = Self.messages(answers).map { row($0) }
        let columns = [
            Table.Column(label: text(OverviewText.message)),
            .init(label: text(OverviewText.targets), isNumber: true),
            .init(label: text(OverviewText.funnel)), .init(label: text(OverviewText.status)),
        ]
        let empty = EmptyState(
            title: text(OverviewText.noMessages),
            step: text(OverviewText.composeStep),
            link: Link(text(OverviewText.compose), "compose")
        )
        let table = Table(caption: text(OverviewText.messages), columns: columns, rows: rows, empty: empty)
        return Block(
            width: 6,
            title: text(OverviewText.messages),
            tools: [Link(text(OverviewText.viewAll), "messages")],
            body: [.table(table)]
        )
    }

    private func row(_ message: JSON) -> Table.Row {
        let id = message["id"]?.string ?? ""
        let state = message["state"]?.string ?? ""
        let title = [message["title"]?.string, message["body"]?.string].compactMap { $0 }.first { !$0.isEmpty }
        var tag = StateWords.message(state)(language)
        if state == MessageState.scheduled.rawValue, let due = message["dueAt"]?.string {
            tag += " \(format.dateTime(rfc3339: due))"
        }
        return Table.Row(
            cells: [
                .link(
                    Link(
                        String((title ?? text(OverviewText.noTitle)).prefix(120)),
                        "messages/\(PercentCoding.encode(id))"
                    )
                ),
                .text(format.count(message["recipients"]?.int)),
                bar(message["funnel"]), .tag(StateWords.mark(ofMessage: state), tag),
            ],
            id: id
        )
    }

    /// The shares of the targets that were read, received but not read, and accepted but not received.
    private func bar(_ funnel: JSON?) -> Table.Cell {
        guard let whole = funnel?["recipients"]?.int, whole > 0 else { return .none }
        func share(_ name: String) -> Double { Double(max(0, funnel?[name]?.int ?? 0)) / Double(whole) }
        let (reached, received, read) = (share("reached"), share("received"), share("read"))
        let words = OverviewText.bar(format.rate(reached), format.rate(received), format.rate(read))
        return .bar(
            [
                .init(share: read, style: .app), .init(share: max(0, received - read), style: .able),
                .init(share: max(0, reached - max(received, read)), style: .transport),
            ],
            words: text(words)
        )
    }
}
