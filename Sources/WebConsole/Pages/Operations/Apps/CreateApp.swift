import Model
import PageParts

/// Creates an app with the topic and the credentials of iOS, and with its bindings.
struct CreateAppForm: ConsoleForm {
    let name = "create"
    let permission = Permission.configure
    let asksPassword = true

    /// The fields that the form shows. An error of the API at another member is shown above the form.
    private static let shown: Set<String> = ["app", "topic", "production", "sandbox", "bindings"]

    static func view(_ credentials: [JSON], _ words: Wording) -> FormView {
        let names = credentials.filter { ["apns-token", "apns-certificate"].contains($0["kind"]?.string ?? "") }
            .compactMap { $0["credential"]?.string }
        let options =
            [Filter.Option(value: "", label: words(AppsText.noCredential))]
            + names.map { Filter.Option(value: $0, label: $0) }
        let fields: [FormView.Field] = [
            .init(
                name: "app",
                label: words(AppsText.name),
                kind: .text(placeholder: "shop"),
                isRequired: true,
                limit: 64
            ),
            .init(
                name: "topic",
                label: words(AppsText.topic),
                kind: .text(placeholder: "com.example.shop"),
                hint: words(AppsText.topicHint),
                limit: 255
            ),
            .init(name: "production", label: words(AppsText.forProduction), kind: .select(options)),
            .init(name: "sandbox", label: words(AppsText.forSandbox), kind: .select(options)),
            .init(
                name: "bindings",
                label: words(AppsText.bindings),
                kind: .area(rows: 4),
                hint: words(AppsText.bindingsHint)
            ),
        ]
        return FormView(path: "apps/create", fields: fields, submit: words(AppsText.create))
    }

    private func text(_ name: String, _ fields: FormFields) -> String {
        (fields[name] ?? "").trimmed
    }

    private func call(_ name: String, _ method: APICall.Method, _ fields: FormFields, body: JSON? = nil) -> APICall {
        APICall(name, method, "apps/\(APICall.segment(text("app", fields)))", body: body)
    }

    /// The app of this name, which must not be replaced.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        text("app", fields).isEmpty || answers.has("stored") ? [] : [call("stored", .get, fields)]
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let language = request.language
        var errors: [String: String] = [:]
        if text("app", fields).isEmpty { errors["app"] = OperationsText.missing(language) }
        if let stored = answers["stored"] {
            if stored.isSuccess, stored.body["retiredAt"]?.string == nil { errors["app"] = AppsText.exists(language) }
            if !stored.isSuccess, stored.status != 404 { return .invalid(FieldErrors(stored)) }
        }
        var platform = JSONObject()
        for name in ["topic", "production", "sandbox"] where !text(name, fields).isEmpty {
            platform[name] = .string(text(name, fields))
        }
        var body = JSONObject()
        let platforms: JSON = platform.isEmpty ? [:] : ["ios": .object(platform)]
        body["platforms"] = platforms
        let typed = text("bindings", fields)
        if !typed.isEmpty {
            if let bindings = (try? JSONParser.parse(typed))?.object {
                body["bindings"] = .object(bindings)
            } else {
                errors["bindings"] = AppsText.noObject(language)
            }
        }
        guard errors.isEmpty else { return .invalid(FieldErrors(errors)) }
        return .call(call("create", .put, fields, body: .object(body)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else {
            let errors = FieldErrors(answer)
            guard let field = errors.errors.keys.first else { return .invalid(errors) }
            let member = field.split(separator: ".")
            let place = member.last.map(String.init) ?? ""
            let near = member.first == "bindings" ? "bindings" : Self.shown.contains(place) ? place : ""
            return .invalid(near == field ? errors : errors.gathered(at: near))
        }
        let app = answer.body["app"]?.string ?? text("app", fields)
        return .go(Link(app, Link.path("apps", app)), AppsText.didCreate)
    }
}
