import Model
import PageParts

/// An app with its bindings, and for each of them how an app or a back end connects.
struct AppPage: ConsolePage {
    let path = "apps/{app}"
    let permission = Permission.configure
    var forms: [any ConsoleForm] { [DeleteAppForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("app") else { return [] }
        let app = APICall.segment(request.path["app"] ?? "")
        return [APICall("app", .get, "apps/\(app)"), APICall("bindings", .get, "apps/\(app)/bindings")]
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let app = try answers.required("app")
        let name = request.path["app"] ?? ""
        let here = Link.path("apps", name)
        let bindings = answers.body("bindings")["bindings"]?.array ?? []
        var blocks: [Block] = []
        if let problems = FormProblems.block(request) { blocks.append(problems) }
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(AppsText.deleteTitle),
                    text: words(AppsText.deleteQuestion(name)),
                    submit: words(AppsText.deleteTitle),
                    path: here + "/delete",
                    back: here
                )
            )
        }
        blocks.append(facts(app, request, words))
        if answers.has("bindings"), answers["bindings"]?.isSuccess != true {
            blocks.append(Block(body: [.callout(.warn, words(OperationsText.unavailable), link: nil)]))
        } else if bindings.isEmpty {
            blocks.append(Block(body: [.text(words(AppsText.noBindings))]))
        }
        blocks += bindings.map { binding($0, name, request, words) }
        return PageContent(
            title: name,
            sentence: Self.sentence(app, name, bindings, words),
            actions: actions(app, here, name, words),
            blocks: blocks
        )
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("bindings", .get, "apps/\(APICall.segment(request.path["app"] ?? ""))/bindings")
    }

    /// The environments of all platforms with a credential.
    static func environments(_ app: JSON) -> Set<String> {
        let platforms = app["platforms"]?.array ?? []
        return Set(platforms.flatMap { ($0["environments"]?.array ?? []).compactMap(\.string) })
    }

    /// The rule: removed, open sends, no credential, sandbox only, otherwise ready.
    private static func sentence(_ app: JSON, _ name: String, _ bindings: [JSON], _ words: Wording) -> Sentence {
        if app["retiredAt"]?.string != nil {
            return Sentence(mark: .idle, text: words(AppsText.retired(name, words.time(app["retiredAt"]))))
        }
        let environments = environments(app)
        if environments.isEmpty {
            let link = Link(words(CredentialsText.title), "credentials")
            return Sentence(mark: .bad, text: words(AppsText.noCredential(name)), link: link)
        }
        if let open = bindings.first(where: { $0["settings"]?["openSends"]?.bool == true }) {
            let vendor = VendorName.of(open["vendor"]?.string, words.language)
            return Sentence(mark: .warn, text: words(AppsText.openSends(vendor)))
        }
        guard environments.contains("production") else {
            return Sentence(mark: .warn, text: words(AppsText.sandboxOnly(name)))
        }
        return Sentence(mark: .ok, text: words(AppsText.ready(name, bindings.count)))
    }

    private func actions(_ app: JSON, _ here: String, _ name: String, _ words: Wording) -> [Action] {
        var actions: [Action] = [
            .link(Link(words(AppsText.routes), here + "/routes")),
            .link(Link(words(AppsText.parity), here + "/parity")),
            .link(Link(words(AppsText.log), "captures", [PageRequest.Parameter("app", name)])),
        ]
        if app["origin"]?.string == "api" {
            actions.append(Confirmation.button(words(AppsText.deleteTitle), "delete", path: here + "/delete"))
        }
        return actions
    }

    private func facts(_ app: JSON, _ request: PageRequest, _ words: Wording) -> Block {
        var facts = (app["platforms"]?.array ?? []).map { platform in
            let environments = (platform["environments"]?.array ?? []).compactMap(\.string).map {
                words(CredentialsText.environment($0))
            }
            let text = environments.isEmpty ? words(AppsText.noPlatform) : environments.joined(separator: ", ")
            return Fact(
                label: words.text(platform["platform"]),
                value: "\(words.text(platform["topic"])) · \(text)"
            )
        }
        facts.append(Fact(label: words(OperationsText.created), value: words.time(app["createdAt"])))
        if app["retiredAt"]?.string != nil {
            facts.append(Fact(label: words(AppsText.removedAt), value: words.time(app["retiredAt"])))
        }
        let isFile = app["origin"]?.string == "file"
        let path = FilePath.app(request.tenant, request.path["app"] ?? "")
        return Block(
            title: words(AppsText.facts),
            note: words(OperationsText.source),
            body: [.facts(facts)],
            foot: isFile ? words(OperationsText.readOnly(path)) : nil
        )
    }

    private func binding(_ json: JSON, _ app: String, _ request: PageRequest, _ words: Wording) -> Block {
        let vendor = json["vendor"]?.string
        let settings = json["settings"]
        let kind = json["kind"]?.string ?? Wording.unknown
        var parts: [Part] = [
            .facts([
                Fact(label: words(AppsText.key), value: "\(kind): \(words.text(json["key"]))", isMono: true),
                Fact(
                    label: words(AppsText.host),
                    value: json["host"]?.string ?? words(AppsText.anyHost),
                    isMono: json["host"]?.string != nil
                ),
            ])
        ]
        if settings?["openSends"]?.bool == true {
            let name = VendorName.of(vendor, words.language)
            parts.append(.callout(.warn, words(AppsText.openSends(name)), link: nil))
        }
        if let settings, settings.object?.isEmpty == false {
            parts += OperationsParts.code(OperationsParts.pretty(settings), AppsText.settings, words)
        } else {
            parts.append(.text(words(AppsText.noSettings)))
        }
        if let connection = VendorConnection.of(vendor, host: json["host"]?.string, settings: settings) {
            parts += connection.lines.flatMap { OperationsParts.code($0.value, $0.place, words) }
            parts += connection.notes.map { .text(words($0)) }
        }
        let query = [PageRequest.Parameter("app", app), PageRequest.Parameter("vendor", vendor ?? "")]
        let isFile = json["origin"]?.string == "file"
        let path = FilePath.binding(request.tenant, app, vendor ?? "")
        return Block(
            width: 6,
            title: VendorName.of(vendor, words.language),
            note: words(AppsText.connect),
            tools: [Link(words(AppsText.log), "captures", query)],
            body: parts,
            foot: isFile ? words(OperationsText.readOnly(path)) : nil
        )
    }
}

/// Deletes an app that calls created.
struct DeleteAppForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.configure
    let asksPassword = true

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        return .call(APICall("delete", .delete, "apps/\(APICall.segment(request.path["app"] ?? ""))"))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess
            ? .go(Link(AppsText.title(request.language), "apps"), OperationsText.deleted)
            : .invalid(FieldErrors(answer))
    }
}
