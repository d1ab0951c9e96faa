import Model
import PageParts

/// The forms of the compose page. Each carries the whole message, so that nothing typed is lost.
extension Composition {
    /// The message of a sent form.
    init(_ fields: FormFields) { self.init(app: fields["app"] ?? "", fields) }

    /// The call that stores the image which was chosen with this form.
    func storing(_ fields: FormFields) -> [APICall] {
        guard let bytes = fields.file("upload"), !bytes.isEmpty else { return [] }
        return [APICall("media", .put, Link.path("apps", app, "media", image), bytes: bytes)]
    }
}

/// The idempotency key of what is sent from a page: its value and a digest of the request. A repeated form sends nothing twice; a message that was changed
/// after Back is another one.
private func once(_ request: PageRequest, _ kind: String, _ body: JSON) -> String {
    "\(kind)-\(request.onceToken.prefix(64))-\(Composition.hash(JSONWriter.bytes(body)).prefix(16))"
}

/// Checks the message, stores its image, and shows the page again with the review.
struct ReviewForm: ConsoleForm {
    let name = "review"
    let permission = Permission.send
    /// 3 MiB: the largest image that the native API stores, and the fields.
    let bodyLimitBytes = 3 << 20

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        Reading.open(Composition(fields).storing(fields), answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let composition = Composition(fields)
        var faults = composition.faults(request.language, now: request.now, zone: request.zone)
        if let media = answers["media"], !media.isSuccess {
            faults["upload"] = ComposeText.imageRefused(request.language)
        }
        return faults.isEmpty ? .show : .invalid(FieldErrors(faults))
    }
}

/// Shows the page again with each format's payload, and without faults: the message is not finished.
struct PreviewForm: ConsoleForm {
    let name = "preview"
    let permission = Permission.send
    /// As `ReviewForm`. An image is not stored for a preview.
    let bodyLimitBytes = 3 << 20

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep { .show }
}

/// Sends the reviewed message. A double click and a repeated form send once: the page's value is the idempotency key, and the request does not depend on
/// the time.
struct SendForm: ConsoleForm {
    let name = "send"
    let permission = Permission.send
    let bodyLimitBytes = Composition.Limits.formBytes

    /// The recipients are counted again, because they may have changed since the review.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        let composition = Composition(fields)
        guard let to = composition.recipients else { return [] }
        return Reading.open([Review.size(of: to, composition.app)], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let language = request.language
        let composition = Composition(fields)
        let faults = composition.faults(language, now: request.now, zone: request.zone)
        guard faults.isEmpty else { return .invalid(FieldErrors(faults)) }
        guard let to = composition.recipients else {
            return .invalid(FieldErrors(["audience": ComposeText.chooseAudience(language)]))
        }
        if let size = answers["size"], !size.isSuccess { return .invalid(FieldErrors(size)) }
        guard let size = Review.Size(answers), size.count > 0 else {
            return .invalid(FieldErrors(["": ComposeText.nobody(language)]))
        }
        if let fault = Self.fault(size, fields, request) { return .invalid(fault) }
        let message = composition.message(to: to, zone: request.zone)
        return .call(APICall("send", .post, "messages", body: message, once: once(request, "send", message)))
    }

    /// Whether the number is the one that was shown, and was typed if it is large.
    private static func fault(_ size: Review.Size, _ fields: FormFields, _ request: PageRequest) -> FieldErrors? {
        let language = request.language
        let stated = fields["count"].flatMap { Int64($0) } ?? 0
        let needsNumber = size.isLarge || stated > Sending.confirmAbove
        // A tenth more devices are those that registered meanwhile. Above it the message reaches others than the sentence said.
        if size.count - size.count / 11 > stated, size.count > 10 || stated == 0 {
            let words = ComposeText.numberChanged(ConsoleFormat(request).count(size.count))(language)
            return FieldErrors([needsNumber ? "confirm" : "": words])
        }
        guard needsNumber else { return nil }
        let typed = (fields["confirm"] ?? "").filter { !$0.isWhitespace && $0 != "," && $0 != "." }
        return Int64(typed) == stated ? nil : FieldErrors(["confirm": ComposeText.wrongNumber(stated)(language)])
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let id = answer.body["id"]?.string else { return .invalid(FieldErrors(answer)) }
        return .go(Link("", Link.path("compose", "sent", id)), nil)
    }
}

/// Sends the reviewed message to the test devices, now.
struct SendTestForm: ConsoleForm {
    let name = "test"
    let permission = Permission.send
    let bodyLimitBytes = Composition.Limits.formBytes

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let composition = Composition(fields)
        let faults = composition.faults(request.language, now: request.now, zone: request.zone)
        guard faults.isEmpty else { return .invalid(FieldErrors(faults)) }
        let message = composition.test()
        return .call(APICall("test", .post, "messages", body: message, once: once(request, "test", message)))
    }

    /// The review stays, because the message has not been sent yet; the result is next to its button.
    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess
            ? .again(ComposeText.testSent) : .invalid(FieldErrors(answer))
    }
}

/// Saves the message as a draft: a template whose name begins with `draft-`.
struct DraftForm: ConsoleForm {
    let name = "draft"
    let permission = Permission.send
    let bodyLimitBytes = Composition.Limits.formBytes

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let composition = Composition(fields)
        guard !composition.app.isEmpty else { return .invalid(FieldErrors(["": SendingText.noApp(request.language)])) }
        let revision = fields["revision"].flatMap { $0.isEmpty ? nil : $0 } ?? "\"0\""
        let draft = Self.draft(request, fields)
        return .call(
            APICall(
                "draft",
                .put,
                Link.path("apps", composition.app, "templates", draft),
                body: ["content": composition.draft],
                ifMatch: revision
            )
        )
    }

    /// The name of the draft; of a new one, the page's value, so that a double click makes one.
    private static func draft(_ request: PageRequest, _ fields: FormFields) -> String {
        if let name = fields["draft"], name.hasPrefix(Sending.draftPrefix) { return name }
        let token = request.onceToken.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return Sending.draftPrefix + token.prefix(16)
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        if answer.isSuccess {
            let query = [
                PageRequest.Parameter("app", fields["app"] ?? ""), .init("draft", Self.draft(request, fields)),
            ]
            return .go(Link("", "compose", query), ComposeText.draftSaved)
        }
        guard answer.status == 412 else { return .invalid(FieldErrors(answer)) }
        return .invalid(FieldErrors(["": ComposeText.draftChanged(request.language)]))
    }
}
