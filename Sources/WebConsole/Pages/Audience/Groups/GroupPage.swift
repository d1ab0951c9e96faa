import Model
import PageParts

/// A group: its members, a form that changes them, and its deletion.
struct GroupPage: ConsolePage {
    let path = "groups/{group}"
    let permission = Permission.figures
    let forms: [any ConsoleForm] = [MembersForm(), UploadMembersForm(), DeleteGroupForm()]

    static func link(_ group: String, _ app: String?, _ vendor: String?) -> Link {
        let query = [("app", app), ("vendor", vendor)].compactMap { name, value in
            value.map { PageRequest.Parameter(name, $0) }
        }
        return Link(group.isEmpty ? Words.unknown : Reading.line(group, 80), Link.path("groups", group), query)
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard answers.has("apps") || request.value("app") != nil else { return [Reading.apps] }
        guard let base = base(request, answers) else { return [] }
        let vendor = ("vendor", UserPage.vendor(request))
        return Reading.open(
            [
                Reading.get("group", base, [vendor]), list(base, Reading.rows, request),
            ],
            answers
        )
    }

    private func list(_ base: String, _ rows: (String, String?), _ request: PageRequest) -> APICall {
        let query = [rows, ("vendor", UserPage.vendor(request)), ("after", request.value("after"))]
        return Reading.get("members", "\(base)/members", query)
    }

    private func base(_ request: PageRequest, _ answers: Answers) -> String? {
        guard let app = Reading.app(request, answers) else { return nil }
        return "apps/\(APICall.segment(app))/groups/\(APICall.segment(request.path["group"] ?? ""))"
    }

    func export(_ request: PageRequest) -> APICall? {
        // As many as a form changes: a downloaded table can be edited and uploaded.
        let rows: (String, String?) =
            request.fileFormat == .csv ? ("limit", String(GroupForms.userLimit)) : Reading.rows
        return base(request, Answers()).map { list($0, rows, request).exported(by: request) }
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        guard let app = Reading.app(request, answers) else {
            return ReadingWords.noApp(GroupsText.group, request.language)
        }
        let group = try answers.required("group")
        let words = Words(request)
        let name = group["group"]?.string ?? request.path["group"] ?? ""
        let vendor = UserPage.vendor(request) ?? "native"
        let isEditor = request.account.may(.send)
        var blocks: [Block] = []
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(GroupsText.delete),
                    text: words(GroupsText.deleteQuestion(Reading.line(name, 80), words.count(group["members"]))),
                    submit: words(GroupsText.delete),
                    path: Link.path("groups", name, "delete"),
                    back: Link.path("groups", name)
                )
            )
        }
        let visible = UploadMembersForm.fieldNames.union(["add", "remove"])
        if let errors = FormProblems.block(request, visible: visible) { blocks.append(errors) }
        blocks.append(members(name, app, vendor, answers, request))
        if isEditor { blocks += [change(name, app, vendor, words), upload(name, app, vendor, words)] }
        let count = Reading.number(group["members"])
        let text = count == 0 ? GroupsText.noMembers : GroupsText.has(words.count(count))
        var page = PageContent(
            title: "\(words(GroupsText.group)) \(Reading.line(name, 80))",
            sentence: Sentence(mark: count == 0 ? .info : .ok, text: words(text)),
            blocks: blocks
        )
        if isEditor {
            let query = [PageRequest.Parameter("app", app), PageRequest.Parameter("group", name)]
            page.actions = [
                .link(Link(words(GroupsText.send), "compose", query), isMain: true),
                Confirmation.button(
                    words(GroupsText.delete),
                    "delete",
                    path: Link.path("groups", name, "delete"),
                    fields: [PageRequest.Parameter("app", app), PageRequest.Parameter("vendor", vendor)]
                ),
            ]
        }
        return page
    }

    private func members(
        _ name: String,
        _ app: String,
        _ vendor: String,
        _ answers: Answers,
        _ request: PageRequest
    ) -> Block {
        let words = Words(request)
        let page = answers.body("members")
        if let problem = Reading.problem(answers["members"], words.language) {
            return Block(title: words(GroupsText.members), body: [problem])
        }
        // The button sends the user's id, which an account without this permission sees masked.
        let isEditor = request.account.may(.send) && request.account.may(.personal)
        let path = Link.path("groups", name)
        let rows = (page["members"]?.array ?? []).map { member -> Table.Row in
            let user = member["user"]?.string ?? ""
            let isRegistered = member["registered"]?.bool == true
            var cells: [Table.Cell] = [
                .link(UserPage.link(user, app, vendor)), .text(Reading.text(member["phone"]) ?? Words.unknown),
                .text(Reading.text(member["name"]) ?? Words.unknown),
                .tag(
                    isRegistered ? .ok : .idle,
                    words(isRegistered ? GroupsText.registered : GroupsText.unregistered)
                ),
            ]
            if isEditor {
                let fields = [
                    PageRequest.Parameter("app", app), PageRequest.Parameter("vendor", vendor),
                    PageRequest.Parameter("remove", user),
                ]
                let label = words(GroupsText.removeOne)
                cells.append(
                    .actions([.post(label: label, path: Link.path("groups", name, "members"), fields: fields)])
                )
            }
            return Table.Row(cells: cells)
        }
        let facts = [GroupsText.user, DeviceText.phone, DeviceText.name, ReadingWords.app]
        let columns = facts + (isEditor ? [DeviceText.actions] : [])
        let table = Table(
            caption: words(GroupsText.members),
            columns: columns.map { Table.Column(label: words($0)) },
            rows: rows,
            next: Reading.next(page, path, request),
            empty: EmptyState(title: words(GroupsText.noMembers), step: words(GroupsText.noMembersStep))
        )
        return Block(
            width: 8,
            title: words(GroupsText.members),
            note: words(ReadingWords.sourceGateway),
            body: [.table(table)]
        )
    }

    private func change(_ name: String, _ app: String, _ vendor: String, _ words: Words) -> Block {
        func area(_ name: String, _ label: Text) -> FormView.Field {
            FormView.Field(
                name: name,
                label: words(label),
                kind: .area(rows: 4),
                hint: words(GroupsText.usersHint),
                limit: 60_000
            )
        }
        let form = FormView(
            path: Link.path("groups", name, "members"),
            fields: UserForms.hidden(app, vendor) + [area("add", GroupsText.add), area("remove", GroupsText.remove)],
            submit: words(GroupsText.change)
        )
        return Block(width: 4, title: words(GroupsText.change), body: [.form(form)])
    }

    private func upload(_ name: String, _ app: String, _ vendor: String, _ words: Words) -> Block {
        let form = UploadMembersForm.view(name, UserForms.hidden(app, vendor), words)
        return Block(width: 4, title: words(GroupsText.upload), body: [.form(form)])
    }
}

