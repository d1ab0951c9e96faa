import Model
import PageParts

/// A migration: its steps, the gates of the step in force with value, samples and limit, and the decisions that its state allows.
struct MigrationPage: ConsolePage {
    let path = "migrations/{migration}"
    let permission = Permission.configure
    var forms: [any ConsoleForm] { MigrationDecision.all }

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        guard !answers.has("migration"), let show = export(request) else { return [] }
        return [show]
    }

    func export(_ request: PageRequest) -> APICall? {
        APICall("migration", .get, "migrations/\(APICall.segment(request.path["migration"] ?? ""))")
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let words = Wording(request)
        let migration = try answers.required("migration")
        let id = request.path["migration"] ?? ""
        let here = Link.path("migrations", id)
        var blocks: [Block] = []
        if let problems = FormProblems.block(request) { blocks.append(problems) }
        for decision in MigrationDecision.all where Confirmation.isAsked(decision.name, request) {
            blocks.append(
                Confirmation.block(
                    request,
                    title: words(decision.label),
                    text: words(decision.question(migration, words)),
                    submit: words(decision.label),
                    path: "\(here)/\(decision.name)",
                    back: here
                )
            )
        }
        let parts = MigrationParts(migration, words)
        blocks.append(parts.gates)
        blocks.append(parts.facts)
        blocks.append(parts.steps)
        blocks.append(parts.history)
        if let plan = migration["plan"], plan.object?.isEmpty == false {
            let text = OperationsParts.pretty(plan)
            blocks.append(Block(title: words(MigrationsText.plan), body: [.code(text, label: id)]))
        }
        return PageContent(
            title: id,
            sentence: Self.sentence(migration, words, isList: false),
            actions: Self.actions(migration, here, words),
            blocks: blocks
        )
    }

    /// The rule: halted, rolled back, paused, planned, completed; then a failing gate, too few samples, ready, and otherwise the time that is left.
    static func sentence(_ migration: JSON, _ words: Wording, isList: Bool) -> Sentence {
        let id = words.text(migration["id"])
        let reason = migration["reason"]?.string.map { MigrationNotes.text($0, words) } ?? ""
        let stage = words(MigrationsText.stage(migration["stage"]?.string ?? Wording.unknown))
        let link = isList ? Link(id, Link.path("migrations", id)) : nil
        func answer(_ mark: Mark, _ text: Text) -> Sentence { Sentence(mark: mark, text: words(text), link: link) }
        switch migration["status"]?.string {
        case "halted": return answer(.bad, MigrationsText.halted(id, reason))
        case "rolledBack": return answer(.warn, MigrationsText.rolledBack(id, reason))
        case "paused": return answer(.warn, MigrationsText.paused(id, stage))
        case "planned": return answer(.idle, MigrationsText.planned(id))
        case "completed": return answer(.ok, MigrationsText.completed(id, words.time(migration["since"])))
        default: break
        }
        let gates = migration["gates"]?.array ?? []
        let failed = gates.filter { $0["verdict"]?.string == "failed" }
        if !failed.isEmpty { return answer(.bad, MigrationsText.failing(id, names(failed, words))) }
        if migration["ready"]?.bool == true { return answer(.ok, MigrationsText.ready(id, stage)) }
        let left = migration["remainingSeconds"]?.int
        let missing = gates.filter { $0["verdict"]?.string == "missing" }
        if !missing.isEmpty, left ?? 0 <= 0 {
            let texts = missing.map { gate in
                let name = words(MigrationsText.metricName(gate["metric"]?.string ?? ""))
                return "\(name): \(words(MigrationsText.missing(words.count(gate["missing"]))))"
            }
            return answer(.warn, MigrationsText.tooFew(id, texts.joined(separator: " · ")))
        }
        let time = left.map { words.duration(.seconds(max(0, $0))) } ?? Wording.unknown
        return answer(.info, MigrationsText.running(id, stage, time))
    }

    private static func names(_ gates: [JSON], _ words: Wording) -> String {
        gates.map { words(MigrationsText.metricName($0["metric"]?.string ?? "")) }.joined(separator: ", ")
    }

    private static func actions(_ migration: JSON, _ here: String, _ words: Wording) -> [Action] {
        let status = migration["status"]?.string ?? ""
        var actions = MigrationDecision.all.filter { $0.isAllowed(status, migration) }.map { decision -> Action in
            let fields = decision.fields(migration)
            guard decision.asks else {
                return .post(label: words(decision.label), path: "\(here)/\(decision.name)", fields: fields)
            }
            return Confirmation.button(
                words(decision.label),
                decision.name,
                path: "\(here)/\(decision.name)",
                fields: fields,
                isDangerous: decision.isDangerous
            )
        }
        if let app = migration["app"]?.string {
            actions.append(.link(Link(words(MigrationsText.parity), Link.path("apps", app, "parity"))))
            actions.append(.link(Link(words(AppsText.routes), Link.path("apps", app, "routes"))))
        }
        return actions
    }
}
