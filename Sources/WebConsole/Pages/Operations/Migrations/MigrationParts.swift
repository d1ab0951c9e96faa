import Model
import PageParts

/// The cards of a migration.
struct MigrationParts {
    private let migration: JSON
    private let words: Wording

    init(_ migration: JSON, _ words: Wording) {
        self.migration = migration
        self.words = words
    }

    // MARK: Gates

    var gates: Block {
        let gates = migration["gates"]?.array ?? []
        guard !gates.isEmpty else {
            return Block(
                width: 7,
                title: words(MigrationsText.gates),
                body: [.text(words(MigrationsText.noGates))]
            )
        }
        let table = Table(
            caption: words(MigrationsText.gates),
            columns: [
                .init(label: words(MigrationsText.metric)), .init(label: words(MigrationsText.result)),
                .init(label: words(MigrationsText.value), isNumber: true),
                .init(label: words(MigrationsText.limit), isNumber: true),
                .init(label: words(MigrationsText.samples), isNumber: true),
            ],
            rows: gates.map(row)
        )
        var parts: [Part] = [.table(table)]
        let missing = gates.filter { $0["verdict"]?.string == "missing" }
        parts += missing.map { gate in
            let metric = gate["metric"]?.string ?? ""
            let count = words(MigrationsText.missing(words.count(gate["missing"])))
            let advice = words(MigrationsText.moreFrom(metric))
            return .callout(.idle, "\(words(MigrationsText.metricName(metric))): \(count). \(advice)", link: nil)
        }
        return Block(
            width: 7,
            title: words(MigrationsText.gates),
            note: words(MigrationsText.gatesNote),
            body: parts
        )
    }

    private func row(_ gate: JSON) -> Table.Row {
        let metric = gate["metric"]?.string ?? ""
        let sign = gate["atLeast"]?.bool == true ? "≥ " : "≤ "
        let limit = gate["limit"]?.double.map { sign + number($0, metric) } ?? Wording.unknown
        let samples = gate["samples"]?.int ?? missingSamples(gate)
        return Table.Row(
            cells: [
                .strong(words(MigrationsText.metricName(metric))), verdict(gate),
                .text(gate["value"]?.double.map { number($0, metric) } ?? Wording.unknown), .text(limit),
                .text("\(words.count(samples)) / \(words.count(gate["needed"]))"),
            ],
            id: metric
        )
    }

    /// The samples of a gate that has too few.
    private func missingSamples(_ gate: JSON) -> Int64? {
        guard let needed = gate["needed"]?.int, let missing = gate["missing"]?.int else { return nil }
        let (samples, overflow) = needed.subtractingReportingOverflow(missing)
        return overflow ? nil : max(0, samples)
    }

    private func verdict(_ gate: JSON) -> Table.Cell {
        switch gate["verdict"]?.string {
        case "passed": .tag(.ok, words(MigrationsText.passed))
        case "failed":
            .tag(.bad, words(gate["recent"]?.bool == true ? MigrationsText.failedRecently : MigrationsText.failed))
        case "missing": .tag(.idle, words(MigrationsText.missing(words.count(gate["missing"]))))
        default: .text(words.text(gate["verdict"]))
        }
    }

    /// Times in seconds, counts as they are, receipts as a ratio, everything else as a share.
    private func number(_ value: Double, _ metric: String) -> String {
        switch metric {
        case "p99", "backlog": words.decimal(value) + words(Text(ko: "초", en: " s"))
        case "optOuts": words.decimal(value)
        default: words.share(value)
        }
    }

    // MARK: Facts

