import Model
import PageParts

/// The weak points that `doctor --security` reports, the worst first, each with its risk and what closes it.
struct PosturePage: ConsolePage {
    let path = "posture"
    let permission = Permission.audit
    var menu: MenuEntry? { MenuEntry(.administration, PostureText.title, .security) }

    private static let levels: [(name: String, label: Text, meaning: Text, mark: Mark)] = [
        ("high", PostureText.high, PostureText.highMeaning, .bad),
        ("medium", PostureText.medium, PostureText.mediumMeaning, .warn),
        ("low", PostureText.low, PostureText.lowMeaning, .info),
    ]

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        answers.has("posture") ? [] : [APICall("posture", .get, "posture")]
    }

    func export(_ request: PageRequest) -> APICall? { APICall("posture", .get, "posture") }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let body = try answers.required("posture")
        let findings = body["findings"]?.array ?? []
        let chosen = request.value("level")
        var blocks = Self.levels.filter { chosen == nil || chosen == $0.name }.compactMap { level -> Block? in
            let rows = findings.filter { $0["level"]?.string == level.name }
            guard !rows.isEmpty else { return nil }
            return Block(
                title: "\(words(level.label)) · \(words.count(Int64(rows.count)))",
                note: words(level.meaning),
                body: [.checks(rows.map { Self.check($0, level.mark, request.tenant, words) })]
            )
        }
        if blocks.isEmpty { blocks.append(Block(body: [.text(words(PostureText.none))])) }
        blocks[blocks.count - 1].foot = words(body["more"]?.bool == true ? PostureText.more : PostureText.nodeNote)
        return PageContent(
            title: words(PostureText.title),
            sentence: Self.sentence(findings, request.tenant, words),
            filters: [
                .choice(
                    label: words(PostureText.risk),
                    parameter: "level",
                    options: OperationsParts.choices(Self.levels.map { ($0.name, words($0.label)) }, words),
                    selected: chosen
                )
            ],
            blocks: blocks
        )
    }

    private static func sentence(_ findings: [JSON], _ tenant: String, _ words: Wording) -> Sentence {
        for level in levels {
            let found = findings.filter { $0["level"]?.string == level.name }
            guard let first = found.first else { continue }
            let text = PostureText.worst(
                words.count(Int64(found.count)),
                words(level.label),
                place(first, tenant, words),
                words(PostureWords.finding(words.text(first["finding"])))
            )
            return Sentence(mark: level.mark, text: words(text))
        }
        return Sentence(mark: .ok, text: words(PostureText.none))
    }

    private static func check(_ finding: JSON, _ mark: Mark, _ tenant: String, _ words: Wording) -> Check {
        let risk = words(PostureWords.sentence(words.text(finding["risk"])))
        let remedy = words(PostureWords.sentence(words.text(finding["remedy"])))
        return Check(
            mark: mark,
            title: "\(place(finding, tenant, words)): \(words(PostureWords.finding(words.text(finding["finding"]))))",
            detail: "\(words(PostureText.risk)): \(risk) \(words(PostureText.remedy)): \(remedy)",
            link: link(finding["place"]?.string ?? "", tenant)
        )
    }

    /// The place of a finding: `node`, `acme key backend`, `acme/shop` or `acme/shop upmc`.
    private static func place(_ finding: JSON, _ tenant: String, _ words: Wording) -> String {
        let place = finding["place"]?.string ?? ""
        if place == "node" { return words(PostureText.node) }
        if let key = EnglishSentence.middle(of: place, "\(tenant) key ", "") { return "\(words(KeysText.key)) \(key)" }
        return EnglishSentence.middle(of: place, "\(tenant)/", "") ?? words.text(finding["place"])
    }

    /// `acme key backend` leads to the key, `acme/shop` and `acme/shop upmc` to the app.
    private static func link(_ place: String, _ tenant: String) -> Link? {
        if let key = EnglishSentence.middle(of: place, "\(tenant) key ", ""), !key.isEmpty {
            return Link(key, Link.path("keys", key))
        }
        guard let rest = EnglishSentence.middle(of: place, "\(tenant)/", ""), let app = rest.split(separator: " ").first
        else { return nil }
        return Link(String(app), Link.path("apps", String(app)))
    }
}
