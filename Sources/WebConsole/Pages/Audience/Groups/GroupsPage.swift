import Model
import PageParts

/// The groups of an app and vendor, with a form that creates one.
struct GroupsPage: ConsolePage {
    let path = "groups"
    let permission = Permission.figures
    let menu: MenuEntry? = MenuEntry(.audience, GroupsText.title, .groups)
    let forms: [any ConsoleForm] = [CreateGroupForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let listed = Reading.knownApp(request, answers).map { [list(request, app: $0)] } ?? []
        return Reading.open([Reading.apps, Reading.vendors] + listed, answers)
    }

    private func list(_ request: PageRequest, app: String) -> APICall {
        Reading.get(
            "groups",
            "apps/\(APICall.segment(app))/groups",
            [Reading.rows, ("vendor", UserPage.vendor(request)), ("after", request.value("after"))]
        )
    }

    func export(_ request: PageRequest) -> APICall? { request.value("app").map { list(request, app: $0) } }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        guard let app = Reading.app(request, answers) else {
            return ReadingWords.noApp(GroupsText.title, request.language)
        }
        let page = try answers.required("groups")
        let words = Words(request)
        let groups = page["groups"]?.array ?? []
        let vendor = UserPage.vendor(request) ?? "native"
        let table = Table(
            caption: words(GroupsText.caption),
            columns: [
                .init(label: words(GroupsText.group)), .init(label: words(GroupsText.members), isNumber: true),
                .init(label: words(GroupsText.created)),
            ],
            rows: groups.map { group in
                Table.Row(cells: [
                    .link(GroupPage.link(group["group"]?.string ?? "", app, vendor)),
                    .text(words.count(group["members"])),
                    .text(words.time(group["createdAt"])),
                ])
            },
            next: Reading.next(page, path, request),
            empty: EmptyState(title: words(GroupsText.empty), step: words(GroupsText.emptyStep))
        )
        var blocks = [
            Block(
                title: Reading.line(app),
                note: words(ReadingWords.sourceGateway),
                body: [.table(table)]
            )
        ]
        if request.account.may(.send) { blocks.append(create(app, vendor, words)) }
        var content = PageContent(title: words(GroupsText.title), sentence: sentence(groups, words), blocks: blocks)
        content.filters = [
            Reading.appFilter(request, answers, all: false), Reading.vendorFilter(request, answers, all: false),
        ]
        return content
    }

    private func sentence(_ groups: [JSON], _ words: Words) -> Sentence {
        guard !groups.isEmpty else { return Sentence(mark: .info, text: words(GroupsText.empty)) }
        let empty = groups.filter { $0["members"]?.int == 0 }.count
        let count = words.count(Int64(groups.count))
        guard empty > 0 else { return Sentence(mark: .ok, text: words(GroupsText.all(count))) }
        return Sentence(mark: .info, text: words(GroupsText.count(count, words.count(Int64(empty)))))
    }

    private func create(_ app: String, _ vendor: String, _ words: Words) -> Block {
        let form = FormView(
            path: Link.path("groups", "create"),
            fields: UserForms.hidden(app, vendor) + [
                FormView.Field(
                    name: "group",
                    label: words(GroupsText.name),
                    kind: .text(placeholder: "early birds"),
                    isRequired: true,
                    limit: 128
                )
            ],
            submit: words(GroupsText.create)
        )
        return Block(width: 6, title: words(GroupsText.create), body: [.form(form)])
    }
}

/// Creates a group.
struct CreateGroupForm: ConsoleForm {
    let name = "create"
    let permission = Permission.send

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let group = fields["group"], !group.isEmpty else {
            return .invalid(FieldErrors(["group": ReadingWords.required(request.language)]))
        }
        guard let app = UserForms.app(request, fields) else { return UserForms.withoutApp(request) }
        let path = "apps/\(APICall.segment(app))/groups/\(APICall.segment(group))"
        return .call(APICall("create", .put, path, query: UserForms.vendor(request, fields)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let group = fields["group"] else { return .invalid(FieldErrors(answer)) }
        let vendor = UserForms.vendor(request, fields).first?.value
        let notice = answer.status == 201 ? GroupsText.didCreate : GroupsText.exists
        return .go(GroupPage.link(group, UserForms.app(request, fields), vendor), notice)
    }
}
