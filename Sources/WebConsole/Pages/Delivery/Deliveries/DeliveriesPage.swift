import Model
package import PageParts

/// The deliveries of a message that have an outcome, by state and reason.
struct DeliveriesPage: ConsolePage {
    let path = "messages/{message}/deliveries"
    let permission = Permission.figures

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        Reading.open([MessageReading.message(request.path["message"] ?? ""), list(request)], answers)
    }

    func export(_ request: PageRequest) -> APICall? { list(request) }

    private func list(_ request: PageRequest) -> APICall {
        // The native API has no filter by reason: a page of it is searched.
        let limit = request.value("reason") == nil ? ConsoleLimits.rows : MessageDeliveries.limit
        let state = request.value("state").flatMap { DeliveryState(rawValue: $0)?.rawValue }
        return Reading.get(
            "deliveries",
            "messages/\(APICall.segment(request.path["message"] ?? ""))/deliveries",
            [("limit", String(limit)), ("state", state), ("after", request.value("after"))]
        )
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let message = try answers.required("message")
        let page = try answers.required("deliveries")
        let words = Words(request)
        let reason = request.value("reason")
        let all = page["deliveries"]?.array ?? []
        let matching = all.filter { reason == nil || $0["reason"]?.string == reason }
        let shown = Array(matching.prefix(ConsoleLimits.rows))
        let path = MessagePage.path(message, "deliveries")
        // The next page begins behind the last row of this one, or behind what was searched.
        let next =
            matching.count > shown.count
            ? shown.last?["target"]?.string.map { target in
                Reading.link(words(ReadingWords.next), path, request, [("after", target)])
            } : Reading.next(page, path, request)
        var body: [Part] = []
        if shown.isEmpty {
            body += Reading.withoutResults(request, path, Self.filters)
            if body.isEmpty { body.append(.empty(empty(words))) }
            if let next { body.append(.actions([.link(next)])) }
        } else {
            body.append(.table(table(message, shown, next, words)))
        }
        var content = PageContent(
            title: words(DeliveriesText.title(MessageReading.title(message, words.language))),
            sentence: sentence(message, reason, shown, words),
            actions: [.link(Link(words(DeliveriesText.back), MessagePage.path(message)))],
            blocks: [Block(body: body)]
        )
        content.filters = choices(request)
        return content
    }

    private static let filters: [(name: String, label: Text)] = [
        ("state", ReadingWords.state), ("reason", MessagePageText.reason),
    ]

    private func empty(_ words: Words) -> EmptyState {
        EmptyState(title: words(DeliveriesText.empty), step: words(DeliveriesText.emptyStep))
    }

    private func choices(_ request: PageRequest) -> [Filter] {
        let language = request.language
        let states = DeliveryState.allCases.filter(\.isSettled).map {
            Filter.Option(value: $0.rawValue, label: StateTag.delivery($0.rawValue).text(language))
        }
        return [
            .choice(
                label: ReadingWords.state(language),
                parameter: "state",
                options: [Filter.Option(value: "", label: ReadingWords.all(language))] + states,
                selected: request.value("state") ?? ""
            ),
            .text(
                label: MessagePageText.reason(language),
                parameter: "reason",
                value: request.value("reason"),
                placeholder: "Unregistered"
            ),
        ]
    }

    private func sentence(_ message: JSON, _ reason: String?, _ shown: [JSON], _ words: Words) -> Sentence {
        if let reason, !shown.isEmpty {
            let meaning = LossReason.meaning(reason, words.language)
            let action = LossReason.of(reason).map { " \($0.action(words.language))" } ?? ""
            return Sentence(mark: .warn, text: meaning + action)
        }
        let text = shown.isEmpty ? DeliveriesText.noneFound : DeliveriesText.shown(words.count(Int64(shown.count)))
        return Sentence(mark: .info, text: words(text))
    }

    private func table(_ message: JSON, _ rows: [JSON], _ next: Link?, _ words: Words) -> Table {
        Table(
            caption: words(DeliveriesText.caption),
            columns: [
                .init(label: words(DeliveriesText.target)), .init(label: words(ReadingWords.state)),
                .init(label: words(MessagePageText.reason)), .init(label: words(DeliveriesText.sent)),
                .init(label: words(MessagePageText.received)), .init(label: words(MessagePageText.read)),
                .init(label: words(DeliveriesText.why)),
            ],
            rows: rows.map { row in
                let target = row["target"]?.string ?? ""
                let label = Reading.text(row["address"]) ?? Reading.short(target)
                return Table.Row(
                    cells: [
                        .link(Link(label, Link.path("messages", message["id"]?.string ?? "", "deliveries", target))),
                        StateTag.delivery(row["state"]?.string).cell(words.language),
                        .text(Reading.text(row["reason"]) ?? Words.unknown), .text(words.time(row["sentAt"])),
                        .text(words.time(row["receivedAt"])), .text(words.time(row["readAt"])),
                        Self.diagnosis(row["device"]?.string, message["id"]?.string, target, words),
                    ],
                    id: target
                )
            },
            next: next
        )
    }

    /// The link from a delivery to the page that explains its device.
    static func diagnosis(_ device: String?, _ message: String?, _ target: String, _ words: Words) -> Table.Cell {
        guard let device, let message else { return .none }
        let query = [PageRequest.Parameter("message", message), PageRequest.Parameter("target", target)]
        return .link(Link(words(DeliveriesText.device), Link.path("devices", device, "diagnosis"), query))
    }
}

/// The texts of the deliveries of a message.
package enum DeliveriesText {
    static let target = Text(ko: "대상", en: "Target")
    static let sent = Text(ko: "발신", en: "Sent")
    static let why = Text(ko: "진단", en: "Diagnosis")
    static let device = Text(ko: "단말 진단", en: "Diagnose device")
    static let back = Text(ko: "메시지로 돌아가기", en: "Back to message")
    static let caption = Text(ko: "단말별 발신 결과, 대상 순", en: "Deliveries by target")
    static let empty = Text(ko: "아직 결과가 나온 대상이 없습니다.", en: "No delivery has an outcome yet.")
    static let emptyStep = Text(
        ko: "발신이 시작되면 단말별 결과가 여기에 표시됩니다.",
        en: "Deliveries appear here once the message is sent."
    )
    static let noneFound = Text(ko: "이 필터에 해당하는 대상이 없습니다.", en: "No delivery matches these filters.")

    package static func title(_ message: String) -> Text {
        Text(ko: "‘\(message)’의 단말별 결과", en: "Deliveries of “\(message)”")
    }
    static func shown(_ count: String) -> Text {
        Text(ko: "결과가 나온 대상 \(count)건을 표시합니다.", en: "\(count, one: "delivery", many: "deliveries") with an outcome.")
    }
}
