import Model
import PageParts

/// A credential with its preflight: which of key ID, team, topic, environment and file is wrong.
struct CredentialPage: ConsolePage {
    let path = "credentials/{credential}"
    let permission = Permission.configure
    var forms: [any ConsoleForm] { [UploadCredentialForm(), DeleteCredentialForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("credential"), let show = export(request) else { return [] }
        return [show]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("credential", .get, "credentials/\(APICall.segment(request.path["credential"] ?? ""))")
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let isTyped = request.typed["credential"] != nil
        if isTyped, answers["credential"]?.status == 404 { return Self.deleted(request, words) }
        let credential = CredentialFacts(json: try answers.required("credential"))
        let id = request.path["credential"] ?? credential.id
        let here = Link.path("credentials", id)
        var blocks: [Block] = []
        if let conflict = CredentialVersion.conflict(credential, request, words) { blocks.append(conflict) }
        if let problems = FormProblems.block(request, visible: UploadCredentialForm.fieldNames) {
            blocks.append(problems)
        }
        if Confirmation.isAsked("delete", request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(CredentialsText.delete),
                    text: words(CredentialsText.deleteQuestion(id)),
                    submit: words(CredentialsText.delete),
                    path: here + "/delete",
                    back: here
                )
            )
        }
        if !credential.isUpstream {
            blocks.append(
                Block(
                    width: 7,
                    title: words(CredentialsText.checks),
                    note: words(CredentialsText.checksNote),
                    body: [.checks(CredentialChecks(credential, words).all)]
                )
            )
        }
        blocks.append(facts(credential, request, words))
        if !credential.isFile, !credential.isUpstream {
            let form = UploadCredentialForm.view(here + "/upload", replacing: credential.json, request, words)
            blocks.append(
                Block(
                    title: words(CredentialsText.replace),
                    body: [.form(form)],
                    foot: words(CredentialsText.secretNote)
                )
            )
        }
        let version = PageRequest.Parameter(ShownVersion.field, CredentialVersion.of(credential.json))
        let label = words(CredentialsText.delete)
        let delete = Confirmation.button(label, "delete", path: here + "/delete", fields: [version])
        return PageContent(
            title: id,
            sentence: sentence(credential, id, words),
            actions: credential.isFile ? [] : [delete],
            blocks: blocks
        )
    }

    /// The values typed for a credential that another person has deleted meanwhile: sent again, the form stores a new one.
    private static func deleted(_ request: PageRequest, _ words: Wording) -> PageContent {
        let id = request.path["credential"] ?? ""
        let path = Link.path("credentials", id) + "/upload"
        let form = UploadCredentialForm.view(path, replacing: nil, request, words)
        let all = Link(words(CredentialsText.title), "credentials")
        return PageContent(
            title: id,
            sentence: Sentence(mark: .warn, text: words(CredentialsText.deletedMeanwhile), link: all),
            blocks: [
                Block(
                    title: words(CredentialsText.upload),
                    body: [.form(form)],
                    foot: words(CredentialsText.secretNote)
                )
            ]
        )
    }

    private func sentence(_ credential: CredentialFacts, _ id: String, _ words: Wording) -> Sentence {
        if var problem = credential.problem(words) {
            problem.link = nil
            return problem
        }
        let until = credential.json["expiresAt"]?.string == nil ? nil : words.time(credential.json["expiresAt"])
        return Sentence(mark: .ok, text: words(CredentialsText.works(id, until)))
    }

    private func facts(_ credential: CredentialFacts, _ request: PageRequest, _ words: Wording) -> Block {
        let json = credential.json
        var facts = [Fact(label: words(CredentialsText.kind), value: credential.kindName(words))]
        if credential.isUpstream {
            facts += [
                Fact(label: words(CredentialsText.address), value: words.text(json["url"]), isMono: true),
                Fact(label: words(CredentialsText.secrets), value: words.list(json["secrets"]), isMono: true),
            ]
        } else {
            facts += [
                Fact(label: words(CredentialsText.keyID), value: words.text(json["keyId"]), isMono: true),
                Fact(label: words(CredentialsText.team), value: words.text(json["teamId"]), isMono: true),
                Fact(label: words(CredentialsText.expires), value: credential.expiry(words)),
            ]
            if let endpoint = json["endpoint"]?.string {
                facts.append(Fact(label: words(CredentialsText.address), value: endpoint, isMono: true))
            }
        }
        facts.append(Fact(label: words(CredentialsText.registered), value: words.time(json["storedAt"])))
        let rate = json[credential.isUpstream ? "callsPerSecond" : "pushesPerSecond"]?.int
        facts.append(
            Fact(
                label: words(CredentialsText.rate),
                value: rate.map { words.count($0) } ?? words(CredentialsText.noRate)
            )
        )
        facts += credential.uses.map { use in
            let environment = words(CredentialsText.environment(words.text(use["environment"])))
            return Fact(label: words(CredentialsText.uses), value: "\(words.text(use["topic"])) · \(environment)")
        }
        let path = FilePath.credential(request.tenant, request.path["credential"] ?? "")
        return Block(
            width: 5,
            title: words(CredentialsText.facts),
            body: [.facts(facts)],
            foot: credential.isFile ? words(OperationsText.readOnly(path)) : nil
        )
    }
}

