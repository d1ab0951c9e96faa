import Model
import PageParts

/// A decision about a migration: one button, and one call. One that goes forward is refused if the migration has another state or step than its page has shown,
/// because another person, or the gateway, has moved it since.
struct MigrationDecision: ConsoleForm {
    let name: String
    let permission = Permission.configure
    let label: Text
    /// Whether the page asks before the call.
    let asks: Bool
    let isDangerous: Bool
    /// The states that allow it.
    private let states: Set<String>

    private init(_ name: String, _ label: Text, _ states: Set<String>, asks: Bool = true, isDangerous: Bool = false) {
        self.name = name
        self.label = label
        self.states = states
        self.asks = asks
        self.isDangerous = isDangerous
    }

    static let all = [
        MigrationDecision("start", MigrationsText.start, ["planned"]),
        MigrationDecision("advance", MigrationsText.advance, ["running", "rolledOut"]),
        MigrationDecision("complete", MigrationsText.complete, ["rolledOut"], isDangerous: true),
        MigrationDecision("resume", MigrationsText.resume, ["paused", "halted", "rolledBack"], asks: false),
        MigrationDecision("pause", MigrationsText.pause, ["running", "rolledOut"], asks: false),
        MigrationDecision(
            "rollback",
            MigrationsText.rollback,
            ["running", "paused", "halted", "rolledOut"],
            isDangerous: true
        ),
        MigrationDecision(
            "rollback-full",
            MigrationsText.rollbackFull,
            ["running", "paused", "halted", "rolledOut", "rolledBack"],
            isDangerous: true
        ),
    ]

    /// The end has a button of its own, so that no one completes a migration by advancing it.
    func isAllowed(_ status: String, _ migration: JSON) -> Bool {
        guard states.contains(status) else { return false }
        switch name {
        case "advance": return Self.next(migration).map { $0 != "complete" } ?? false
        case "complete": return Self.next(migration) == "complete"
        default: return true
        }
    }

    /// The stage of the next step; nil: there is none.
    private static func next(_ migration: JSON) -> String? {
        let steps = migration["plan"]?["steps"]?.array ?? []
        guard let step = migration["step"]?.int, step >= 0, step < Int64(steps.count) - 1 else { return nil }
        return MigrationParts.stage(steps[Int(step) + 1])
    }

    func question(_ migration: JSON, _ words: Wording) -> Text {
        let waiting = words.count(migration["rollback"]?["waitingCalls"])
        switch name {
        case "start": return MigrationsText.startQuestion(Self.firstStage(migration, words))
        case "advance":
            let next = Self.next(migration).map { words(MigrationsText.stage($0)) } ?? Wording.unknown
            return MigrationsText.advanceQuestion(next)
        case "complete": return MigrationsText.completeQuestion
        case "rollback": return MigrationsText.rollbackQuestion(waiting)
        case "rollback-full": return MigrationsText.rollbackFullQuestion(waiting)
        default: return label
        }
    }

    private static func firstStage(_ migration: JSON, _ words: Wording) -> String {
        guard let first = migration["plan"]?["steps"]?.array?.first else { return Wording.unknown }
        return words(MigrationsText.stage(MigrationParts.stage(first)))
    }

    // MARK: Two people

    /// The state and the step, about which a decision is. `revision` would grow also when the gates of the step have passed.
    private static func version(_ migration: JSON) -> String {
        ["status", "step", "since"].map { migration[$0]?.lenientString ?? "" }.joined(separator: " ")
    }

    /// A pause or a rollback is never refused because of a change meanwhile.
    private var isForward: Bool { !["pause", "rollback", "rollback-full"].contains(name) }

    /// The hidden fields of the button.
    func fields(_ migration: JSON) -> [PageRequest.Parameter] {
        isForward ? [PageRequest.Parameter(ShownVersion.field, Self.version(migration))] : []
    }

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        ShownVersion.calls(of: MigrationPage(), request, fields, answers)
    }

    private func refusal(_ fields: FormFields, _ answers: Answers, _ language: Language) -> FieldErrors? {
        guard isForward else { return nil }
        return ShownVersion.refusal(fields, answers["migration"], language, of: Self.version) { _ in
            MigrationsText.changedMeanwhile
        }
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard !asks || Confirmation.isGiven(fields) else { return .show }
        if let refusal = refusal(fields, answers, request.language) { return .invalid(refusal) }
        let isFull = name == "rollback-full"
        let word = isFull ? "rollback" : name
        let path = "migrations/\(APICall.segment(request.path["migration"] ?? ""))/\(word)"
        return .call(APICall("decide", .post, path, query: isFull ? [PageRequest.Parameter("full", "true")] : []))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(MigrationsText.changed) : .invalid(FieldErrors(answer))
    }
}
