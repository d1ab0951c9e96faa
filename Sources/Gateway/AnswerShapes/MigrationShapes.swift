import Migration
import MigrationStore
package import Migrations
import Model

/// The JSON forms of migrations.
package enum MigrationShapes {
    /// A plan that was checked.
    package struct Planned: Sendable {
        package var checked: CheckedPlan
        package var isStored: Bool

        package init(checked: CheckedPlan, isStored: Bool) {
            self.checked = checked
            self.isStored = isStored
        }
    }

    package static let planned = AnswerShape<Planned>(
        "PlannedMigration",
        [
            .text("id", "The migration's name.", example: "leave-upmc") { $0.checked.plan.id },
            .text("app", "The app.", example: "shop") { $0.checked.plan.app.rawValue },
            .flag("stored", "Whether the plan is stored.") { $0.isStored },
            .texts("faults", "Why it may not start; empty: it may.", example: "steps[2]: receipts: is needed") {
                $0.checked.faults
            },
            .texts("warnings", "Facts that should be known before the start.") { $0.checked.warnings },
        ]
    )

    private static let members: [AnswerShape<ReadMigration>.Member] = [
        .text("id", "The migration's name.", example: "leave-upmc") { $0.stored.id },
        .text("app", "The app.", example: "shop") { $0.plan.app.rawValue },
        .text("from", "The upstream that the app leaves.", example: "old-upmc") { $0.plan.upstream.rawValue },
        .word("status", "The state.") { $0.state.status },
        .int("step", "The step in force, or the one that a rollback left, from 0.") { $0.state.step },
        .text("stage", "Its stage.", example: "rollout 1 %") { $0.step?.stage.description ?? "-" },
        .optionalTime("since", "When the step came into force; null: it has not begun.") { $0.state.since },
        .flag("ready", "Whether the last evaluation found the step complete.") { $0.state.isReady },
        .optionalText("reason", "Why it was halted or rolled back.") { $0.state.reason },
        .int64("revision", "Raised with each change.") { $0.state.revision },
        .time("createdAt", "When it was planned.") { $0.stored.createdAt },
    ]

    package static let entry = AnswerShape<ReadMigration>("MigrationEntry", members)

    package static let page = AnswerPage("migrations", entry, next: .text(example: "leave-upmc"), title: "Migrations")

    private static let gate = AnswerShape<MigrationMachine.GateResult>(
        "MigrationGate",
        [
            .word("metric", "The figure that is compared.") { $0.gate.metric },
            .init("limit", JSONSchema.number.example(.number("0.999")).described("The limit.")) {
                .number("\($0.gate.limit)")
            },
            .flag("atLeast", "Whether the limit is the least permitted value; otherwise the greatest.") {
                $0.gate.metric.wantsMore
            },
            .word("verdict", among: ["passed", "failed", "missing"], "The result now.") { $0.verdict.word },
            .init(
                "value",
                JSONSchema.number.example(.number("0.9995")).nullable.described("The value; null: too few samples.")
            ) { $0.verdict.measurement.map { .number("\($0.value)") } ?? .null },
            .optionalInt("samples", "The samples behind the value; null: too few.") { $0.verdict.measurement?.samples },
            .flag(
                "recent",
                "Whether the value is that of the last quarter hours, which fail although the whole step passes."
            ) { $0.verdict.isRecent },
            .int("needed", "The samples without which a value says nothing.") { $0.gate.samples },
            .int("missing", "The samples that are missing.") { $0.verdict.missing },
        ]
    )

    private static let note = AnswerShape<MigrationNote>(
        "MigrationNote",
        [
            .int64("revision", "The revision.") { $0.revision },
            .time("at", "When it was made.") { $0.at },
            .text("status", "The state after it.", example: "running") { $0.status },
            .int("step", "The step after it, from 0.") { $0.step },
            .text("note", "The change.", example: "serve is in force") { $0.note },
            .text("actor", "The author.", example: "key:ops") { $0.actor },
            .optionalInt("routeVersion", "The version of the app's rules that it made; null: none.") {
                $0.routeVersion
            },
        ]
    )

    private static let cost = AnswerShape<WaitingCalls>(
        "MigrationRollback",
        [
            .int("waitingCalls", "The calls that the upstream has not received yet.") { $0.count },
            .int("oldestSeconds", "The age of the oldest one.") { Int(clamping: $0.oldest.components.seconds) },
            .flag(
                "missesCalls",
                "Whether so many wait that further ones are left out: import the devices before a rollback."
            ) {
                $0.isFull
            },
        ]
    )

    package static let report = AnswerShape<MigrationReport>(
        "Migration",
        AnswerShape.members(members) { $0.migration } + [
            .int("steps", "The number of steps.") { $0.migration.plan.steps.count },
            .optionalInt("remainingSeconds", "The rest of the step; null: its clock does not run.") {
                $0.remaining.map { Int(clamping: $0.components.seconds) }
            },
            .list("gates", gate, "The gates of the step, with their results now.") { $0.gates },
            .shape("rollback", cost, "The calls that a rollback would wait for now.") { $0.waiting },
            .list("history", note, "The last \(PostgresMigrationStore.historyLimit) changes, newest first.") {
                $0.history
            },
            .anyObject("plan", "The plan, as the file states it.") { $0.migration.stored.plan },
        ]
    )
}

extension MigrationVerdict {
    fileprivate var word: String {
        switch self {
        case .passed: "passed"
        case .failed, .failedRecently: "failed"
        case .missing: "missing"
        }
    }

    fileprivate var measurement: MigrationMeasurement? {
        switch self {
        case .passed(let measurement), .failed(let measurement): measurement
        case .failedRecently(let reading): MigrationMeasurement(reading.value, samples: reading.samples)
        case .missing: nil
        }
    }

    fileprivate var isRecent: Bool { if case .failedRecently = self { true } else { false } }

    fileprivate var missing: Int {
        switch self {
        case .passed, .failed, .failedRecently: 0
        case .missing(let count): count
        }
    }
}
