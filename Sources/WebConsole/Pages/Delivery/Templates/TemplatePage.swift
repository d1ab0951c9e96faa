import Model
import PageParts

/// One template: edit, use, duplicate. `?copy` names the template whose content fills the form of a new one.
///
/// If another person changed it meanwhile, both versions are shown side by side and nothing typed is lost.
struct TemplatePage: ConsolePage {
    let path = "templates/{app}/{template}"
    let permission = Permission.send
    let forms: [any ConsoleForm] = [SaveTemplateForm(), DuplicateTemplateForm()]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        var calls = [APICall("template", .get, Self.path(request))]
        if request.typed.isEmpty, let copied = request.value(Self.copy) {
            calls.append(APICall("copied", .get, Self.path(request, of: copied)))
        }
        return Reading.open(calls, answers)
    }

    /// The parameter of the page of a new template that names the one to duplicate.
    static let copy = "copy"

    /// The path in the native API of this template, or of another one of its app.
    static func path(_ request: PageRequest, of template: String? = nil) -> String {
        Link.path("apps", request.path["app"] ?? "", "templates", template ?? request.path["template"] ?? "")
    }

    func export(_ request: PageRequest) -> APICall? { APICall("template", .get, Self.path(request)) }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        guard let answer = answers["template"] else { throw .notFound }
        // A template that does not exist is created by saving it.
        guard answer.isSuccess || answer.status == 404 else { throw .problem(answer) }
        let name = request.path["template"] ?? ""
        let (app, isNew) = (request.path["app"] ?? "", !answer.isSuccess)
        let stored = Composition(app: app, content: (isNew ? answers.body("copied") : answer.body)["content"] ?? .null)
        let tag = isNew ? "\"0\"" : answer.entityTag ?? Self.tag(answer.body)
        let typed = Self.isTyped(request) ? Composition(app: app, request.typed) : nil
        let isConflict = typed != nil && request.typed["revision"] != nil && request.typed["revision"] != tag
        var blocks: [Block] = []
        if isConflict, let typed {
            blocks += conflict(typed, stored, answer.body, tag, request)
        }
        // The version that the form shows: of a conflict, the one that it was opened with, so that saving it again is a decision.
        let revision = isConflict ? request.typed["revision"] ?? tag : tag
        let form = form(typed ?? stored, isNew: isNew, revision, request)
        let more = ComposePage.more(typed.flatMap { $0.more.isEmpty ? nil : $0 } ?? stored, language)
        blocks.append(Block(width: 8, title: TemplateText.template(language), body: [.form(form)] + more))
        blocks.append(variables(typed ?? stored, language))
        if !isNew, typed == nil { blocks.append(duplicate(request)) }
        var actions: [Action] = []
        if !isNew {
            let use = Link(TemplateText.use(language), "compose", [.init("app", app), .init("template", name)])
            actions.append(.link(use, isMain: true))
        }
        let all = Link(TemplateText.title(language), "templates", [.init("app", app)])
        actions.append(.link(all))
        return PageContent(
            title: Sending.line(name),
            sentence: sentence(answer.body, isNew: isNew, isConflict: isConflict, answers.body("copied"), request),
            actions: actions,
            blocks: blocks
        )
    }

    private static func tag(_ template: JSON) -> String { "\"\(template["revision"]?.int ?? 0)\"" }

    /// Whether the content was typed, instead of the name of a copy.
    private static func isTyped(_ request: PageRequest) -> Bool {
        let sent = request.typed[FormNames.form] ?? ""
        return !request.typed.isEmpty && !sent.hasSuffix("/" + DuplicateTemplateForm().name)
    }

    private func sentence(
        _ template: JSON,
        isNew: Bool,
        isConflict: Bool,
        _ copied: JSON,
        _ request: PageRequest
    ) -> Sentence {
        let language = request.language
        let author = Sending.author(template["changedBy"]?.string)
        let time = template.time("changedAt").map { ConsoleFormat(request).dateTime($0) } ?? "–"
        if isConflict {
            return isNew
                ? Sentence(mark: .warn, text: TemplateText.removedMeanwhile(language))
                : Sentence(mark: .warn, text: TemplateText.conflict(author, time)(language))
        }
        if isNew, let name = copied["name"]?.string {
            return Sentence(mark: .info, text: TemplateText.copied(Sending.line(name))(language))
        }
        return isNew
            ? Sentence(mark: .info, text: TemplateText.unknown(language))
            : Sentence(mark: .ok, text: TemplateText.saved(author, time)(language))
    }

    /// Both versions side by side, and a button for each.
    private func conflict(
        _ mine: Composition,
        _ stored: Composition,
        _ template: JSON,
        _ tag: String,
        _ request: PageRequest
    ) -> [Block] {
        let language = request.language
        let author = Sending.author(template["changedBy"]?.string)
        let keep = FormView(
            path: Link.path("templates", mine.app, request.path["template"] ?? "", "save"),
            fields: Sending.hidden(
                [
                    ("title", mine.title), ("body", mine.body), ("campaign", mine.campaign), ("image", mine.image),
                    ("revision", tag),
                ] + (mine.isUrgent ? [("urgent", "on")] : []) + mine.hidden
            ),
            submit: TemplateText.keepMine(language)
        )
        let theirs = Link(
            TemplateText.keepTheirs(language),
            Link.path("templates", mine.app, request.path["template"] ?? "")
        )
        return [
            Block(
                width: 6,
                title: TemplateText.mine(language),
                body: [.facts(Self.facts(mine, language)), .form(keep)]
            ),
            Block(
                width: 6,
                title: TemplateText.theirs(author)(language),
                body: [.facts(Self.facts(stored, language)), .actions([.link(theirs)])]
            ),
            Block(
                title: TemplateText.difference(language),
                body: [
                    .difference(
                        LineDifference.lines(from: Self.text(stored, language), to: Self.text(mine, language))
                    )
                ]
            ),
        ]
    }

    private static func facts(_ composition: Composition, _ language: Language) -> [Fact] {
        [
            Fact(label: ComposeText.messageTitle(language), value: composition.title),
            Fact(label: ComposeText.body(language), value: composition.body),
            Fact(label: ComposeText.campaign(language), value: composition.campaign),
        ]
    }

    private static func text(_ composition: Composition, _ language: Language) -> String {
        let urgent = composition.isUrgent ? [ComposeText.urgent(language)] : []
        return ([composition.title, composition.body, composition.campaign] + urgent).joined(separator: "\n")
    }

    /// Saving a stored template keeps the members that the form does not have. The form of a copy carries them.
    private func form(
        _ composition: Composition,
        isNew: Bool,
        _ revision: String,
        _ request: PageRequest
    ) -> FormView {
        let language = request.language
        return FormView(
            path: Link.path("templates", composition.app, request.path["template"] ?? "", "save"),
            fields: [
                FormView.Field(
                    name: "title",
                    label: ComposeText.messageTitle(language),
                    kind: .text(),
                    value: composition.title,
                    limit: Composition.Limits.title
                ),
                FormView.Field(
                    name: "body",
                    label: ComposeText.body(language),
                    kind: .area(rows: 8),
                    value: composition.body,
                    hint: ComposeText.bodyHint(language),
                    limit: Composition.Limits.body
                ),
                FormView.Field(
                    name: "campaign",
                    label: ComposeText.campaign(language),
                    kind: .text(),
                    value: composition.campaign,
                    hint: ComposeText.campaignHint(language),
                    limit: 128
                ),
                ComposePage.urgent(composition, language),
            ]
                + Sending.hidden(
                    [("revision", revision), ("image", composition.image)] + (isNew ? composition.hidden : [])
                ),
            submit: TemplateText.save(language)
        )
    }

    private func variables(_ composition: Composition, _ language: Language) -> Block {
        let names = composition.names
        let part: Part =
            names.isEmpty
            ? .text(TemplateText.noVariables(language))
            : .facts(names.map { Fact(label: TemplateText.variable(language), value: $0, link: nil, isMono: true) })
        return Block(width: 4, title: TemplateText.variables(language), body: [part])
    }

    private func duplicate(_ request: PageRequest) -> Block {
        let language = request.language
        let form = FormView(
            path: Link.path("templates", request.path["app"] ?? "", request.path["template"] ?? "", "duplicate"),
            fields: [TemplatesPage.nameField(language)],
            submit: TemplateText.duplicate(language)
        )
        return Block(width: 4, title: TemplateText.duplicate(language), body: [.form(form)])
    }
}

