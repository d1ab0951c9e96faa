import Model
import PageParts

/// Composes a message: recipients, content, time, review. The form carries what was typed, so that the page works without scripts.
///
/// `?app`, `?template`, `?draft` and `?from` (a message to duplicate) fill the form. The form is sent to `review`, which shows the page again with the
/// number of recipients; only that page has the button that sends. `preview` shows each format's payload; the script sends it while a person types, and
/// changes the cards of the page in place. So the cards have a fixed order, and a preview takes the button away: what would be sent is what was reviewed.
struct ComposePage: ConsolePage {
    let path = "compose"
    let permission = Permission.send
    let menu: MenuEntry? = MenuEntry(.delivery, ComposeText.title, .compose, key: "c")
    let forms: [any ConsoleForm] = [ReviewForm(), PreviewForm(), SendForm(), SendTestForm(), DraftForm()]

    /// The page with the content of a message, in the app of the message.
    static func link(_ label: String, with message: JSON, _ id: String) -> Link {
        let app = message["app"]?.string.map { [PageRequest.Parameter("app", $0)] } ?? []
        return Link(label, "compose", app + [PageRequest.Parameter("message", id)])
    }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard answers.has("apps"), let app = Sending.app(request, answers) else {
            return Reading.open([Sending.apps], answers)
        }
        let many = [PageRequest.Parameter("limit", "\(Sending.choices)")]
        var calls = [
            APICall("groups", .get, Link.path("apps", app, "groups"), query: many),
            APICall("templates", .get, Link.path("apps", app, "templates"), query: many),
        ]
        if request.typed.isEmpty {
            calls += Self.source(request, app)
        } else {
            calls += Review.calls(Composition(app: app, request.typed), request, answers)
        }
        return Reading.open(calls, answers)
    }

    /// The object that fills the form.
    private static func source(_ request: PageRequest, _ app: String) -> [APICall] {
        if let name = request.value("draft") ?? request.value("template") {
            return [APICall("source", .get, Link.path("apps", app, "templates", name))]
        }
        if let message = request.value("message") { return [APICall("source", .get, Link.path("messages", message))] }
        return []
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let language = request.language
        _ = try answers.required("apps")
        guard let app = Sending.app(request, answers) else {
            return SendingText.withoutApp(ComposeText.title(language), language)
        }
        let composition = composition(request, answers, app)
        let review = Review(composition, request, answers)
        var blocks = [
            Block(
                width: 8,
                title: ComposeText.message(language),
                body: Self.lost(request, answers) + [.form(form(composition, request, answers))]
                    + Self.more(composition, language)
            ),
            Self.preview(composition, language),
            Block(title: ComposeText.payloads(language), note: SendingText.gateway(language), body: review.payloads),
        ]
        if !request.typed.isEmpty {
            blocks.append(
                Block(
                    title: ComposeText.review(language),
                    note: ComposeText.recipientNote(language),
                    body: review.decision
                )
            )
        }
        return PageContent(
            title: ComposeText.title(language),
            sentence: review.sentence,
            filters: Sending.appFilter(request, answers) + templates(request, answers),
            blocks: blocks
        )
    }

    /// The typed message; otherwise the one that the address names.
    private func composition(_ request: PageRequest, _ answers: Answers, _ app: String) -> Composition {
        if !request.typed.isEmpty { return Composition(app: app, request.typed) }
        let source = answers.body("source")
        var composition = Composition(app: app, content: Self.content(of: source) ?? Self.texts(of: source))
        if let group = request.value("group") { (composition.audience, composition.group) = (.group, group) }
        if let search = request.value("search") { (composition.audience, composition.search) = (.search, search) }
        return composition
    }

    /// The whole content of a template or a message; nil: the API does not have it, or the account may not see all of it.
    private static func content(of source: JSON) -> JSON? {
        source["content"].flatMap { $0.object == nil ? nil : $0 }
    }

    /// A note if only the texts of an earlier message are taken.
    private static func lost(_ request: PageRequest, _ answers: Answers) -> [Part] {
        guard request.typed.isEmpty, request.value("message") != nil, answers["source"]?.isSuccess == true,
            content(of: answers.body("source")) == nil
        else { return [] }
        return [.callout(.info, ComposeText.textsAlone(request.language), link: nil)]
    }

    /// The members of a message's answer that are part of its content.
    private static func texts(of message: JSON) -> JSON {
        let names = ["title", "body", "campaign", "variant"]
        let pairs = names.compactMap { name -> (String, JSON)? in message[name]?.string.map { (name, .string($0)) } }
        return .object(JSONObject(pairs))
    }

    /// The members that the form does not have. They are sent too, so a person should see them.
    static func more(_ composition: Composition, _ language: Language) -> [Part] {
        guard !composition.more.isEmpty else { return [] }
        let text = JSONWriter.text(.object(composition.more))
        return [.text(ComposeText.moreNote(language)), .code(text, label: ComposeText.more(language))]
    }

    private func templates(_ request: PageRequest, _ answers: Answers) -> [Filter] {
        let names = (answers.body("templates")["templates"]?.array ?? []).compactMap { $0["name"]?.string }
            .filter { !$0.hasPrefix(Sending.draftPrefix) }
        guard !names.isEmpty else { return [] }
        let none = Filter.Option(value: "", label: ComposeText.noTemplate(request.language))
        return [
            .choice(
                label: ComposeText.template(request.language),
                parameter: "template",
                options: [none] + names.map { .init(value: $0, label: Sending.line($0)) },
                selected: request.value("template")
            )
        ]
    }

    /// The notification as a device shows it. Its image has a marked place: the console has no address of stored images, and its content security policy
    /// permits no other host. A script shows the image that was chosen in the form, which the browser has.
    private static func preview(_ composition: Composition, _ language: Language) -> Block {
        let view = View.fields([
            "app": .text(composition.app), "title": .text(composition.filledTitle),
            "body": .text(composition.filledBody), "alt": .text(ComposeText.image(language)),
            "image": composition.image.isEmpty ? .none : .text(image(composition)(language)),
            "hasNoImage": .flag(composition.image.isEmpty),
        ])
        return Block(width: 4, title: ComposeText.preview(language), body: [.template("notification", view)])
    }

    /// The host of an image that a template names by its address; otherwise the beginning of the hash.
    private static func image(_ composition: Composition) -> Text {
        composition.imageHost.map { ComposeText.imageElsewhere($0) } ?? ComposeText.namedImage(composition.image)
    }

    // MARK: The form

    private func form(_ composition: Composition, _ request: PageRequest, _ answers: Answers) -> FormView {
        var fields = recipients(composition, request, answers)
        fields += content(composition, request.language)
        fields += time(composition, request)
        fields += Sending.hidden(
            [
                ("app", composition.app), ("image", composition.image),
                ("devices", composition.devices.joined(separator: " ")),
                ("draft", Self.draft(request)), ("revision", Self.revision(request, answers)),
            ] + composition.hidden
        )
        return FormView(
            path: "compose/review",
            fields: fields,
            submit: ComposeText.toReview(request.language),
            isMultipart: true,
            second: (label: ComposeText.update(request.language), path: "compose/preview"),
            behaviour: "compose"
        )
    }

    /// The template that is this page's draft; empty: it is not saved yet.
    static func draft(_ request: PageRequest) -> String { request.typed["draft"] ?? request.value("draft") ?? "" }

    /// The version of the draft that was opened.
    static func revision(_ request: PageRequest, _ answers: Answers) -> String {
        request.typed["revision"] ?? (request.value("draft") == nil ? nil : answers["source"]?.entityTag) ?? ""
    }

    private func recipients(
        _ composition: Composition,
        _ request: PageRequest,
        _ answers: Answers
    ) -> [FormView.Field] {
        let language = request.language
        let kinds = Composition.Audience.allCases.filter { $0 != .devices || !composition.devices.isEmpty }
        let names = (answers.body("groups")["groups"]?.array ?? []).compactMap { $0["group"]?.string }
        var groups = [Filter.Option(value: "", label: ComposeText.noGroup(language))]
        groups += names.map { Filter.Option(value: $0, label: Sending.line($0)) }
        if !composition.group.isEmpty, !names.contains(composition.group) {
            groups.append(.init(value: composition.group, label: Sending.line(composition.group)))
        }
        return [
            FormView.Field(
                name: "audience",
                label: ComposeText.audience(language),
                kind: .radio(
                    kinds.map { kind in
                        let count = kind == .devices ? " (\(composition.devices.count))" : ""
                        return .init(value: kind.rawValue, label: ComposeText.audience(kind)(language) + count)
                    }
                ),
                value: composition.audience?.rawValue ?? "",
                isRequired: true,
                section: ComposeText.recipients(language)
            ),
            FormView.Field(
                name: "search",
                label: ComposeText.search(language),
                kind: .area(rows: 2),
                value: composition.search,
                hint: ComposeText.searchHint(language)
            ),
            FormView.Field(
                name: "group",
                label: ComposeText.group(language),
                kind: .select(groups),
                value: composition.group
            ),
            FormView.Field(
                name: "tags",
                label: ComposeText.tags(language),
                kind: .text(),
                value: composition.tags,
                hint: ComposeText.tagsHint(language)
            ),
        ]
    }

    private func content(_ composition: Composition, _ language: Language) -> [FormView.Field] {
        let stored = composition.image.isEmpty ? nil : ComposeText.storedImage(composition.image)(language)
        var fields = [
            FormView.Field(
                name: "title",
                label: ComposeText.messageTitle(language),
                kind: .text(),
                value: composition.title,
                limit: Composition.Limits.title,
                section: ComposeText.content(language)
            ),
            FormView.Field(
                name: "body",
                label: ComposeText.body(language),
                kind: .area(rows: 5),
                value: composition.body,
                hint: ComposeText.bodyHint(language),
                limit: Composition.Limits.body
            ),
        ]
        fields += composition.names.map { name in
            FormView.Field(
                name: Composition.field(of: name),
                label: ComposeText.variable(name)(language),
                kind: .text(),
                value: composition.variables[name] ?? "",
                isRequired: false
            )
        }
        return fields + [
            FormView.Field(
                name: "upload",
                label: ComposeText.image(language),
                kind: .file(accept: "image/png,image/jpeg,image/gif"),
                hint: stored ?? ComposeText.imageHint(language)
            ),
            FormView.Field(
                name: "campaign",
                label: ComposeText.campaign(language),
                kind: .text(),
                value: composition.campaign,
                hint: ComposeText.campaignHint(language),
                limit: 128
            ),
            Self.urgent(composition, language),
        ]
    }

    /// Browsers send nothing for a box that is not checked; the hidden fields of a review do the same.
    static func urgent(_ composition: Composition, _ language: Language) -> FormView.Field {
        FormView.Field(
            name: "urgent",
            label: ComposeText.urgent(language),
            kind: .checkbox,
            value: composition.isUrgent ? "on" : ""
        )
    }

    private func time(_ composition: Composition, _ request: PageRequest) -> [FormView.Field] {
        let language = request.language
        return [
            FormView.Field(
                name: "when",
                label: ComposeText.when(language),
                kind: .radio(
                    Composition.Due.allCases.map { .init(value: $0.rawValue, label: ComposeText.due($0)(language)) }
                ),
                value: composition.due.rawValue,
                section: ComposeText.time(language)
            ),
            FormView.Field(
                name: "at",
                label: ComposeText.at(request.zone)(language),
                kind: .dateTime,
                value: composition.at
            ),
            FormView.Field(
                name: "local",
                label: ComposeText.local(language),
                kind: .dateTime,
                value: composition.local
            ),
        ]
    }
}
