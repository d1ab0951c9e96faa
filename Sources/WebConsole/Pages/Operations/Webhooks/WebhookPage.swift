import Model
import PageParts

/// A webhook: its state, pause, resumption, replay, secret and deletion.
struct WebhookPage: ConsolePage {
    let path = "webhooks/{webhook}"
    let permission = Permission.configure
    var forms: [any ConsoleForm] {
        [
            SwitchWebhookForm(name: "pause", isActive: false), SwitchWebhookForm(name: "resume", isActive: true),
            ReplayWebhookForm(), RotateWebhookForm(), DeleteWebhookForm(),
        ]
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("webhook"), let show = export(request) else { return [] }
        return [show]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("webhook", .get, Self.address(request))
    }

    static func address(_ request: PageRequest) -> String {
        "webhooks/\(APICall.segment(request.path["webhook"] ?? ""))"
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let webhook = WebhookRow(json: try answers.required("webhook"))
        let here = Link.path("webhooks", request.path["webhook"] ?? "")
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: ["from", "overlapSeconds"]) { blocks.append(problems) }
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(WebhooksText.delete),
                    text: words(WebhooksText.deleteQuestion),
                    submit: words(WebhooksText.delete),
                    path: here + "/delete",
                    back: here
                )
            )
        }
        blocks.append(Self.facts(webhook, words))
        blocks.append(
            Block(
                width: 6,
                title: words(WebhooksText.replay),
                body: [.form(ReplayWebhookForm.view(here + "/replay", webhook, words))],
                foot: words(WebhooksText.replayNote)
            )
        )
        blocks.append(
            Block(
                width: 6,
                title: words(WebhooksText.secret),
                body: [.form(RotateWebhookForm.view(here + "/secret", webhook, words))],
                foot: words(WebhooksText.secretNote)
            )
        )
        var sentence = webhook.problem(words)?.sentence
        sentence?.link = nil
        let isActive = webhook.isActive
        return PageContent(
            title: webhook.url,
            sentence: sentence ?? Sentence(mark: .ok, text: words(WebhooksText.fine)),
            actions: [
                isActive
                    ? .post(label: words(WebhooksText.pause), path: here + "/pause")
                    : .post(label: words(WebhooksText.resume), path: here + "/resume", isMain: true),
                Confirmation.button(words(WebhooksText.delete), "delete", path: here + "/delete"),
            ],
            blocks: blocks
        )
    }

    private static func facts(_ webhook: WebhookRow, _ words: Wording) -> Block {
        let json = webhook.json
        let hasAll = json["kinds"]?.array?.isEmpty ?? true
        let order =
            switch json["order"]?.string {
            case "log": words(WebhooksText.inOrder)
            case "device": words(WebhooksText.perDevice)
            default: words.text(json["order"])
            }
        return Block(
            title: words(WebhooksText.facts),
            note: words(OperationsText.source),
            body: [
                .facts([
                    Fact(label: words(WebhooksText.lag), value: words.count(webhook.lag)),
                    Fact(label: words(WebhooksText.cursor), value: words.count(json["cursor"])),
                    Fact(label: words(WebhooksText.head), value: words.count(json["head"])),
                    Fact(label: words(WebhooksText.failures), value: words.count(json["failures"])),
                    Fact(label: words(WebhooksText.lastError), value: words.text(json["lastError"])),
                    Fact(
                        label: words(OperationsText.app),
                        value: json["app"]?.string ?? words(WebhooksText.allApps)
                    ),
                    Fact(
                        label: words(WebhooksText.kinds),
                        value: hasAll ? words(WebhooksText.allKinds) : words.list(json["kinds"])
                    ),
                    Fact(label: words(WebhooksText.order), value: order),
                    Fact(label: words(WebhooksText.keyID), value: words.text(json["keyId"]), isMono: true),
                    Fact(label: words(OperationsText.created), value: words.time(json["createdAt"])),
                ])
            ]
        )
    }
}

/// Pauses or resumes a webhook.
struct SwitchWebhookForm: ConsoleForm {
    let name: String
    let isActive: Bool
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        .call(APICall(name, .patch, WebhookPage.address(request), body: ["active": .bool(isActive)]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .back(isActive ? WebhooksText.resumedNotice : WebhooksText.pausedNotice)
    }
}

/// Delivers all events after a position again.
struct ReplayWebhookForm: ConsoleForm {
    let name = "replay"
    let permission = Permission.configure

    static func view(_ path: String, _ webhook: WebhookRow, _ words: Wording) -> FormView {
        FormView(
            path: path,
            fields: [
                .init(
                    name: "from",
                    label: words(WebhooksText.from),
                    kind: .number,
                    value: webhook.json["cursor"]?.int.map { String($0) } ?? "",
                    isRequired: true
                )
            ],
            submit: words(WebhooksText.replay)
        )
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let from = fields["from"].flatMap({ Int64($0) }) else {
            return .invalid(FieldErrors(["from": OperationsText.number(request.language)]))
        }
        return .call(APICall("replay", .post, WebhookPage.address(request) + "/replay", body: ["from": .int(from)]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(WebhooksText.replayedNotice) : .invalid(FieldErrors(answer))
    }
}

/// Gives a webhook a new secret, which is shown once, unless another person has done so meanwhile: calls are signed with the last two secrets only.
struct RotateWebhookForm: ConsoleForm {
    let name = "secret"
    let permission = Permission.configure
    let asksPassword = true

    /// The ID of the signing key, which each new secret changes.
    private static func version(_ webhook: JSON) -> String? { webhook["keyId"]?.string }

    static func view(_ path: String, _ webhook: WebhookRow, _ words: Wording) -> FormView {
        let options: [(Int, Text)] = [
            (0, OverlapText.atOnce), (3600, OverlapText.hour), (86_400, OverlapText.day), (604_800, OverlapText.week),
        ]
        return FormView(
            path: path,
            fields: [
                .init(
                    name: "overlapSeconds",
                    label: words(OverlapText.label),
                    kind: .select(options.map { Filter.Option(value: String($0.0), label: words($0.1)) }),
                    value: "86400"
                ),
                ShownVersion.hidden(version(webhook.json) ?? ""),
            ],
            submit: words(WebhooksText.secret)
        )
    }

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        ShownVersion.calls(of: WebhookPage(), request, fields, answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let refusal = ShownVersion.refusal(
            fields,
            answers["webhook"],
            request.language,
            of: Self.version,
            WebhooksText.replacedMeanwhile
        )
        if let refusal { return .invalid(refusal) }
        let overlap = fields["overlapSeconds"].flatMap { Int64($0) } ?? 86_400
        let path = WebhookPage.address(request) + "/secret"
        return .call(APICall("secret", .post, path, body: ["overlapSeconds": .int(overlap)]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let secret = answer.body["secret"]?.string else { return .invalid(FieldErrors(answer)) }
        return .once(title: WebhooksText.newSecret, secret: secret)
    }
}

/// Deletes a webhook.
struct DeleteWebhookForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        return .call(APICall("delete", .delete, WebhookPage.address(request)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(WebhooksText.title(request.language), "webhooks"), OperationsText.deleted)
    }
}
