import Foundation
import Model
import PageParts

/// The tenant's API keys, and the form that creates one.
struct KeysPage: ConsolePage {
    let path = "keys"
    let permission = Permission.administer
    var menu: MenuEntry? { MenuEntry(.administration, KeysText.title, .keys) }
    var forms: [any ConsoleForm] { [CreateKeyForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("keys"), let list = export(request) else { return [] }
        return [list, APICall("apps", .get, "apps", query: [PageRequest.Parameter("limit", "1000")])]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("keys", .get, "keys", query: OperationsParts.page(request))
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("keys")
        let keys = (body["keys"]?.array ?? []).map { KeyFacts(json: $0) }
        let apps = (answers.body("apps")["apps"]?.array ?? []).compactMap { $0["app"]?.string }
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: CreateKeyForm.visible) { blocks.append(problems) }
        let next = OperationsParts.next(body["next"], request, path: "keys")
        let list = Self.table(keys, next: next, words)
        blocks.append(Block(title: words(KeysText.title), note: words(OperationsText.source), body: [.table(list)]))
        blocks.append(
            Block(width: 6, title: words(KeysText.create), body: [.form(CreateKeyForm.view(apps, words))])
        )
        return PageContent(title: words(KeysText.title), sentence: Self.sentence(keys, words), blocks: blocks)
    }

    private static func sentence(_ keys: [KeyFacts], _ words: Wording) -> Sentence {
        guard !keys.isEmpty else { return Sentence(mark: .idle, text: words(KeysText.empty)) }
        let worst = keys.compactMap { $0.problem(words) }.max { $0.urgency < $1.urgency }
        return worst?.sentence
            ?? Sentence(mark: .ok, text: words(KeysText.allFine(words.count(Int64(keys.count)))))
    }

    private static func table(_ keys: [KeyFacts], next: Link?, _ words: Wording) -> Table {
        Table(
            caption: words(KeysText.title),
            columns: [
                .init(label: words(KeysText.key)), .init(label: words(OperationsText.state)),
                .init(label: words(KeysText.scopes)), .init(label: words(KeysText.networks)),
                .init(label: words(KeysText.lastUsed)), .init(label: words(KeysText.expires)),
                .init(label: words(OperationsText.origin)),
            ],
            rows: keys.map { key in
                Table.Row(
                    cells: [
                        .link(Link(key.name, Link.path("keys", key.name))), key.state(words),
                        .mono(words.list(key.json["scopes"])), .text(key.networks(words)), .text(key.used(words)),
                        .text(key.expiry(words)),
                        OperationsParts.originTag(key.isFile ? "file" : "api", words),
                    ],
                    id: key.json["id"]?.string
                )
            },
            next: next,
            empty: EmptyState(title: words(KeysText.empty), step: words(KeysText.emptyStep))
        )
    }
}

/// Creates an API key; its secret is shown once.
struct CreateKeyForm: ConsoleForm {
    let name = "create"
    let permission = Permission.administer
    let asksPassword = true

    static let visible: Set<String> = ["name", "scope-send", "app", "networks", "expiresAt", "recipientsPerDay"]

    private static let scopes: [(value: String, label: Text)] = [
        ("send", KeysText.send), ("devices", KeysText.devices), ("read", KeysText.read), ("content", KeysText.content),
        ("admin", KeysText.admin),
    ]

    static func view(_ apps: [String], _ words: Wording) -> FormView {
        var fields: [FormView.Field] = [
            .init(
                name: "name",
                label: words(KeysText.name),
                kind: .text(placeholder: "crm"),
                hint: words(KeysText.nameHint),
                isRequired: true,
                limit: 64
            )
        ]
        fields += scopes.map { .init(name: "scope-\($0.value)", label: words($0.label), kind: .checkbox) }
        let options = [Filter.Option(value: "", label: words(KeysText.anyApp))]
        fields += [
            .init(
                name: "app",
                label: words(KeysText.onlyApp),
                kind: .select(options + apps.map { Filter.Option(value: $0, label: $0) })
            ),
            .init(
                name: "networks",
                label: words(KeysText.networks),
                kind: .text(placeholder: "10.20.0.0/16"),
                hint: words(KeysText.networksHint)
            ),
            .init(
                name: "expiresAt",
                label: "\(words(KeysText.expires)) (\(words.zoneName))",
                kind: .dateTime,
                hint: words(KeysText.noEnd)
            ),
            .init(
                name: "recipientsPerDay",
                label: words(KeysText.recipients),
                kind: .number,
                hint: words(KeysText.noLimit)
            ),
        ]
        return FormView(path: "keys/create", fields: fields, submit: words(KeysText.createSubmit))
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let words = Wording(request)
        func text(_ name: String) -> String { (fields[name] ?? "").trimmingCharacters(in: .whitespacesAndNewlines) }
        var errors: [String: String] = [:]
        var body: JSONObject = ["name": .string(text("name"))]
        if text("name").isEmpty { errors["name"] = words(OperationsText.missing) }
        let app = text("app")
        let chosen = Self.scopes.map(\.value).filter { fields["scope-\($0)"] != nil }
        if chosen.isEmpty { errors["scope-send"] = words(KeysText.noScope) }
        body["scopes"] = .array(chosen.map { .string(app.isEmpty ? $0 : "\($0):app/\(app)") })
        let networks = text("networks").split(whereSeparator: { $0 == "," || $0.isWhitespace })
        if !networks.isEmpty { body["networks"] = .array(networks.prefix(100).map { .string(String($0)) }) }
        if !text("expiresAt").isEmpty {
            if let end = words.instant(text("expiresAt")) {
                body["expiresAt"] = .string(end.rfc3339)
            } else {
                errors["expiresAt"] = words(KeysText.badTime)
            }
        }
        if !text("recipientsPerDay").isEmpty {
            if let count = Int64(text("recipientsPerDay")) {
                body["recipientsPerDay"] = .int(count)
            } else {
                errors["recipientsPerDay"] = words(OperationsText.number)
            }
        }
        guard errors.isEmpty else { return .invalid(FieldErrors(errors)) }
        return .call(APICall("create", .post, "keys", body: .object(body)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let secret = answer.body["key"]?.string else {
            var errors = FieldErrors(answer)
            // The list of scopes is several fields here; an element is named `scopes[0]`.
            for (field, text) in errors.errors where field.hasPrefix("scopes") {
                errors.errors[field] = nil
                errors.errors["scope-send"] = text
                errors.problems["scope-send"] = errors.problems.removeValue(forKey: field)
            }
            return .invalid(errors)
        }
        return .once(title: KeysText.newSecret, secret: secret)
    }
}
