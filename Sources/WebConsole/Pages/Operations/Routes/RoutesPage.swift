import Model
import PageParts

/// The apps with their rules.
struct RoutesPage: ConsolePage {
    let path = "routes"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, RoutesText.title, .routes) }

    /// Apps whose rules one page reads, within the calls that a page may make.
    private static let apps = 12

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard answers.has("apps") else {
            var query = [PageRequest.Parameter("limit", String(Self.apps))]
            if let after = request.value("after") { query.append(PageRequest.Parameter("after", after)) }
            return [APICall("apps", .get, "apps", query: query)]
        }
        return Self.names(answers).filter { !answers.has("routes-\($0)") }.map { app in
            APICall("routes-\(app)", .get, "apps/\(APICall.segment(app))/routes")
        }
    }

    private static func names(_ answers: Answers) -> [String] {
        let apps = answers.body("apps")["apps"]?.array ?? []
        return apps.filter { $0["retiredAt"]?.string == nil }.compactMap { $0["app"]?.string }.prefix(Self.apps).map {
            $0
        }
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("apps")
        let names = Self.names(answers)
        let rows = names.map { Self.row($0, answers.body("routes-\($0)"), words) }
        let withRules = names.count { answers.body("routes-\($0)")["version"]?.int != nil }
        let table = Table(
            caption: words(RoutesText.title),
            columns: [
                .init(label: words(OperationsText.app)), .init(label: words(RoutesText.version), isNumber: true),
                .init(label: words(RoutesText.callRules), isNumber: true),
                .init(label: words(RoutesText.deliveryRules), isNumber: true),
                .init(label: words(OperationsText.origin)), .init(label: words(OperationsText.time)),
            ],
            rows: rows,
            next: OperationsParts.next(body["next"], request, path: "routes"),
            empty: EmptyState(
                title: words(RoutesText.empty),
                step: words(RoutesText.emptyStep),
                link: Link(words(AppsText.title), "apps")
            )
        )
        let count = words.count(Int64(withRules))
        let sentence =
            withRules == 0 ? RoutesText.noApps : RoutesText.someApps(count, words.count(Int64(names.count)))
        return PageContent(
            title: words(RoutesText.title),
            sentence: Sentence(mark: .info, text: words(sentence)),
            blocks: [Block(title: words(RoutesText.title), note: words(OperationsText.source), body: [.table(table)])]
        )
    }

    private static func row(_ app: String, _ routes: JSON, _ words: Wording) -> Table.Row {
        let hasRules = routes["version"]?.int != nil
        let rules = routes["rules"]
        return Table.Row(
            cells: [
                .link(Link(app, Link.path("apps", app, "routes"))), .text(words.count(routes["version"])),
                .text(hasRules ? words.count(Int64(rules?["calls"]?.array?.count ?? 0)) : Wording.unknown),
                .text(hasRules ? words.count(Int64(rules?["deliveries"]?.array?.count ?? 0)) : Wording.unknown),
                .text(hasRules ? words(RoutesText.origin(routes["origin"]?.string)) : words(RoutesText.noRules)),
                .text(words.time(routes["madeAt"])),
            ],
            id: app
        )
    }
}
