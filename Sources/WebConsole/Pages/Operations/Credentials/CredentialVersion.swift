import Model
import PageParts

/// The version of a credential that a page has shown. The API has none, so that it is a digest of the stored values: a form is sent with the one that its page
/// was opened with, and compared with what is stored then.
enum CredentialVersion {
    /// The version of a credential that does not exist.
    static let absent = "none"

    /// Members that follow from the time, from the apps that use it or from the answers of the service are not among them.
    private static let members = [
        "kind", "teamId", "keyId", "endpoint", "url", "secrets", "pushesPerSecond", "callsPerSecond", "expiresAt",
        "topics", "origin",
    ]

    static func of(_ credential: JSON) -> String {
        ShownVersion.digest(of: members.map { credential[$0] ?? .null })
    }

    /// The field with the version that a form shows; nil: the credential does not exist.
    static func hidden(_ credential: JSON?) -> FormView.Field {
        ShownVersion.hidden(credential.map { of($0) } ?? absent)
    }

    /// The call for what is stored now; none: the form has no version, or the answer is there.
    static func calls(_ path: String, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        fields[ShownVersion.field] == nil || answers.has("stored") ? [] : [APICall("stored", .get, path)]
    }

    /// The error of a form whose page has shown something else than what is stored; nil: it has not, or the form has no version.
    static func refusal(_ fields: FormFields, _ answers: Answers, _ language: Language) -> FieldErrors? {
        guard let shown = fields[ShownVersion.field], let stored = answers["stored"] else { return nil }
        guard stored.isSuccess || stored.status == 404 else { return FieldErrors(stored) }
        let present = stored.isSuccess ? of(stored.body) : absent
        guard present != shown else { return nil }
        if shown == absent { return FieldErrors(["credential": CredentialsText.exists(language)]) }
        let text = stored.isSuccess ? CredentialsText.changedMeanwhile : CredentialsText.deletedMeanwhile
        return FieldErrors(["": text(language)])
    }

    /// The stored values next to the typed ones, when another person has changed the credential since the page was opened.
    static func conflict(_ credential: CredentialFacts, _ request: PageRequest, _ words: Wording) -> Block? {
        guard let shown = request.typed[ShownVersion.field], request.typed["credential"] != nil,
            shown != of(credential.json)
        else { return nil }
        func lines(_ keyID: String, _ team: String, _ topics: String) -> String {
            let parts = [
                (CredentialsText.keyID, keyID), (CredentialsText.team, team), (CredentialsText.topics, topics),
            ]
            return parts.map { "\(words($0.0)): \($0.1.isEmpty ? Wording.unknown : $0.1)" }.joined(separator: "\n")
        }
        func typed(_ name: String) -> String { Reading.line(request.typed[name] ?? "", 400) }
        let json = credential.json
        let theirs = lines(words.text(json["keyId"]), words.text(json["teamId"]), words.list(json["topics"]))
        let mine = lines(typed("keyId"), typed("teamId"), typed("topics"))
        return Block(
            title: "\(words(CredentialsText.theirs)) – \(words(CredentialsText.mine))",
            body: [
                .callout(.warn, words(CredentialsText.compare), link: nil),
                .difference(LineDifference.lines(from: theirs, to: mine)),
            ]
        )
    }
}