    var facts: Block {
        let status = migration["status"]?.string ?? ""
        let left = migration["remainingSeconds"]?.int
        let remaining =
            switch left {
            case nil: words(MigrationsText.clockStopped)
            case let left? where left > 0: words.duration(.seconds(left))
            default: words(MigrationsText.over)
            }
        let rollback = migration["rollback"]
        var facts = [
            Fact(label: words(OperationsText.state), value: words(MigrationsText.status(status))),
            Fact(
                label: words(OperationsText.app),
                value: words.text(migration["app"]),
                link: migration["app"]?.string.map { Link($0, Link.path("apps", $0)) }
            ),
            Fact(label: words(MigrationsText.from), value: words.text(migration["from"]), isMono: true),
            Fact(label: words(MigrationsText.since), value: words.time(migration["since"])),
            Fact(label: words(MigrationsText.remaining), value: remaining),
            Fact(label: words(MigrationsText.waiting), value: words.count(rollback?["waitingCalls"])),
        ]
        if let seconds = rollback?["oldestSeconds"]?.int, rollback?["waitingCalls"]?.int ?? 0 > 0 {
            let age = words.duration(.seconds(max(0, seconds)))
            facts.append(Fact(label: words(MigrationsText.oldest), value: age))
        }
        if let reason = migration["reason"]?.string {
            facts.append(Fact(label: words(MigrationsText.reason), value: MigrationNotes.text(reason, words)))
        }
        var parts: [Part] = [.facts(facts)]
        if rollback?["missesCalls"]?.bool == true {
            parts.append(.callout(.warn, words(MigrationsText.missesCalls), link: nil))
        }
        return Block(
            width: 5,
            title: words(MigrationsText.facts),
            note: words(OperationsText.source),
            body: parts
        )
    }

    // MARK: Steps

    var steps: Block {
        let steps = migration["plan"]?["steps"]?.array ?? []
        let current = migration["step"]?.int ?? -1
        let hasBegun = migration["since"]?.string != nil
        let isOver = migration["status"]?.string == "completed"
        let table = Table(
            caption: words(MigrationsText.steps),
            columns: [
                .init(label: words(MigrationsText.step)), .init(label: words(OperationsText.state)),
                .init(label: words(MigrationsText.minimum)), .init(label: words(MigrationsText.gates)),
            ],
            rows: steps.enumerated().map { index, step in
                let place = Int64(index)
                let state: Table.Cell =
                    if hasBegun, place < current || (place == current && isOver) {
                        .tag(.ok, words(MigrationsText.done))
                    } else if hasBegun, place == current {
                        .tag(.info, words(MigrationsText.current))
                    } else {
                        .tag(.idle, words(MigrationsText.upcoming))
                    }
                let name = "\(index + 1). \(words(MigrationsText.stage(Self.stage(step))))"
                return Table.Row(
                    cells: [
                        place == current ? .strong(name) : .text(name), state, .text(words.text(step["for"])),
                        .text(conditions(step["gates"])),
                    ],
                    id: String(index)
                )
            }
        )
        return Block(title: words(MigrationsText.steps), body: [.table(table)])
    }

    /// The stage of a step of the plan, as the answer names that of the step in force.
    static func stage(_ step: JSON) -> String {
        let stage = step["stage"]?.string ?? Wording.unknown
        guard stage == "rollout", let percent = step["percent"]?.lenientString else { return stage }
        return "rollout \(percent) %"
    }

    private func conditions(_ gates: JSON?) -> String {
        let texts = (gates?.object?.pairs ?? []).map { name, limit in
            var text = limit.string ?? limit["limit"]?.string ?? Wording.unknown
            if text == "none" { text = words(MigrationsText.notChecked) }
            return "\(words(MigrationsText.metricName(name))) \(text)"
        }
        return texts.isEmpty ? Wording.unknown : texts.joined(separator: " · ")
    }

    // MARK: History

    var history: Block {
        let notes = migration["history"]?.array ?? []
        let moments = notes.map { note in
            let status = note["status"]?.string ?? ""
            let version = note["routeVersion"]?.int.map {
                "\(words(MigrationsText.byFile)) \(words.count($0))"
            }
            return TimelineMoment(
                time: words.time(note["at"]),
                mark: MigrationsText.mark(status),
                title: MigrationNotes.text(words.text(note["note"]), words),
                detail: version,
                source: words(ActorName.of(note["actor"]?.string ?? ""))
            )
        }
        return Block(title: words(MigrationsText.history), body: [.timeline(moments)])
    }
}
