import Model
import PageParts

/// An API key: its rights and use, the replacement of its secret, and its revocation.
struct KeyPage: ConsolePage {
    let path = "keys/{key}"
    let permission = Permission.administer
    var forms: [any ConsoleForm] { [RotateKeyForm(), DeleteKeyForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("key"), let show = export(request) else { return [] }
        return [show]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("key", .get, "keys/\(APICall.segment(request.path["key"] ?? ""))")
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let key = KeyFacts(json: try answers.required("key"))
        let name = request.path["key"] ?? key.name
        let here = Link.path("keys", name)
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: ["overlapSeconds"]) { blocks.append(problems) }
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(KeysText.delete),
                    text: words(KeysText.deleteQuestion(name, key.used(words))),
                    submit: words(KeysText.delete),
                    path: here + "/delete",
                    back: here
                )
            )
        }
        blocks.append(Self.facts(key, name, request, words))
        if !key.isFile {
            blocks.append(
                Block(
                    width: 5,
                    title: words(KeysText.rotate),
                    body: [.form(RotateKeyForm.view(here + "/rotate", key, words))],
                    foot: words(KeysText.rotateNote)
                )
            )
        }
        var sentence = key.problem(words)?.sentence
        sentence?.link = nil
        let delete = Confirmation.button(words(KeysText.delete), "delete", path: here + "/delete")
        return PageContent(
            title: name,
            sentence: sentence ?? Sentence(mark: .ok, text: words(KeysText.fine(name, key.used(words)))),
            actions: key.isFile ? [] : [delete],
            blocks: blocks
        )
    }

    private static func facts(_ key: KeyFacts, _ name: String, _ request: PageRequest, _ words: Wording) -> Block {
        let json = key.json
        var facts = [
            Fact(label: words(KeysText.scopes), value: words.list(json["scopes"]), isMono: true),
            Fact(label: words(KeysText.networks), value: key.networks(words)),
            Fact(label: words(KeysText.lastUsed), value: words.time(json["lastUsedAt"])),
            Fact(label: words(OperationsText.created), value: words.time(json["createdAt"])),
            Fact(label: words(KeysText.expires), value: key.expiry(words)),
        ]
        if let limit = json["recipientsPerDay"]?.int {
            facts += [
                Fact(label: words(KeysText.recipients), value: words.count(limit)),
                Fact(label: words(KeysText.recipientsToday), value: words.count(json["recipientsToday"])),
            ]
        } else {
            facts.append(Fact(label: words(KeysText.recipients), value: words(KeysText.noLimit)))
        }
        if json["hasOtherSecret"]?.bool == true {
            let end = json["otherSecretUntil"]?.string == nil ? key.expiry(words) : words.time(json["otherSecretUntil"])
            facts.append(Fact(label: words(KeysText.otherUntil), value: end))
        }
        return Block(
            width: 7,
            title: words(KeysText.facts),
            note: words(OperationsText.source),
            body: [.facts(facts)],
            foot: key.isFile ? words(OperationsText.readOnly(FilePath.key(request.tenant, name))) : nil
        )
    }
}

/// Gives a key a new secret, which is shown once, unless another person has done so meanwhile: a second replacement ends the secret that is in use.
struct RotateKeyForm: ConsoleForm {
    let name = "rotate"
    let permission = Permission.administer
    let asksPassword = true

    static func view(_ path: String, _ key: KeyFacts, _ words: Wording) -> FormView {
        let options: [(Int, Text)] = [
            (0, OverlapText.atOnce), (3600, OverlapText.hour), (86_400, OverlapText.day), (604_800, OverlapText.week),
            (2_592_000, OverlapText.month),
        ]
        return FormView(
            path: path,
            fields: [
                .init(
                    name: "overlapSeconds",
                    label: words(OverlapText.label),
                    kind: .select(options.map { Filter.Option(value: String($0.0), label: words($0.1)) }),
                    value: "86400"
                ),
                // The end of the second secret, which a replacement changes.
                ShownVersion.hidden(key.json["otherSecretUntil"]?.string ?? ""),
            ],
            submit: words(KeysText.rotate)
        )
    }

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        ShownVersion.calls(of: KeyPage(), request, fields, answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let stored = answers.body("key")
        // Nothing is lost by another replacement once the second secret has ended.
        if let shown = fields[ShownVersion.field], stored["hasOtherSecret"]?.bool == true,
            let until = stored["otherSecretUntil"]?.string, until != shown
        {
            let words = Wording(request)
            let end = words.time(stored["otherSecretUntil"])
            return .invalid(FieldErrors(["": words(KeysText.replacedMeanwhile(end))]))
        }
        let overlap = fields["overlapSeconds"].flatMap { Int64($0) } ?? 86_400
        let key = APICall.segment(request.path["key"] ?? "")
        return .call(APICall("rotate", .post, "keys/\(key)/rotate", body: ["overlapSeconds": .int(overlap)]))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess, let secret = answer.body["key"]?.string else { return .invalid(FieldErrors(answer)) }
        return .once(title: KeysText.newSecret, secret: secret)
    }
}

/// Deletes a key: its next call is refused.
struct DeleteKeyForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.administer
    let asksPassword = true

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        return .call(APICall("delete", .delete, "keys/\(APICall.segment(request.path["key"] ?? ""))"))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(KeysText.title(request.language), "keys"), OperationsText.deleted)
    }
}
