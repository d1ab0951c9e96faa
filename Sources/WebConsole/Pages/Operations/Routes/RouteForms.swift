import Model
import PageParts

/// Replaces the overlay of an app, unless another person changed the rules meanwhile.
struct SaveOverlayForm: ConsoleForm {
    let name = "overlay"
    let permission = Permission.configure
    /// 64 rules of a kilobyte, percent-coded.
    let bodyLimitBytes = 256 << 10

    /// 64 KiB: more than 64 rules.
    static let textLimit = 64 << 10

    /// The overlay of a typed text; nil: it is not a JSON object.
    static func overlay(_ text: String) -> JSONObject? {
        guard text.utf8.count <= textLimit else { return nil }
        return (try? JSONParser.parse(text))?.object
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        switch Self.read(request, fields) {
        case .failure(let errors): return .invalid(errors.errors)
        case .success(let overlay):
            let version = fields["version"].flatMap { Int64($0) } ?? 0
            return .call(
                APICall(
                    "overlay",
                    .put,
                    AppRoutesPage.address(request),
                    body: .object(overlay),
                    ifMatch: "\"\(version)\""
                )
            )
        }
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        if answer.isSuccess { return .back(RoutesText.saved) }
        // The page shows both texts; nothing was changed.
        if answer.status == 412 { return .invalid(FieldErrors(answer)) }
        return .invalid(FieldErrors(answer).gathered(at: "overlay"))
    }

    struct Rejection: Error {
        var errors: FieldErrors
    }

    static func read(_ request: PageRequest, _ fields: FormFields) -> Result<JSONObject, Rejection> {
        let text = fields["overlay"] ?? ""
        let fault = text.utf8.count > textLimit ? RoutesText.tooLong : RoutesText.notJSON
        guard let overlay = overlay(text) else {
            return .failure(Rejection(errors: FieldErrors(["overlay": fault(request.language)])))
        }
        return .success(overlay)
    }
}

/// Shows the decisions of an overlay without saving it.
struct TryOverlayForm: ConsoleForm {
    let name = "try"
    let permission = Permission.configure
    let bodyLimitBytes = 256 << 10

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        switch SaveOverlayForm.read(request, fields) {
        case .failure(let rejection): .invalid(rejection.errors)
        case .success: .show
        }
    }
}

/// Gives an app the rules of an earlier version.
struct RestoreRoutesForm: ConsoleForm {
    let name = "restore"
    let permission = Permission.configure

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        let version = fields["version"].flatMap { Int64($0) } ?? 0
        let tag = fields["inForce"].flatMap { Int64($0) }.map { "\"\($0)\"" }
        let path = AppRoutesPage.address(request) + "/rollback"
        return .call(APICall("restore", .post, path, body: ["version": .int(version)], ifMatch: tag))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(RoutesText.rolledBack) : .invalid(FieldErrors(answer))
    }
}
