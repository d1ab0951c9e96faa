import Model
import PageParts

/// The tenant's migrations, with the step of each.
struct MigrationsPage: ConsolePage {
    let path = "migrations"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, MigrationsText.title, .migration) }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("migrations"), let list = export(request) else { return [] }
        return [list]
    }

    func export(_ request: PageRequest) -> APICall? {
        var query = OperationsParts.page(request)
        if let app = request.value("app") { query.append(PageRequest.Parameter("app", app)) }
        return APICall("migrations", .get, "migrations", query: query)
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("migrations")
        let migrations = body["migrations"]?.array ?? []
        let table = Table(
            caption: words(MigrationsText.title),
            columns: [
                .init(label: words(MigrationsText.migration)), .init(label: words(OperationsText.state)),
                .init(label: words(OperationsText.app)), .init(label: words(MigrationsText.from)),
                .init(label: words(MigrationsText.step)), .init(label: words(MigrationsText.since)),
            ],
            rows: migrations.map { migration in
                let id = migration["id"]?.string ?? ""
                let status = migration["status"]?.string ?? ""
                return Table.Row(
                    cells: [
                        .link(Link(id, Link.path("migrations", id))),
                        .tag(MigrationsText.mark(status), words(MigrationsText.status(status))),
                        .text(words.text(migration["app"])), .mono(words.text(migration["from"])),
                        .text(words(MigrationsText.stage(migration["stage"]?.string ?? Wording.unknown))),
                        .text(words.time(migration["since"])),
                    ],
                    id: id
                )
            },
            next: OperationsParts.next(body["next"], request, path: "migrations"),
            empty: EmptyState(
                title: words(MigrationsText.empty),
                step: words(MigrationsText.emptyStep),
                code: "push-gateway migration plan plan.yaml --tenant \(request.tenant)"
            )
        )
        return PageContent(
            title: words(MigrationsText.title),
            sentence: Self.sentence(migrations, words),
            filters: [
                .text(
                    label: words(OperationsText.app),
                    parameter: "app",
                    value: request.value("app"),
                    placeholder: "shop"
                )
            ],
            blocks: [
                Block(title: words(MigrationsText.title), note: words(OperationsText.source), body: [.table(table)])
            ]
        )
    }

    /// The rule: a halted one, one that was rolled back, a complete step, then how many are in progress.
    private static func sentence(_ migrations: [JSON], _ words: Wording) -> Sentence {
        guard !migrations.isEmpty else { return Sentence(mark: .idle, text: words(MigrationsText.empty)) }
        for status in ["halted", "rolledBack"] {
            guard let one = migrations.first(where: { $0["status"]?.string == status }) else { continue }
            return MigrationPage.sentence(one, words, isList: true)
        }
        if let ready = migrations.first(where: { $0["ready"]?.bool == true }) {
            return MigrationPage.sentence(ready, words, isList: true)
        }
        let active = migrations.count { ["running", "paused", "rolledOut"].contains($0["status"]?.string) }
        guard active > 0 else { return Sentence(mark: .idle, text: words(MigrationsText.noneActive)) }
        return Sentence(mark: .info, text: words(MigrationsText.active(words.count(Int64(active)))))
    }
}
