import Model
import PageParts

/// A user of an app and vendor: devices, preferences, consents and attributes.
struct UserPage: ConsolePage {
    let path = "users/{user}"
    let permission = Permission.figures
    let forms: [any ConsoleForm] = [UserPreferencesForm(), ConsentForm(), EraseUserForm()]

    /// The address of a user. A user without an app is looked for in the first one.
    static func link(_ user: String, _ app: String?, _ vendor: String?) -> Link {
        let query = [("app", app), ("vendor", vendor)].compactMap { name, value in
            value.map { PageRequest.Parameter(name, $0) }
        }
        return Link(user.isEmpty ? Words.unknown : Reading.line(user, 80), Link.path("users", user), query)
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard answers.has("apps") || request.value("app") != nil else { return [Reading.apps] }
        return Reading.open([Self.user(request, answers)].compactMap { $0 }, answers)
    }

    /// The path of the user below `/v1/`; nil: the tenant has no app.
    static func base(_ request: PageRequest, _ answers: Answers, _ folder: String = "users") -> String? {
        guard let app = Reading.app(request, answers) else { return nil }
        let user = APICall.segment(request.path["user"] ?? "")
        return "apps/\(APICall.segment(app))/\(folder)/\(user)"
    }

    static func user(_ request: PageRequest, _ answers: Answers) -> APICall? {
        base(request, answers).map { Reading.get("user", $0, [("vendor", vendor(request))]) }
    }

    static func vendor(_ request: PageRequest) -> String? {
        request.typed["vendor"].flatMap { $0.isEmpty ? nil : $0 } ?? request.value("vendor")
    }

