import ConsoleDelivery
import Model
import PageParts

/// A device: identities per vendor, preferences, inbox, tokens for Live Activities, and whether it can be notified now.
struct DevicePage: ConsolePage {
    let path = "devices/{device}"
    let permission = Permission.figures
    let forms: [any ConsoleForm] = [PreferencesForm(), VouchForm(), EraseDeviceForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let id = request.path["device"] ?? ""
        let calls = [
            Self.device(id), Self.diagnosis(id),
            Reading.get("inbox", "\(Self.base(id))/inbox", [Reading.rows, ("after", request.value("after"))]),
            Reading.get("activities", "\(Self.base(id))/live-activity-tokens"),
        ]
        // An unknown device needs no further questions.
        if let device = answers["device"], !device.isSuccess { return [] }
        return Reading.open(answers.has("device") ? calls : [Self.device(id)], answers)
    }

    static func base(_ id: String) -> String { "devices/\(APICall.segment(id))" }
    static func device(_ id: String) -> APICall { Reading.get("device", base(id)) }
    static func diagnosis(_ id: String, lane: String? = nil) -> APICall {
        Reading.get("diagnosis", "\(base(id))/diagnosis", [("lane", lane)])
    }

    func export(_ request: PageRequest) -> APICall? { Self.device(request.path["device"] ?? "") }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let device = try answers.required("device")
        let words = Words(request)
        let id = device["id"]?.string ?? ""
        var blocks: [Block] = []
        if Confirmation.isAsked("erase", request) { blocks.append(eraseQuestion(id, request)) }
        if let errors = FormProblems.block(request, visible: ["acceptsPush", "timeZone", "from", "to", "tags"]) {
            blocks.append(errors)
        }
        blocks += [facts(device, request), identities(device, request)]
        if request.account.may(.operate) { blocks.append(preferences(device, request)) }
        blocks += [inbox(id, answers, request), activities(answers, words)]
        var page = PageContent(
            title: "\(words(DeviceText.title)) \(DeviceTable.name(device))",
            sentence: DiagnosisRules(answers.body("diagnosis"), device, .null, words).sentence(),
            blocks: blocks
        )
        page.sentence.link = Link(words(DeviceText.why), Link.path("devices", id, "diagnosis"))
        page.actions = [.link(Link(words(DeviceText.why), Link.path("devices", id, "diagnosis")), isMain: true)]
        if request.account.may(.operate) {
            page.actions.append(
                Confirmation.button(words(DeviceText.erase), "erase", path: Link.path("devices", id, "erase"))
            )
        }
        return page
    }

    private func eraseQuestion(_ id: String, _ request: PageRequest) -> Block {
        Confirmation.block(
            request,
            title: DeviceText.erase(request.language),
            text: DeviceText.eraseQuestion(request.language),
            submit: DeviceText.erase(request.language),
            path: Link.path("devices", id, "erase"),
            back: Link.path("devices", id)
        )
    }

    // MARK: Facts

    private func facts(_ device: JSON, _ request: PageRequest) -> Block {
        let words = Words(request)
        func fact(_ label: Text, _ value: String?, isMono: Bool = false) -> Fact? {
            value.map { Fact(label: words(label), value: $0, isMono: isMono) }
        }
        let client = Self.client(device)
        let state = StateTag.token(device["tokenState"]?.string).text(words.language)
        let token = [Reading.text(device["token"], 40), state].compactMap { $0 }.joined(separator: " · ")
        let system = [client["os"], client["osVersion"]].compactMap { Reading.text($0, 40) }.joined(separator: " ")
        let app = Reading.text(device["app"]).map { name in
            Fact(
                label: words(ReadingWords.app),
                value: name,
                link: Link(name, Link.path("apps", device["app"]?.string ?? ""))
            )
        }
        let facts = [
            app, fact(DeviceText.platform, Reading.text(device["platform"])),
            fact(DeviceText.environment, StateTag.environment(device["environment"]?.string)(words.language)),
            fact(DeviceText.token, token, isMono: true), fact(DeviceText.created, words.time(device["createdAt"])),
            fact(DeviceText.seen, words.time(device["seenAt"])),
            fact(DeviceText.zone, Reading.text(device["timeZone"])),
            fact(DeviceText.window, Self.window(device["receivingWindow"])),
            fact(DeviceText.unread, device["unread"]?.int.map { words.count($0) }),
            fact(DeviceText.model, Reading.text(client["model"], 80)),
            fact(DeviceText.os, system.isEmpty ? nil : system),
            fact(DeviceText.appVersion, Reading.text(client["appVersion"], 60)),
            fact(DeviceText.sdk, Reading.text(client["sdkVersion"], 60)),
            fact(DeviceText.locale, Reading.text(client["locale"], 40)),
            fact(DeviceText.id, Reading.text(device["id"]), isMono: true),
        ]
        return Block(
            width: 12,
            title: words(DeviceText.facts),
            note: words(ReadingWords.sourceGateway),
            body: [.facts(facts.compactMap { $0 })]
        )
    }

    /// The facts that the SDK of the first registration with such facts reported.
    static func client(_ device: JSON) -> JSON {
        let identities = device["identities"]?.array ?? []
        let active = identities.filter { $0["state"]?.string == "active" }
        return (active + identities).lazy.compactMap { $0["client"] }.first { $0.object != nil } ?? .null
    }

    /// `09:00–21:00`; nil: the whole day.
    static func window(_ json: JSON?) -> String? {
        func time(_ json: JSON?) -> String? {
            guard let text = json?.string, let minute = DailyWindow.minute(text) else { return nil }
            func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
            return "\(two(minute / 60)):\(two(minute % 60))"
        }
        guard let from = time(json?["from"]), let to = time(json?["to"]) else { return nil }
        return "\(from)–\(to)"
    }

    private func identities(_ device: JSON, _ request: PageRequest) -> Block {
        let words = Words(request)
        let mayVouch = request.account.may(.operate)
        let id = device["id"]?.string ?? ""
        var columns: [Table.Column] = [
            DeviceText.key, ReadingWords.vendor, DeviceText.user, DeviceText.name, DeviceText.phone, ReadingWords.state,
            DeviceText.accepts, DeviceText.level, DeviceText.tags, DeviceText.registered,
        ].map { Table.Column(label: words($0)) }
        if mayVouch { columns.append(Table.Column(label: words(DeviceText.actions))) }
        let rows = (device["identities"]?.array ?? []).map { identity -> Table.Row in
            let accepts = identity["acceptsPush"]?.bool
            let tags = (identity["tags"]?.array ?? []).prefix(20).compactMap { Reading.text($0, 60) }
            var cells: [Table.Cell] = [
                .strong(Reading.text(identity["key"]) ?? Words.unknown),
                .text(VendorName.of(Reading.text(identity["vendor"]), words.language)),
                user(identity, device), .text(Reading.text(identity["name"]) ?? Words.unknown),
                .text(Reading.text(identity["phone"], 40) ?? Words.unknown),
                StateTag.identity(identity["state"]?.string).cell(words.language),
                accepts.map { .tag($0 ? .ok : .warn, words($0 ? ReadingWords.on : ReadingWords.off)) } ?? .none,
                .text(StateTag.assurance(identity["assurance"]?.string)(words.language)),
                .text(tags.isEmpty ? Words.unknown : tags.joined(separator: ", ")),
                .text(words.time(identity["registeredAt"])),
            ]
            if mayVouch { cells.append(vouch(identity, id, words)) }
            return Table.Row(cells: cells, id: identity["id"]?.string)
        }
        return Block(
            width: 12,
            title: words(DeviceText.identities),
            body: [.table(Table(caption: words(DeviceText.identities), columns: columns, rows: rows))]
        )
    }

    private func user(_ identity: JSON, _ device: JSON) -> Table.Cell {
        guard let user = identity["user"]?.string, !user.isEmpty else { return .text(Words.unknown) }
        return .link(UserPage.link(user, device["app"]?.string, identity["vendor"]?.string))
    }

    private func vouch(_ identity: JSON, _ device: String, _ words: Words) -> Table.Cell {
        guard identity["state"]?.string == "active", identity["assurance"]?.string != "vouched",
            let id = identity["id"]?.string, let user = identity["user"]?.string, !user.isEmpty
        else { return .none }
        let fields = [PageRequest.Parameter("identity", id), PageRequest.Parameter("user", user)]
        return .actions([
            .post(label: words(DeviceText.vouch), path: Link.path("devices", device, "vouch"), fields: fields)
        ])
    }

    // MARK: Preferences

    private func preferences(_ device: JSON, _ request: PageRequest) -> Block {
        let words = Words(request)
        let stored = PreferenceFields(device)
        func field(_ field: OpenedField, _ label: Text, _ hint: Text) -> FormView.Field {
            FormView.Field(
                name: field.name,
                label: words(label),
                kind: .text(),
                value: field.stored,
                hint: words(hint),
                limit: 4000
            )
        }
        let form = FormView(
            path: Link.path("devices", device["id"]?.string ?? "", "preferences"),
            fields: [
                FormView.Field(
                    name: "acceptsPush",
                    label: words(DeviceText.accepts),
                    kind: .select([
                        Filter.Option(value: "", label: words(DeviceText.keep)),
                        Filter.Option(value: "true", label: words(ReadingWords.on)),
                        Filter.Option(value: "false", label: words(ReadingWords.off)),
                    ])
                ),
                field(stored.zone, DeviceText.zone, DeviceText.zoneHint),
                field(stored.from, DeviceText.from, DeviceText.windowHint),
                field(stored.to, DeviceText.to, DeviceText.windowHint),
                field(stored.tags, DeviceText.tags, DeviceText.tagsHint),
            ] + stored.fields.map { $0.hidden(request) },
            submit: words(DeviceText.save)
        )
        return Block(width: 6, title: words(DeviceText.preferences), body: [.form(form)])
    }

    // MARK: Inbox and activities

    private func inbox(_ id: String, _ answers: Answers, _ request: PageRequest) -> Block {
        let words = Words(request)
        let page = answers.body("inbox")
        let messages = page["messages"]?.array ?? []
        var body: [Part] = Reading.problem(answers["inbox"], words.language).map { [$0] } ?? []
        if messages.isEmpty, body.isEmpty {
            body = [
                .empty(EmptyState(title: words(DeviceText.emptyInbox), step: words(DeviceText.emptyInboxStep)))
            ]
        } else if !messages.isEmpty {
            let rows = messages.map { item in
                let link = Link(
                    InboxTitle.of(item, words.language),
                    Link.path("messages", item["message"]?.string ?? "")
                )
                return Table.Row(
                    cells: [
                        .link(link), .text(words.time(item["sentAt"])),
                        StateTag.delivery(item["state"]?.string).cell(words.language),
                        .text(words.time(item["receivedAt"])), .text(words.time(item["readAt"])),
                    ],
                    id: item["message"]?.string
                )
            }
            let table = Table(
                caption: words(DeviceText.inbox),
                columns: [
                    .init(label: words(DeviceText.message)), .init(label: words(ReadingWords.time)),
                    .init(label: words(ReadingWords.state)), .init(label: words(MessagePageText.received)),
                    .init(label: words(MessagePageText.read)),
                ],
                rows: rows,
                next: Reading.next(page, Link.path("devices", id), request)
            )
            body.append(.table(table))
        }
        return Block(width: 12, title: words(DeviceText.inbox), body: body)
    }

    private func activities(_ answers: Answers, _ words: Words) -> Block {
        let tokens = answers.body("activities")["tokens"]?.array ?? []
        var body: [Part] = Reading.problem(answers["activities"], words.language).map { [$0] } ?? []
        if tokens.isEmpty {
            if body.isEmpty { body = [.text(words(DeviceText.emptyActivities))] }
        } else {
            let rows = tokens.prefix(64).map { token in
                let name = Reading.text(token["activity"])
                let type = Reading.text(token["attributesType"]).map { "\($0) (\(words(DeviceText.start)))" }
                return Table.Row(cells: [
                    .strong(name ?? type ?? Words.unknown), .mono(Reading.text(token["token"], 40) ?? Words.unknown),
                    .text(words.time(token["registeredAt"])),
                ])
            }
            let table = Table(
                caption: words(DeviceText.activities),
                columns: [
                    .init(label: words(DeviceText.activity)), .init(label: words(DeviceText.token)),
                    .init(label: words(DeviceText.registered)),
                ],
                rows: Array(rows)
            )
            body.append(.table(table))
        }
        return Block(width: 6, title: words(DeviceText.activities), body: body)
    }
}

/// The title of a message of an inbox.
enum InboxTitle {
    static func of(_ item: JSON, _ language: Language) -> String {
        Reading.text(item["title"]) ?? Reading.text(item["body"])
            ?? "\(MessagesText.untitled(language)) \(Reading.short(item["message"]?.string))"
    }
}