/// Opens the page of a new template with the content of this one. Saving it there creates it.
struct DuplicateTemplateForm: ConsoleForm {
    let name = "duplicate"
    let permission = Permission.send

    /// The template that may have the name already.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        guard let name = NewTemplateForm.name(fields) else { return [] }
        return Reading.open([APICall("taken", .get, TemplatePage.path(request, of: name))], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let name = NewTemplateForm.name(fields) else {
            return .invalid(FieldErrors(["name": TemplateText.nameHint(request.language)]))
        }
        if let taken = answers["taken"] {
            if taken.isSuccess { return .invalid(FieldErrors(["name": TemplateText.taken(request.language)])) }
            if taken.status != 404 { return .invalid(FieldErrors(taken)) }
        }
        let copied = PageRequest.Parameter(TemplatePage.copy, request.path["template"] ?? "")
        return .go(Link("", Link.path("templates", request.path["app"] ?? "", name), [copied]))
    }
}

/// Saves a template unless another person has changed it since it was opened.
struct SaveTemplateForm: ConsoleForm {
    let name = "save"
    let permission = Permission.send
    let bodyLimitBytes = Composition.Limits.formBytes

    /// The stored template: its members that the form does not have are kept.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        answers.has("stored") ? [] : [APICall("stored", .get, TemplatePage.path(request))]
    }

    /// The content, with the stored members that the form does not have. If another person has changed the template meanwhile, the API refuses the version.
    private func content(_ composition: Composition, over stored: JSON?) -> JSON {
        var object = composition.content.object ?? JSONObject()
        for (name, value) in stored?.object?.pairs ?? [] where !Composition.members.contains(name) {
            // Members that the form of a copy carries have precedence.
            if object[name] == nil { object[name] = value }
        }
        return .object(object)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let language = request.language
        let composition = Composition(app: request.path["app"] ?? "", fields)
        if let stored = answers["stored"], !stored.isSuccess, stored.status != 404 {
            return .invalid(FieldErrors(stored))
        }
        let saved = content(composition, over: answers.body("stored")["content"])
        var faults: [String: String] = [:]
        if Composition(app: composition.app, content: saved).isEmpty {
            faults["body"] = ComposeText.stateText(language)
        }
        if composition.title.utf8.count > Composition.Limits.title {
            faults["title"] = ComposeText.tooLong(Composition.Limits.title)(language)
        }
        if composition.body.utf8.count > Composition.Limits.body {
            faults["body"] = ComposeText.tooLong(Composition.Limits.body)(language)
        }
        guard faults.isEmpty else { return .invalid(FieldErrors(faults)) }
        return .call(
            APICall(
                "save",
                .put,
                TemplatePage.path(request),
                body: ["content": saved],
                ifMatch: fields["revision"].flatMap { $0.isEmpty ? nil : $0 } ?? "\"0\""
            )
        )
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        if answer.isSuccess { return .back(TemplateText.isSaved) }
        guard answer.status == 412 else { return .invalid(FieldErrors(answer)) }
        return .invalid(FieldErrors(["": TemplateText.changedMeanwhile(request.language)]))
    }
}