/// The five things that can be wrong with a credential, each with what is known about it, and the answer of APNs.
struct CredentialChecks {
    private let credential: CredentialFacts
    private let words: Wording

    init(_ credential: CredentialFacts, _ words: Wording) {
        self.credential = credential
        self.words = words
    }

    var all: [Check] {
        let isToken = credential.kind == "apns-token"
        var checks: [Check] = []
        if isToken {
            checks.append(check(.keyID, CredentialsText.keyID, words.text(credential.json["keyId"])))
            checks.append(check(.team, CredentialsText.team, words.text(credential.json["teamId"])))
        }
        let topics = credential.json["topics"]?.array ?? []
        let named = topics.isEmpty && isToken ? words(CredentialsText.allTopics) : words.list(credential.json["topics"])
        checks.append(check(.topic, CredentialsText.topics, named, needsUse: true))
        checks.append(check(.environment, CredentialsText.environment, environments, needsUse: true))
        checks.append(check(.file, CredentialsText.file, credential.kindName(words)))
        checks.append(service)
        return checks
    }

    private var environments: String {
        let names = Set(credential.uses.compactMap { $0["environment"]?.string }).sorted()
        return names.isEmpty
            ? Wording.unknown : names.map { words(CredentialsText.environment($0)) }.joined(separator: ", ")
    }

    private func check(_ concern: FindingText.Concern, _ title: Text, _ value: String, needsUse: Bool = false) -> Check
    {
        let findings = credential.findings.filter { FindingText($0.text).concern == concern }
        guard findings.isEmpty else {
            let detail = findings.map { words(FindingText($0.text).text) }.joined(separator: " ")
            let mark: Mark = findings.contains(where: \.isFatal) ? .bad : .warn
            return Check(mark: mark, title: words(title), detail: detail)
        }
        if needsUse, credential.uses.isEmpty {
            return Check(mark: .idle, title: words(title), detail: words(CredentialsText.unknownUse))
        }
        return Check(mark: .ok, title: words(title), detail: "\(value) · \(words(CredentialsText.fine))")
    }

    /// Only APNs knows whether a key and its IDs belong together: it says so at the first push.
    private var service: Check {
        guard let reason = credential.refusal else {
            return Check(
                mark: .ok,
                title: words(CredentialsText.accepted),
                detail: words(CredentialsText.notRefused)
            )
        }
        let since = words.time(credential.json["refusedAt"])
        var detail = words(CredentialsText.refusal(reason, since))
        if let remedy = CredentialsText.remedy(reason) { detail += " " + words(remedy) }
        return Check(mark: .bad, title: words(CredentialsText.accepted), detail: detail)
    }
}

/// Deletes a credential that no app uses, unless another person has changed it meanwhile.
struct DeleteCredentialForm: ConsoleForm {
    let name = "delete"
    let permission = Permission.configure
    let asksPassword = true

    private static func path(_ request: PageRequest) -> String {
        "credentials/\(APICall.segment(request.path["credential"] ?? ""))"
    }

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        CredentialVersion.calls(Self.path(request), fields, answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        if let refusal = CredentialVersion.refusal(fields, answers, request.language) { return .invalid(refusal) }
        return .call(APICall("delete", .delete, Self.path(request)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(CredentialsText.title(request.language), "credentials"), OperationsText.deleted)
    }
}
