import ConsoleDelivery
import Model
import PageParts

/// Why was this device not notified? The answer in one sentence, the conditions behind it, the course of a delivery, and its payload in each dialect.
struct DiagnosisPage: ConsolePage {
    let path = "devices/{device}/diagnosis"
    let permission = Permission.figures
    let forms: [any ConsoleForm] = [SendProbeForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let id = request.path["device"] ?? ""
        guard let device = answers["device"] else {
            return [
                DevicePage.device(id), DevicePage.diagnosis(id, lane: Self.lane(request)),
                Reading.get("inbox", "\(DevicePage.base(id))/inbox", [Reading.rows]),
            ]
        }
        guard device.isSuccess, let shown = Self.shown(request, answers) else { return [] }
        let delivery = Reading.open(
            [MessageReading.message(shown.message), MessageReading.delivery(shown.message, shown.target)],
            answers
        )
        guard delivery.isEmpty, request.account.may(.send) else { return delivery }
        return Reading.open([preview(answers)].compactMap { $0 }, answers)
    }

    private static func lane(_ request: PageRequest) -> String? {
        request.value("lane").flatMap { name in Lane.allCases.contains { "\($0)" == name } ? name : nil }
    }

    /// The delivery that the address names, else the latest one with an outcome.
    private static func shown(_ request: PageRequest, _ answers: Answers) -> (message: String, target: String)? {
        if let message = request.value("message"), let target = request.value("target") { return (message, target) }
        guard let latest = answers.body("diagnosis")["deliveries"]?.array?.first,
            let message = latest["message"]?.string, let target = latest["target"]?.string
        else { return nil }
        return (message, target)
    }

    /// The payloads that the dialects of the app would send for the content of the message.
    private func preview(_ answers: Answers) -> APICall? {
        let message = answers.body("message")
        guard let app = message["app"]?.string, let id = answers.body("device")["id"]?.string,
            let body = message["body"]?.string
        else { return nil }
        var content: JSONObject = ["app": .string(app), "to": ["devices": [.string(id)]], "body": .string(body)]
        if let title = message["title"]?.string { content["title"] = .string(title) }
        return APICall(
            "preview",
            .post,
            "messages",
            query: [PageRequest.Parameter("preview", "true")],
            body: .object(content)
        )
    }

    func export(_ request: PageRequest) -> APICall? {
        DevicePage.diagnosis(request.path["device"] ?? "", lane: Self.lane(request))
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let device = try answers.required("device")
        let diagnosis = try answers.required("diagnosis")
        let words = Words(request)
        let (message, delivery) = (answers.body("message"), answers.body("delivery"))
        let rules = DiagnosisRules(
            diagnosis,
            device,
            delivery,
            words,
            mayApprove: request.account.may(.administer)
        )
        let timeline = delivery.object == nil ? nil : DeliveryTimeline(delivery, message, request)
        let isNamed = request.value("target") != nil
        let id = device["id"]?.string ?? ""
        var page = PageContent(
            title: words(DiagnosisText.title),
            sentence: rules.sentence(chosen: isNamed ? timeline?.sentence : nil),
            blocks: [
                Block(body: [.text(about(device, words))]),
                Block(
                    width: 6,
                    title: words(DiagnosisText.checks),
                    note: rules.counts,
                    body: [.checks(rules.checks)]
                ), course(timeline, message, delivery, answers, words), payloads(device, delivery, answers, words),
                recent(rules, answers, words),
            ]
        )
        if let waiting = rules.waits.block { page.blocks.insert(waiting, at: 1) }
        if request.account.may(.send) { page.blocks.append(test(id, words)) }
        page.actions = [.link(Link(words(DiagnosisText.device), Link.path("devices", id)))]
        page.filters = [
            .choice(
                label: words(DiagnosisText.lane),
                parameter: "lane",
                options: Lane.allCases.map {
                    Filter.Option(value: "\($0)", label: words(StateWords.lane("\($0)")))
                },
                selected: Self.lane(request) ?? "bulk"
            )
        ]
        return page
    }

    // MARK: Parts

    /// The user and the model of the device, in one line.
    private func about(_ device: JSON, _ words: Words) -> String {
        let identities = device["identities"]?.array ?? []
        let active = identities.first { $0["state"]?.string == "active" } ?? identities.first ?? .null
        let client = DevicePage.client(device)
        let system = [client["os"], client["osVersion"]].compactMap { Reading.text($0, 40) }.joined(separator: " ")
        let version = Reading.text(client["appVersion"], 40).map { "\(words(ReadingWords.app)) \($0)" }
        let parts = [
            Reading.text(active["name"], 60) ?? Reading.text(active["user"], 60) ?? DeviceTable.name(device),
            Reading.text(active["phone"], 40), Reading.text(client["model"], 40), system.isEmpty ? nil : system,
            version,
        ]
        return parts.compactMap { $0 }.joined(separator: " · ")
    }

