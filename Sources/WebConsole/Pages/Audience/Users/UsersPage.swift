import Model
import PageParts

/// The users of an app and vendor.
struct UsersPage: ConsolePage {
    let path = "users"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.audience, UserText.list, .users)

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let listed = Reading.knownApp(request, answers).map { [list(request, app: $0)] } ?? []
        return Reading.open([Reading.apps, Reading.vendors] + listed, answers)
    }

    private func list(_ request: PageRequest, app: String) -> APICall {
        Reading.get(
            "users",
            "apps/\(APICall.segment(app))/users",
            [Reading.rows, ("vendor", request.value("vendor")), ("after", request.value("after"))]
        )
    }

    func export(_ request: PageRequest) -> APICall? { request.value("app").map { list(request, app: $0) } }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        guard let app = Reading.app(request, answers) else { return ReadingWords.noApp(UserText.list, language) }
        let page = try answers.required("users")
        let words = Words(request)
        let users = page["users"]?.array ?? []
        let vendor = request.value("vendor") ?? "native"
        let without = users.filter { $0["devices"]?.int == 0 }.count
        let rows = users.map { user in
            Table.Row(cells: [
                .link(UserPage.link(user["user"]?.string ?? "", app, vendor)), .text(words.count(user["devices"])),
            ])
        }
        let table = Table(
            caption: words(UserText.caption),
            columns: [.init(label: words(UserText.user)), .init(label: words(UserText.devices), isNumber: true)],
            rows: rows,
            next: Reading.next(page, path, request),
            empty: EmptyState(title: words(UserText.empty), step: words(UserText.emptyStep))
        )
        let shown = words.count(Int64(users.count))
        let text =
            users.isEmpty
            ? UserText.empty
            : without == 0 ? UserText.all(shown) : UserText.count(shown, words.count(Int64(without)))
        var content = PageContent(
            title: words(UserText.list),
            sentence: Sentence(mark: without == 0 && !users.isEmpty ? .ok : .info, text: words(text)),
            blocks: [
                Block(
                    title: Reading.line(app),
                    note: words(ReadingWords.sourceGateway),
                    body: [.table(table)]
                )
            ]
        )
        content.filters = [
            Reading.appFilter(request, answers, all: false), Reading.vendorFilter(request, answers, all: false),
        ]
        return content
    }
}
