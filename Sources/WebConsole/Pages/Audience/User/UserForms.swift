import Model
import PageParts

/// Switches pushes to all devices of a user on or off.
struct UserPreferencesForm: ConsoleForm {
    let name = "preferences"
    let permission = Permission.operate

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let accepts = fields["acceptsPush"], ["true", "false"].contains(accepts) else {
            return .invalid(FieldErrors(["acceptsPush": ReadingWords.required(request.language)]))
        }
        guard let app = UserForms.app(request, fields) else { return UserForms.withoutApp(request) }
        let user = APICall.segment(request.path["user"] ?? "")
        let path = "apps/\(APICall.segment(app))/users/\(user)"
        let body: JSON = ["acceptsPush": .bool(accepts == "true")]
        return .call(APICall("update", .patch, path, query: UserForms.vendor(request, fields), body: body))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        UserForms.result(request, fields, answer, UserText.changed)
    }
}

/// Records whether a user consents to a subject.
struct ConsentForm: ConsoleForm {
    let name = "consent"
    let permission = Permission.operate

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let subject = fields["subject"], !subject.isEmpty else {
            return .invalid(FieldErrors(["subject": ReadingWords.required(request.language)]))
        }
        guard let state = fields["state"].flatMap({ ConsentState(rawValue: $0) }) else {
            return .invalid(FieldErrors(["state": ReadingWords.required(request.language)]))
        }
        guard let app = UserForms.app(request, fields) else { return UserForms.withoutApp(request) }
        let body: JSON = [
            "subject": .string(subject), "state": .string(state.rawValue),
            "users": [.string(request.path["user"] ?? "")],
        ]
        let path = "apps/\(APICall.segment(app))/consents"
        return .call(APICall("consent", .post, path, query: UserForms.vendor(request, fields), body: body))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        UserForms.result(request, fields, answer, UserText.recorded)
    }
}

/// Erases a user in every app, after a confirmation and the password.
struct EraseUserForm: ConsoleForm {
    let name = "erase"
    let permission = Permission.operate
    let asksPassword = true

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        let path = "users/\(APICall.segment(request.path["user"] ?? ""))"
        return .call(APICall("erase", .delete, path, once: request.onceToken))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        let notice = answer.body["erased"]?.int == 0 ? UserText.wasUnknown : UserText.erased
        return .go(Link(UserText.list(request.language), "users"), notice)
    }
}

/// The common parts of the forms about users and groups.
enum UserForms {
    /// The address of a form has no parameters: the app and vendor are fields.
    static func hidden(_ app: String, _ vendor: String) -> [FormView.Field] {
        [.hidden("app", app), .hidden("vendor", vendor)]
    }

    static func app(_ request: PageRequest, _ fields: FormFields) -> String? {
        fields["app"].flatMap { $0.isEmpty ? nil : $0 } ?? request.value("app")
    }

    static func vendor(_ request: PageRequest, _ fields: FormFields) -> [PageRequest.Parameter] {
        let vendor = fields["vendor"].flatMap { $0.isEmpty ? nil : $0 } ?? request.value("vendor")
        return vendor.map { [PageRequest.Parameter("vendor", $0)] } ?? []
    }

    static func withoutApp(_ request: PageRequest) -> FormStep {
        .invalid(FieldErrors(["": ReadingWords.withoutApp(request.language)]))
    }

    /// Returns to the user of the same app and vendor.
    static func result(
        _ request: PageRequest,
        _ fields: FormFields,
        _ answer: APIAnswer,
        _ notice: Text
    ) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        let vendor = vendor(request, fields).first?.value
        return .go(UserPage.link(request.path["user"] ?? "", app(request, fields), vendor), notice)
    }
}
