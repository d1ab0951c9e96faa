import Model
import PageParts

/// The tenant's apps, and whether each can send.
struct AppsPage: ConsolePage {
    let path = "apps"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, AppsText.title, .apps, key: "a") }
    var forms: [any ConsoleForm] { [CreateAppForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let list = APICall("apps", .get, "apps", query: OperationsParts.page(request))
        let limit = String(ObjectLimits.credentials)
        return Reading.open([list, Reading.get("credentials", "credentials", [("limit", limit)])], answers)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("apps")
        let apps = body["apps"]?.array ?? []
        let rows = apps.map { app in
            Table.Row(
                cells: [
                    .link(Link(words.text(app["app"]), Link.path("apps", app["app"]?.string ?? ""))),
                    .text(Self.platforms(app, words)),
                    Self.state(app, words),
                    OperationsParts.originTag(app["origin"], words),
                    .text(words.time(app["createdAt"])),
                ],
                id: app["app"]?.string
            )
        }
        let table = Table(
            caption: words(AppsText.list),
            columns: [
                .init(label: words(OperationsText.app)), .init(label: words(AppsText.platforms)),
                .init(label: words(OperationsText.state)), .init(label: words(OperationsText.origin)),
                .init(label: words(OperationsText.created)),
            ],
            rows: rows,
            next: OperationsParts.next(body["next"], request, path: "apps"),
            empty: Self.empty(request, words)
        )
        return PageContent(
            title: words(AppsText.title),
            sentence: Self.sentence(apps, isWhole: body["next"]?.lenientString == nil, words),
            blocks: [
                Block(title: words(AppsText.list), note: words(OperationsText.source), body: [.table(table)]),
                Block(
                    title: words(AppsText.create),
                    body: [.form(CreateAppForm.view(answers.body("credentials")["credentials"]?.array ?? [], words))]
                ),
            ]
        )
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("apps", .get, "apps", query: OperationsParts.page(request))
    }

    /// The rule of the sentence: without apps, with apps that cannot send, otherwise all can.
    private static func sentence(_ apps: [JSON], isWhole: Bool, _ words: Wording) -> Sentence {
        let used = apps.filter { $0["retiredAt"]?.string == nil }
        guard !used.isEmpty else { return Sentence(mark: .idle, text: words(AppsText.empty)) }
        let silent = used.filter { AppPage.environments($0).isEmpty }
        let rest = isWhole ? "" : " " + words(OperationsText.firstOf(words.count(Int64(apps.count))))
        guard let first = silent.first?["app"]?.string else {
            return Sentence(mark: .ok, text: words(AppsText.allSend(words.count(Int64(used.count)))) + rest)
        }
        let text = AppsText.someSilent(words.count(Int64(silent.count)), words.count(Int64(used.count)), first)
        return Sentence(mark: .warn, text: words(text) + rest, link: Link(first, Link.path("apps", first)))
    }

    private static func platforms(_ app: JSON, _ words: Wording) -> String {
        let platforms = (app["platforms"]?.array ?? []).compactMap { platform -> String? in
            guard let name = platform["platform"]?.string else { return nil }
            return "\(name): \(words.text(platform["topic"]))"
        }
        return platforms.isEmpty ? Wording.unknown : platforms.joined(separator: " · ")
    }

    private static func state(_ app: JSON, _ words: Wording) -> Table.Cell {
        if app["retiredAt"]?.string != nil { return .tag(.idle, words(AppsText.removed)) }
        let environments = AppPage.environments(app)
        if environments.isEmpty { return .tag(.warn, words(AppsText.silent)) }
        return environments.contains("production")
            ? .tag(.ok, words(AppsText.inUse)) : .tag(.warn, words(AppsText.sandboxOnly))
    }

    private static func empty(_ request: PageRequest, _ words: Wording) -> EmptyState {
        EmptyState(
            title: words(AppsText.empty),
            step: words(AppsText.emptyStep),
            code: """
                tenants:
                  - id: \(request.tenant)
                    apps:
                      - id: shop
                        platforms:
                          ios: { topic: com.example.shop, production: apple }
                """,
            link: Link(words(CredentialsText.title), "credentials")
        )
    }
}
