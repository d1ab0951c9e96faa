import Foundation
import Model
import PageParts

/// A webhook of an answer, read leniently.
struct WebhookRow: Sendable {
    let json: JSON

    /// 1,000 events behind are more than a slow moment.
    static let lagNotice: Int64 = 1000

    var id: String { json["id"]?.string ?? "" }
    var url: String { json["url"]?.string ?? Wording.unknown }
    var state: String { json["state"]?.string ?? "" }
    /// The events of the log after the cursor, those of other apps and kinds included; nil: unknown.
    var lag: Int64? {
        guard let head = json["head"]?.int, let cursor = json["cursor"]?.int else { return nil }
        let (lag, overflow) = head.subtractingReportingOverflow(cursor)
        return overflow ? nil : max(0, lag)
    }
    var isActive: Bool { json["active"]?.bool ?? false }

    func cell(_ words: Wording) -> Table.Cell {
        switch state {
        case "active": .tag(.ok, words(WebhooksText.active))
        case "failing": .tag(.warn, words(WebhooksText.failing))
        case "paused": .tag(.idle, words(WebhooksText.paused))
        case "stopped": .tag(.bad, words(WebhooksText.stopped))
        default: .text(state.isEmpty ? Wording.unknown : state)
        }
    }

    /// The rule of the sentence: stopped, failing, paused, behind. Nil: nothing to do.
    func problem(_ words: Wording) -> (urgency: Int, sentence: Sentence)? {
        let link = Link(url, Link.path("webhooks", id))
        func found(_ urgency: Int, _ mark: Mark, _ text: Text) -> (urgency: Int, sentence: Sentence) {
            (urgency: urgency, sentence: Sentence(mark: mark, text: words(text), link: link))
        }
        let error = words.text(json["lastError"])
        switch state {
        case "stopped": return found(4, .bad, WebhooksText.stoppedBecause(url, error))
        case "failing":
            return found(3, .warn, WebhooksText.failingBecause(url, words.count(json["failures"]), error))
        case "paused": return found(2, .warn, WebhooksText.pausedBehind(url, words.count(lag)))
        default: break
        }
        guard let lag, lag >= Self.lagNotice else { return nil }
        return found(1, .warn, WebhooksText.behind(url, words.count(lag)))
    }
}

/// The tenant's webhooks with their states, and the form that creates one.
struct WebhooksPage: ConsolePage {
    let path = "webhooks"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, WebhooksText.title, .webhooks) }
    var forms: [any ConsoleForm] { [CreateWebhookForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("webhooks"), let list = export(request) else { return [] }
        return [list, APICall("apps", .get, "apps", query: [PageRequest.Parameter("limit", "1000")])]
    }

    func export(_ request: PageRequest) -> APICall? { APICall("webhooks", .get, "webhooks") }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let webhooks = (try answers.required("webhooks")["webhooks"]?.array ?? []).map { WebhookRow(json: $0) }
        let apps = (answers.body("apps")["apps"]?.array ?? []).compactMap { $0["app"]?.string }
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: ["url", "app", "kinds", "order"]) {
            blocks.append(problems)
        }
        let list = Self.table(webhooks, words)
        blocks += [
            Block(title: words(WebhooksText.title), note: words(OperationsText.source), body: [.table(list)]),
            Block(width: 6, title: words(WebhooksText.create), body: [.form(CreateWebhookForm.view(apps, words))]),
        ]
        return PageContent(title: words(WebhooksText.title), sentence: Self.sentence(webhooks, words), blocks: blocks)
    }

    private static func sentence(_ webhooks: [WebhookRow], _ words: Wording) -> Sentence {
        guard !webhooks.isEmpty else { return Sentence(mark: .idle, text: words(WebhooksText.empty)) }
        let worst = webhooks.compactMap { $0.problem(words) }.max { $0.urgency < $1.urgency }
        return worst?.sentence
            ?? Sentence(mark: .ok, text: words(WebhooksText.allFine(words.count(Int64(webhooks.count)))))
    }

    private static func table(_ webhooks: [WebhookRow], _ words: Wording) -> Table {
        Table(
            caption: words(WebhooksText.title),
            columns: [
                .init(label: words(WebhooksText.address)), .init(label: words(OperationsText.state)),
                .init(label: words(OperationsText.app)), .init(label: words(WebhooksText.kinds)),
                .init(label: words(WebhooksText.lag), isNumber: true),
                .init(label: words(WebhooksText.failures), isNumber: true), .init(label: words(WebhooksText.lastError)),
            ],
            rows: webhooks.prefix(ConsoleLimits.rows).map { webhook in
                let kinds = webhook.json["kinds"]?.array?.isEmpty ?? true
                return Table.Row(
                    cells: [
                        .link(Link(webhook.url, Link.path("webhooks", webhook.id))), webhook.cell(words),
                        .text(webhook.json["app"]?.string ?? words(WebhooksText.allApps)),
                        .text(kinds ? words(WebhooksText.allKinds) : words.list(webhook.json["kinds"])),
                        .text(words.count(webhook.lag)), .text(words.count(webhook.json["failures"])),
                        .text(words.text(webhook.json["lastError"])),
                    ],
                    id: webhook.id
                )
            },
            empty: EmptyState(title: words(WebhooksText.empty), step: words(WebhooksText.emptyStep))
        )
    }
}

/// Creates a webhook; its secret is shown once.
struct CreateWebhookForm: ConsoleForm {
    let name = "create"
    let permission = Permission.configure
    let asksPassword = true

    static func view(_ apps: [String], _ words: Wording) -> FormView {
        let options = [Filter.Option(value: "", label: words(WebhooksText.allApps))]
        return FormView(
            path: "webhooks/create",
            fields: [
                .init(
                    name: "url",
                    label: words(WebhooksText.address),
                    kind: .text(placeholder: "https://example.com/events"),
                    isRequired: true,
                    limit: 2048
                ),
                .init(
                    name: "app",
                    label: words(OperationsText.app),
                    kind: .select(options + apps.map { Filter.Option(value: $0, label: $0) })
                ),
                .init(
                    name: "kinds",
                    label: words(WebhooksText.kinds),
                    kind: .text(placeholder: "sent, failed"),
                    hint: words(WebhooksText.kindsHint)
                ),
                .init(
                    name: "order",
                    label: words(WebhooksText.order),
                    kind: .radio([
                        Filter.Option(value: "log", label: words(WebhooksText.inOrder)),
                        Filter.Option(value: "device", label: words(WebhooksText.perDevice)),
                    ]),
                    value: "log"
                ),
            ],
            submit: words(WebhooksText.create)
        )
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let url = (fields["url"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !url.isEmpty else {
            return .invalid(FieldErrors(["url": OperationsText.missing(request.language)]))
        }
        var body: JSONObject = ["url": .string(url)]
        if let app = fields["app"], !app.isEmpty { body["app"] = .string(app) }
        let kinds = (fields["kinds"] ?? "").split(whereSeparator: { $0 == "," || $0.isWhitespace })
        if !kinds.isEmpty { body["kinds"] = .array(kinds.prefix(100).map { .string(String($0)) }) }
        if let order = fields["order"], !order.isEmpty { body["order"] = .string(order) }
        return .call(APICall("create", .post, "webhooks", body: .object(body)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let secret = answer.body["secret"]?.string else { return .invalid(FieldErrors(answer)) }
        return .once(title: WebhooksText.newSecret, secret: secret)
    }
}