/// The common parts of the forms about groups.
enum GroupForms {
    /// 1,000 users, the limit of a call.
    static let userLimit = 1000

    /// The users of a text with one per line.
    static func users(_ text: String?) -> [String] {
        (text ?? "").split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty }
    }
}

/// Adds and removes members.
struct MembersForm: ConsoleForm {
    let name = "members"
    let permission = Permission.send
    /// 512 KiB: 1,000 users of 256 bytes, percent-coded.
    static let limitBytes = 512 << 10
    let bodyLimitBytes = MembersForm.limitBytes

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let (add, remove) = (GroupForms.users(fields["add"]), GroupForms.users(fields["remove"]))
        guard !add.isEmpty || !remove.isEmpty else {
            return .invalid(FieldErrors(["add": GroupsText.nobody(request.language)]))
        }
        guard add.count + remove.count <= GroupForms.userLimit else {
            return .invalid(FieldErrors(["add": GroupsText.tooMany(request.language)]))
        }
        return Self.step(request, fields, add: add, remove: remove)
    }

    /// The call that changes the members.
    static func step(_ request: PageRequest, _ fields: FormFields, add: [String], remove: [String]) -> FormStep {
        guard let app = UserForms.app(request, fields) else { return UserForms.withoutApp(request) }
        let group = APICall.segment(request.path["group"] ?? "")
        let body: JSON = [
            "add": .array(add.map { .string($0) }), "remove": .array(remove.map { .string($0) }),
        ]
        let path = "apps/\(APICall.segment(app))/groups/\(group)/members"
        return .call(APICall("change", .post, path, query: UserForms.vendor(request, fields), body: body))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        let vendor = UserForms.vendor(request, fields).first?.value
        let link = GroupPage.link(request.path["group"] ?? "", UserForms.app(request, fields), vendor)
        let words = Words(request)
        return .go(link, GroupsText.changed(words.count(answer.body["added"]), words.count(answer.body["removed"])))
    }
}

/// Deletes a group, after a confirmation.
struct DeleteGroupForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.send

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        guard let app = UserForms.app(request, fields) else { return UserForms.withoutApp(request) }
        let path = "apps/\(APICall.segment(app))/groups/\(APICall.segment(request.path["group"] ?? ""))"
        return .call(APICall("delete", .delete, path, query: UserForms.vendor(request, fields)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(GroupsText.title(request.language), "groups"), GroupsText.didDelete)
    }
}
