import Model
import PageParts

/// The templates and drafts of an app.
struct TemplatesPage: ConsolePage {
    let path = "templates"
    let permission = Permission.send
    let menu: MenuEntry? = MenuEntry(.delivery, TemplateText.title, .templates)
    let forms: [any ConsoleForm] = [NewTemplateForm(), RemoveTemplateForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        var calls = [Sending.apps]
        if answers.has("apps"), let app = Sending.app(request, answers) { calls.append(list(request, app)) }
        return Reading.open(calls, answers)
    }

    private func list(_ request: PageRequest, _ app: String) -> APICall {
        var query = [PageRequest.Parameter("limit", "\(ConsoleLimits.rows)")]
        if let after = request.value("after") { query.append(.init("after", after)) }
        return APICall("templates", .get, Link.path("apps", app, "templates"), query: query)
    }

    func export(_ request: PageRequest) -> APICall? { request.value("app").map { list(request, $0) } }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        _ = try answers.required("apps")
        guard let app = Sending.app(request, answers) else {
            return SendingText.withoutApp(TemplateText.title(language), language)
        }
        let answer = try answers.required("templates")
        let all = answer["templates"]?.array ?? []
        let drafts = all.filter { Self.isDraft($0) }
        let templates = all.filter { !Self.isDraft($0) }
        let next = answer["next"]?.string.map {
            Link(SendingText.next(language), "templates", [.init("app", app), .init("after", $0)])
        }
        var table = table(templates, app, request, isDrafts: false)
        table.next = next
        table.empty = EmptyState(title: TemplateText.none(app)(language), step: TemplateText.how(language))
        var blocks = [
            Block(
                width: 8,
                title: TemplateText.title(language),
                note: SendingText.gateway(language),
                body: [.table(table)]
            ),
            Block(width: 4, title: TemplateText.new(language), body: [.form(form(app, language))]),
        ]
        if !drafts.isEmpty {
            let table = self.table(drafts, app, request, isDrafts: true)
            blocks.append(Block(title: TemplateText.drafts(language), body: [.table(table)]))
        }
        let isMore = next != nil
        return PageContent(
            title: TemplateText.title(language),
            sentence: templates.isEmpty
                ? Sentence(mark: .idle, text: TemplateText.none(app)(language))
                : Sentence(mark: .ok, text: TemplateText.count(templates.count, app, isMore: isMore)(language)),
            filters: Sending.appFilter(request, answers),
            blocks: blocks
        )
    }

    private static func isDraft(_ template: JSON) -> Bool {
        template["name"]?.string?.hasPrefix(Sending.draftPrefix) == true
    }

    private func table(_ items: [JSON], _ app: String, _ request: PageRequest, isDrafts: Bool) -> Table {
        let language = request.language
        let format = ConsoleFormat(request)
        return Table(
            caption: (isDrafts ? TemplateText.drafts : TemplateText.title)(language),
            columns: [
                .init(label: TemplateText.name(language)), .init(label: ComposeText.messageTitle(language)),
                .init(label: TemplateText.changed(language)), .init(label: TemplateText.by(language)),
                .init(label: TemplateText.action(language)),
            ],
            rows: items.compactMap { row($0, app, format, isDraft: isDrafts) }
        )
    }

    private func row(_ item: JSON, _ app: String, _ format: ConsoleFormat, isDraft: Bool) -> Table.Row? {
        guard let name = item["name"]?.string else { return nil }
        let language = format.language
        let title =
            [item["content"]?["title"]?.string, item["content"]?["body"]?.string]
            .compactMap { $0?.trimmed }.first { !$0.isEmpty } ?? "–"
        let parameter = isDraft ? "draft" : "template"
        let use = Link(
            (isDraft ? TemplateText.resume : TemplateText.use)(language),
            "compose",
            [.init("app", app), .init(parameter, name)]
        )
        // The first column leads to what a person does with the row: a draft is continued, a template is edited.
        let own =
            isDraft
            ? Link(Sending.line(title), use.path, use.query)
            : Link(Sending.line(name), Link.path("templates", app, name))
        let fields = [
            PageRequest.Parameter("app", app), .init("name", name),
            .init("revision", item["revision"]?.int.map { "\"\($0)\"" } ?? ""),
        ]
        let remove = Action.post(
            label: TemplateText.remove(language),
            path: "templates/remove",
            fields: fields,
            isDangerous: true
        )
        return Table.Row(
            cells: [
                .link(own), .text(Sending.line(title)),
                .text(item.time("changedAt").map { format.dateTime($0) } ?? "–"),
                .text(Sending.author(item["changedBy"]?.string)), .actions([.link(use), remove]),
            ],
            id: "template-\(name)"
        )
    }

    private func form(_ app: String, _ language: Language) -> FormView {
        FormView(
            path: "templates/new",
            fields: [Self.nameField(language)] + Sending.hidden([("app", app)]),
            submit: TemplateText.create(language)
        )
    }

    /// The name of a new template.
    static func nameField(_ language: Language) -> FormView.Field {
        FormView.Field(
            name: "name",
            label: TemplateText.name(language),
            kind: .text(),
            hint: TemplateText.nameHint(language),
            isRequired: true,
            limit: TemplateText.nameLimit
        )
    }
}

/// Opens the page of a template that does not exist yet.
struct NewTemplateForm: ConsoleForm {
    let name = "new"
    let permission = Permission.send

    /// The name that was typed; nil: no template may have it.
    static func name(_ fields: FormFields) -> String? {
        let name = (fields["name"] ?? "").trimmed
        let isName =
            !name.isEmpty && name.utf8.count <= TemplateText.nameLimit && !name.hasPrefix(Sending.draftPrefix)
        return isName ? name : nil
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let app = fields["app"], let name = Self.name(fields) else {
            return .invalid(FieldErrors(["name": TemplateText.nameHint(request.language)]))
        }
        return .go(Link("", Link.path("templates", app, name)))
    }
}

/// Removes a template or a draft in the version that was shown.
struct RemoveTemplateForm: ConsoleForm {
    let name = "remove"
    let permission = Permission.send

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let app = fields["app"], let name = fields["name"] else {
            return .invalid(FieldErrors(["": TemplateText.gone(request.language)]))
        }
        let revision = fields["revision"].flatMap { $0.isEmpty ? nil : $0 }
        return .call(APICall("remove", .delete, Link.path("apps", app, "templates", name), ifMatch: revision))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        let list = Link("", "templates", [.init("app", fields["app"] ?? "")])
        if answer.isSuccess { return .go(list, TemplateText.removed) }
        switch answer.status {
        case 404: return .go(list, TemplateText.gone)
        case 412: return .invalid(FieldErrors(["": TemplateText.changedMeanwhile(request.language)]))
        default: return .invalid(FieldErrors(answer))
        }
    }
}
