import Model
import PageParts

/// The keys and certificates for APNs and those of upstreams, with the form that uploads one and how to obtain it.
struct CredentialsPage: ConsolePage {
    let path = "credentials"
    let permission = Permission.configure
    var menu: MenuEntry? { MenuEntry(.operations, CredentialsText.title, .credentials, key: "k") }
    var forms: [any ConsoleForm] { [UploadCredentialForm()] }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("credentials"), let list = export(request) else { return [] }
        return [list]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("credentials", .get, "credentials", query: OperationsParts.page(request))
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("credentials")
        let credentials = (body["credentials"]?.array ?? []).map { CredentialFacts(json: $0) }
        var blocks: [Block] = []
        if let problems = FormProblems.block(request, visible: UploadCredentialForm.fieldNames) {
            blocks.append(problems)
        }
        let next = OperationsParts.next(body["next"], request, path: "credentials")
        let table = Self.table(credentials, next: next, words)
        blocks += [
            Block(title: words(CredentialsText.title), note: words(CredentialsText.checksNote), body: [.table(table)]),
            Block(
                width: 6,
                title: words(CredentialsText.upload),
                body: [.form(UploadCredentialForm.view("credentials/upload", replacing: nil, request, words))],
                foot: words(CredentialsText.secretNote)
            ),
        ]
        blocks += Self.guides(words)
        return PageContent(
            title: words(CredentialsText.title),
            sentence: Self.sentence(credentials, words),
            blocks: blocks
        )
    }

    /// The rule: the most urgent problem, otherwise that all are valid.
    private static func sentence(_ credentials: [CredentialFacts], _ words: Wording) -> Sentence {
        guard !credentials.isEmpty else { return Sentence(mark: .idle, text: words(CredentialsText.empty)) }
        let worst = credentials.max { first, second in
            (first.urgency, -(first.days ?? 0)) < (second.urgency, -(second.days ?? 0))
        }
        if let problem = worst?.problem(words) { return problem }
        return Sentence(mark: .ok, text: words(CredentialsText.allValid(words.count(Int64(credentials.count)))))
    }

    private static func table(_ credentials: [CredentialFacts], next: Link?, _ words: Wording) -> Table {
        Table(
            caption: words(CredentialsText.title),
            columns: [
                .init(label: words(OperationsText.credential)), .init(label: words(CredentialsText.kind)),
                .init(label: words(OperationsText.state)), .init(label: words(CredentialsText.keyID)),
                .init(label: words(CredentialsText.uses)), .init(label: words(CredentialsText.expires)),
                .init(label: words(OperationsText.origin)),
            ],
            rows: credentials.map { credential in
                let state = credential.state(words)
                let topics = credential.uses.map { words.text($0["topic"]) }
                let uses = topics.isEmpty ? words(CredentialsText.unused) : Set(topics).sorted().joined(separator: ", ")
                return Table.Row(
                    cells: [
                        .link(Link(credential.id, Link.path("credentials", credential.id))),
                        .text(credential.kindName(words)), .tag(state.mark, state.text),
                        .mono(words.text(credential.json["keyId"])), .text(uses), .text(credential.expiry(words)),
                        OperationsParts.originTag(credential.json["origin"], words),
                    ],
                    id: credential.id
                )
            },
            next: next,
            empty: EmptyState(title: words(CredentialsText.empty), step: words(CredentialsText.emptyStep))
        )
    }

    private static func guides(_ words: Wording) -> [Block] {
        let guides = [
            (CredentialsText.howKey, CredentialsText.howKeySteps),
            (CredentialsText.howCertificate, CredentialsText.howCertificateSteps),
        ]
        return guides.map { title, steps in
            Block(width: 6, title: words(title), body: steps.map { .text(words($0)) })
        }
    }
}