    private func course(
        _ timeline: DeliveryTimeline?,
        _ message: JSON,
        _ delivery: JSON,
        _ answers: Answers,
        _ words: Words
    ) -> Block {
        guard let timeline else {
            let problem = Reading.problem(answers["delivery"], words.language)
            let empty = EmptyState(title: words(DiagnosisText.noDelivery), step: words(DiagnosisText.noDeliveryStep))
            return Block(width: 6, title: words(DeliveryText.timeline), body: [problem ?? .empty(empty)])
        }
        let id = message["id"]?.string ?? ""
        let target = delivery["target"]?.string ?? ""
        return Block(
            width: 6,
            title: words(DeliveriesText.title(MessageReading.title(message, words.language))),
            note: words.time(message["dueAt"]),
            tools: [Link(words(DiagnosisText.toDelivery), Link.path("messages", id, "deliveries", target))],
            body: [.timeline(timeline.moments)]
        )
    }

    private func payloads(_ device: JSON, _ delivery: JSON, _ answers: Answers, _ words: Words) -> Block {
        let previews = answers.body("preview")["previews"]?.object?.pairs ?? []
        guard !previews.isEmpty else {
            var block = DeliveryPayload.block(delivery, words, width: 7)
            block.title = words(DiagnosisText.payload)
            return block
        }
        // The dialects of the device; a device without an active registration has those of the app.
        let active = (device["identities"]?.array ?? []).filter { $0["state"]?.string == "active" }
        let own = Set(active.compactMap { $0["vendor"]?.string })
        let shown = previews.filter { own.contains($0.key) }
        let body = (shown.isEmpty ? previews : shown).prefix(8).flatMap { vendor, push -> [Part] in
            let name = VendorName.of(vendor, words.language)
            let label = push["bytes"]?.int.map { "\(name) · \(words.bytes($0))" } ?? name
            guard let payload = push["payload"], payload != .null else { return DeliveryPayload.parts(push, words) }
            return [.code(ShownJSON(payload).text, label: label)]
        }
        return Block(
            width: 7,
            title: words(DiagnosisText.payload),
            body: body,
            foot: words(DeliveryText.recomputed)
        )
    }

    private func recent(_ rules: DiagnosisRules, _ answers: Answers, _ words: Words) -> Block {
        // The inbox has the titles, for an account that may read content.
        let inbox = answers.body("inbox")["messages"]?.array ?? []
        let titles = Dictionary(inbox.map { ($0["message"]?.string ?? "", $0) }) { first, _ in first }
        let id = rules.device["id"]?.string ?? ""
        let rows = rules.deliveries.map { delivery in
            let message = delivery["message"]?.string ?? ""
            let title = titles[message].map { InboxTitle.of($0, words.language) } ?? Reading.short(message)
            let query = [
                PageRequest.Parameter("message", message),
                PageRequest.Parameter("target", delivery["target"]?.string ?? ""),
            ]
            return Table.Row(cells: [
                .link(Link(title, Link.path("devices", id, "diagnosis"), query)),
                .text(words.time(delivery["sentAt"])),
                StateTag.delivery(delivery["state"]?.string).cell(words.language),
                .text(Reading.text(delivery["reason"], 60) ?? Words.unknown),
            ])
        }
        let table = Table(
            caption: words(DiagnosisText.recent),
            columns: [
                .init(label: words(MessagesText.message)), .init(label: words(ReadingWords.time)),
                .init(label: words(DiagnosisText.result)), .init(label: words(DiagnosisText.reason)),
            ],
            rows: rows,
            empty: EmptyState(title: words(DiagnosisText.noDelivery), step: words(DiagnosisText.noDeliveryStep))
        )
        return Block(width: 5, title: words(DiagnosisText.recent), body: [.table(table)])
    }

    private func test(_ id: String, _ words: Words) -> Block {
        let form = FormView(
            path: Link.path("devices", id, "diagnosis", "test"),
            fields: [
                FormView.Field(
                    name: "title",
                    label: words(DiagnosisText.headline),
                    kind: .text(),
                    value: words(DiagnosisText.testTitle),
                    limit: 256
                ),
                FormView.Field(
                    name: "body",
                    label: words(DiagnosisText.body),
                    kind: .area(rows: 2),
                    value: words(DiagnosisText.testBody),
                    hint: words(DiagnosisText.testHint),
                    isRequired: true,
                    limit: 1000
                ),
            ],
            submit: words(DiagnosisText.test)
        )
        return Block(width: 6, title: words(DiagnosisText.test), body: [.form(form)])
    }
}

/// Sends a test notification to the device.
struct SendProbeForm: ConsoleForm {
    let name = "test"
    let permission = Permission.send

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        Reading.open([DevicePage.device(request.path["device"] ?? "")], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let body = fields["body"] ?? ""
        guard body.contains(where: { !$0.isWhitespace }) else {
            return .invalid(FieldErrors(["body": ReadingWords.required(request.language)]))
        }
        let device = answers.body("device")
        guard let app = device["app"]?.string, let id = device["id"]?.string else {
            return .invalid(FieldErrors(["": DiagnosisText.unknown(request.language)]))
        }
        var content: JSONObject = ["app": .string(app), "to": ["devices": [.string(id)]], "body": .string(body)]
        if let title = fields["title"], !title.isEmpty { content["title"] = .string(title) }
        return .call(APICall("test", .post, "messages", body: .object(content), once: request.onceToken))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        guard let id = answer.body["id"]?.string else { return .back(DiagnosisText.testSent) }
        return .go(Link(DiagnosisText.test(request.language), Link.path("messages", id)), DiagnosisText.testSent)
    }
}