    func export(_ request: PageRequest) -> APICall? { Self.user(request, Answers()) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Words(request)
        guard let app = Reading.app(request, answers) else { return ReadingWords.noApp(UserText.user, words.language) }
        let user = try answers.required("user")
        let name = user["user"]?.string ?? request.path["user"] ?? ""
        var blocks: [Block] = []
        if Confirmation.isAsked("erase", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(UserText.erase),
                    text: words(UserText.eraseQuestion(Reading.line(name, 80))),
                    submit: words(UserText.erase),
                    path: Link.path("users", name, "erase"),
                    back: Link.path("users", name)
                )
            )
        }
        if let errors = FormProblems.block(request, visible: ["acceptsPush", "subject", "state"]) {
            blocks.append(errors)
        }
        blocks.append(devices(user, words))
        if request.account.may(.operate) { blocks += forms(name, app, request) }
        blocks += [consents(user, words), attributes(user, words), aliases(user, words), acts(user, words)].compactMap {
            $0
        }
        var page = PageContent(
            title: "\(words(UserText.user)) \(Reading.line(name, 80))",
            sentence: sentence(user, words),
            blocks: blocks
        )
        page.sentence.link = deviceLink(name, app, request)
        if request.account.may(.operate) {
            page.actions = [
                Confirmation.button(words(UserText.erase), "erase", path: Link.path("users", name, "erase"))
            ]
        }
        return page
    }

    private func deviceLink(_ name: String, _ app: String, _ request: PageRequest) -> Link {
        let query = [PageRequest.Parameter("user", name), PageRequest.Parameter("app", app)]
        return Link(UserText.devices(request.language), "find", query)
    }

    private func sentence(_ user: JSON, _ words: Words) -> Sentence {
        let devices = user["devices"]?.array ?? []
        let accepting = devices.filter { $0["acceptsPush"]?.bool != false }
        let usable = accepting.filter { $0["hasToken"]?.bool == true }
        if devices.isEmpty { return Sentence(mark: .bad, text: words(UserText.noDevice)) }
        if accepting.isEmpty { return Sentence(mark: .bad, text: words(UserText.off)) }
        if usable.isEmpty { return Sentence(mark: .bad, text: words(UserText.noToken)) }
        return Sentence(mark: .ok, text: words(UserText.reachable(words.count(Int64(usable.count)))))
    }

    // MARK: Parts

    private func table(_ title: Text, _ columns: [Text], _ rows: [[Table.Cell]], _ words: Words) -> Part {
        .table(
            Table(
                caption: words(title),
                columns: columns.map { Table.Column(label: words($0)) },
                rows: rows.prefix(ConsoleLimits.rows).map { Table.Row(cells: $0) }
            )
        )
    }

    private func devices(_ user: JSON, _ words: Words) -> Block {
        let rows = (user["devices"]?.array ?? []).map { device -> [Table.Cell] in
            let key = device["key"]?.string ?? ""
            let accepts = device["acceptsPush"]?.bool == true
            let has = device["hasToken"]?.bool == true
            return [
                .link(Link(Reading.line(key, 60), "find", [PageRequest.Parameter("value", key)])),
                .text(Reading.text(device["platform"], 40) ?? Words.unknown),
                .tag(accepts ? .ok : .warn, words(accepts ? ReadingWords.on : ReadingWords.off)),
                .tag(has ? .ok : .bad, words(has ? UserText.has : UserText.hasNot)),
            ]
        }
        let columns = [UserText.key, UserText.platform, UserText.accepts, UserText.token]
        let body: Part = rows.isEmpty ? .text(words(UserText.noDevice)) : table(UserText.devices, columns, rows, words)
        return Block(title: words(UserText.devices), note: words(ReadingWords.sourceGateway), body: [body])
    }

    private func consents(_ user: JSON, _ words: Words) -> Block? {
        let pairs = user["consents"]?.object?.pairs ?? []
        let rows = pairs.map { subject, state -> [Table.Cell] in
            let isOn = state.string == "subscribed"
            return [
                .strong(Reading.line(subject, 80)),
                .tag(isOn ? .ok : .warn, words(isOn ? UserText.subscribed : UserText.unsubscribed)),
            ]
        }
        let columns = [UserText.subject, UserText.decision]
        let body: Part =
            rows.isEmpty ? .text(words(UserText.noConsents)) : table(UserText.consents, columns, rows, words)
        return Block(width: 6, title: words(UserText.consents), body: [body])
    }

    private func attributes(_ user: JSON, _ words: Words) -> Block? {
        let attributes = user["attributes"] ?? .null
        let isEmpty = attributes.object?.isEmpty ?? true
        let body: Part =
            isEmpty
            ? .text(words(UserText.noAttributes))
            : .code(ShownJSON(attributes).text, label: words(UserText.attributes))
        return Block(width: 6, title: words(UserText.attributes), body: [body])
    }

    private func aliases(_ user: JSON, _ words: Words) -> Block? {
        let rows = (user["aliases"]?.array ?? []).map { alias -> [Table.Cell] in
            [
                .strong(Reading.text(alias["label"], 80) ?? Words.unknown),
                .text(Reading.text(alias["name"], 80) ?? Words.unknown),
            ]
        }
        guard !rows.isEmpty else { return nil }
        let body = table(UserText.aliases, [UserText.label, UserText.name], rows, words)
        return Block(width: 6, title: words(UserText.aliases), body: [body])
    }

    private func acts(_ user: JSON, _ words: Words) -> Block? {
        let rows = (user["acts"]?.array ?? []).map { act -> [Table.Cell] in
            [
                .strong(Reading.text(act["name"], 80) ?? Words.unknown), .text(words.count(act["count"])),
                .text(words.time(act["lastAt"])),
            ]
        }
        guard !rows.isEmpty else { return nil }
        let body = table(UserText.activities, [UserText.name, UserText.count, UserText.last], rows, words)
        return Block(width: 6, title: words(UserText.activities), body: [body])
    }

    // MARK: Forms

    private func forms(_ name: String, _ app: String, _ request: PageRequest) -> [Block] {
        let words = Words(request)
        let hidden = UserForms.hidden(app, Self.vendor(request) ?? "native")
        let accepts = FormView(
            path: Link.path("users", name, "preferences"),
            fields: hidden + [
                FormView.Field(
                    name: "acceptsPush",
                    label: words(UserText.accepts),
                    kind: .radio([
                        Filter.Option(value: "true", label: words(ReadingWords.on)),
                        Filter.Option(value: "false", label: words(ReadingWords.off)),
                    ]),
                    isRequired: true
                )
            ],
            submit: words(UserText.save)
        )
        let consent = FormView(
            path: Link.path("users", name, "consent"),
            fields: hidden + [
                FormView.Field(
                    name: "subject",
                    label: words(UserText.subject),
                    kind: .text(placeholder: "news"),
                    isRequired: true,
                    limit: 128
                ),
                FormView.Field(
                    name: "state",
                    label: words(UserText.decision),
                    kind: .select([
                        Filter.Option(value: "subscribed", label: words(UserText.subscribed)),
                        Filter.Option(value: "unsubscribed", label: words(UserText.unsubscribed)),
                    ]),
                    value: "subscribed"
                ),
            ],
            submit: words(UserText.consent)
        )
        return [
            Block(width: 6, title: words(UserText.preferences), body: [.form(accepts)]),
            Block(width: 6, title: words(UserText.consent), body: [.form(consent)]),
        ]
    }
}
