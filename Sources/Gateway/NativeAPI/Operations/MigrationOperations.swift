import AnswerShapes
import GatewayHTTP
import Hummingbird
import Logging
import Migration
import MigrationStore
import Migrations
import Model
import Observability
import Store

/// `/v1/migrations`: the way of an app from its vendor to the gateway, in steps with gates.
enum MigrationOperations {
    static let all = [plan, list, show, start, advance, pause, resume, rollback, complete]

    // MARK: Planning

    struct PlanInput: InputFields {
        let dryRun = QueryField.optional(
            "dryRun",
            .flag,
            default: false,
            as: false,
            "Check the plan without storing it. Its faults are then in the answer."
        )
        let migration = BodyField.required(
            "migration",
            InputKind<JSONObject>.anyObject,
            "`id`, `app`, `from` (the upstream), `by`, `onGateFailure`, `advance`, `platforms`."
        )
        let steps = BodyField.required(
            "steps",
            .list(InputKind<JSONObject>.anyObject, limit: MigrationCheck.stepLimit),
            "The steps: `stage`, `percent`, `for` and `gates`."
        )
    }

    /// A plan that was checked.
    struct Planned: Sendable {
        var checked: CheckedPlan
        var isStored: Bool
    }

    static let planned = AnswerShape<Planned>(
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

    private static let example: JSON = [
        "migration": [
            "id": "leave-upmc", "app": "shop", "from": "old-upmc", "by": "user", "onGateFailure": "rollback",
        ],
        "steps": [
            ["stage": "observe", "for": "2d", "gates": ["observed": ">= 0.999", "senders": ">= 1"]],
            ["stage": "serve", "for": "1d", "gates": ["devices": "<= 0.5%", "backlog": "<= 60s"]],
            [
                "stage": "rollout", "percent": 1, "for": "1d",
                "gates": ["failures": "<= 0.02", "receipts": ">= 0.97", "unknown": "<= 0.001"],
            ],
            ["stage": "hold", "for": "14d"], ["stage": "complete"],
        ],
    ]

    static let plan = NativeOperation(
        "planMigration",
        .post,
        "/v1/migrations",
        scope: .admin,
        "Check the plan of a migration and store it. It replaces one of the same name that has not begun.",
        input: PlanInput(),
        example: example,
        answers: [.json(planned.schema, "The plan, with what should be known about it.")],
        NativeAPI.planMigration
    ).audited(.act)

    // MARK: Reading

    private static let name = PathField.required(
        "migration",
        .text(64, atLeast: 1).example("leave-upmc"),
        "The migration's name."
    )

    struct ListInput: InputFields {
        let app = CommonInputs.appFilter
        let after = CommonInputs.afterName
        let limit = CommonInputs.limit
    }

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

    static let entry = AnswerShape<ReadMigration>("MigrationEntry", members)

    static let page = AnswerPage("migrations", entry, next: .text(example: "leave-upmc"), title: "Migrations")

    static let list = NativeOperation(
        "listMigrations",
        .get,
        "/v1/migrations",
        scope: .read,
        "List the tenant's migrations by name.",
        input: ListInput(),
        answers: [.json(page.schema, "A page of migrations.")],
        NativeAPI.listMigrations
    )

    struct ShowInput: InputFields {
        let migration = MigrationOperations.name
        let app = QueryField.optional("app", .app, "The migration's app, for keys that are limited to apps.")
    }

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

    static let report = AnswerShape<MigrationReport>(
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

    static let show = NativeOperation(
        "showMigration",
        .get,
        "/v1/migrations/{migration}",
        scope: .read,
        "Show a migration: its step, its gates with their results now, and what a rollback would wait for.",
        input: ShowInput(),
        answers: [.json(report.schema, "The migration.")],
        problems: [.notFound],
        NativeAPI.showMigration
    )

    // MARK: Decisions

    struct NameInput: InputFields {
        let migration = MigrationOperations.name
    }

    struct RollbackInput: InputFields {
        let migration = MigrationOperations.name
        let full = QueryField.optional(
            "full",
            .flag,
            default: false,
            as: false,
            "Proxy everything. Otherwise only sends are proxied, and devices and reads are still served."
        )
    }

    private static func act<Input: InputFields>(
        _ id: String,
        _ word: String,
        _ summary: String,
        _ input: Input,
        _ handler: @escaping @Sendable (NativeAPI) -> (NativeCall<Input>) async throws(Problem) -> Response
    ) -> NativeOperation {
        NativeOperation(
            id,
            .post,
            "/v1/migrations/{migration}/\(word)",
            scope: .admin,
            summary,
            input: input,
            answers: [.json(report.schema, "The migration after the change.")],
            problems: [.notFound],
            handler
        ).audited(.act)
    }

    static let start = act(
        "startMigration",
        "start",
        "Put the first step of a migration in force.",
        NameInput(),
        NativeAPI.startMigration
    )
    static let advance = act(
        "advanceMigration",
        "advance",
        "Put the next step in force, if the present one is over and each of its gates passes now.",
        NameInput(),
        NativeAPI.advanceMigration
    )
    static let pause = act(
        "pauseMigration",
        "pause",
        "Stop the clock and the gates of a migration. The rules of its step stay in force.",
        NameInput(),
        NativeAPI.pauseMigration
    )
    static let resume = act(
        "resumeMigration",
        "resume",
        "Continue a paused or halted migration, or the step that a rollback left. The clock of the step begins anew.",
        NameInput(),
        NativeAPI.resumeMigration
    )
    static let rollback = act(
        "rollbackMigration",
        "rollback",
        "Send through the vendor again.",
        RollbackInput(),
        NativeAPI.rollbackMigration
    )
    static let complete = act(
        "completeMigration",
        "complete",
        "End a migration: the upstream is not used any longer.",
        NameInput(),
        NativeAPI.completeMigration
    )
}

extension MigrationVerdict {
    fileprivate var word: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .missing: "missing"
        }
    }

    fileprivate var measurement: MigrationMeasurement? {
        switch self {
        case .passed(let measurement), .failed(let measurement): measurement
        case .missing: nil
        }
    }

    fileprivate var missing: Int {
        switch self {
        case .passed, .failed: 0
        case .missing(let count): count
        }
    }
}

extension NativeAPI {
    func planMigration(_ call: NativeCall<MigrationOperations.PlanInput>) async throws(Problem) -> Response {
        let isDryRun = try call.dryRun
        let file: JSONObject = [
            "migration": .object(try call.migration), "steps": .array(try call.steps.map { .object($0) }),
        ]
        let (migrations, tenant, actor) = (stores.migrations, call.tenant, call.actor)
        let checked = try await migrating { try await migrations.check(file, in: tenant) }
        if !isDryRun, let fault = checked.faults.first {
            let more =
                checked.faults.count > 1 ? " (and \(checked.faults.count - 1) more; ?dryRun=true lists them)" : ""
            throw .invalid("plan", fault + more)
        }
        if !isDryRun {
            switch try await migrating({ try await migrations.put(checked, in: tenant, by: actor) }) {
            case .stored: break
            case .taken: throw .invalid("migration.id", "a migration with this name has begun, or is of another app")
            case .missing: throw .invalid("migration.app", "the tenant does not have it")
            case .full: throw .invalid("migration", "at most \(PostgresMigrationStore.limit) per tenant")
            }
        }
        return .json(MigrationOperations.planned.json(.init(checked: checked, isStored: !isDryRun)))
    }

    func listMigrations(_ call: NativeCall<MigrationOperations.ListInput>) async throws(Problem) -> Response {
        let (app, after, limit) = (try call.app, try call.after, try call.limit)
        let found = try await asked { () async throws(StoreError) in
            try await stores.migrations.store.migrations(of: app, in: call.tenant, after: after, limit: limit)
        }
        // One that a newer program wrote is left out, and named by `next` if it is the last one.
        let read = found.compactMap { try? ReadMigration($0) }
        let next = found.count == limit ? found.last?.id : nil
        return .json([
            "migrations": .array(read.map { MigrationOperations.entry.json($0) }),
            "next": next.map { .string($0) } ?? .null,
        ])
    }

    func showMigration(_ call: NativeCall<MigrationOperations.ShowInput>) async throws(Problem) -> Response {
        let app = try call.app
        let report = try await report(of: try call.migration, in: call.tenant)
        guard app == nil || app == report.migration.plan.app else { throw .notFound("no such migration") }
        return .json(MigrationOperations.report.json(report))
    }

    private func report(of id: String, in tenant: TenantID) async throws(Problem) -> MigrationReport {
        let migrations = stores.migrations
        guard let report = try await migrating({ try await migrations.report(id, in: tenant) }) else {
            throw .notFound("no such migration")
        }
        return report
    }

    func startMigration(_ call: NativeCall<MigrationOperations.NameInput>) async throws(Problem) -> Response {
        try await decide(.start, try call.migration, call.tenant, call.actor)
    }

    func advanceMigration(_ call: NativeCall<MigrationOperations.NameInput>) async throws(Problem) -> Response {
        try await decide(.advance, try call.migration, call.tenant, call.actor)
    }

    func pauseMigration(_ call: NativeCall<MigrationOperations.NameInput>) async throws(Problem) -> Response {
        try await decide(.pause, try call.migration, call.tenant, call.actor)
    }

    func resumeMigration(_ call: NativeCall<MigrationOperations.NameInput>) async throws(Problem) -> Response {
        try await decide(.resume, try call.migration, call.tenant, call.actor)
    }

    func rollbackMigration(_ call: NativeCall<MigrationOperations.RollbackInput>) async throws(Problem) -> Response {
        try await decide(.rollback(isFull: try call.full), try call.migration, call.tenant, call.actor)
    }

    func completeMigration(_ call: NativeCall<MigrationOperations.NameInput>) async throws(Problem) -> Response {
        try await decide(.complete, try call.migration, call.tenant, call.actor)
    }

    private func decide(
        _ order: MigrationOrder,
        _ id: String,
        _ tenant: TenantID,
        _ actor: AuditActor
    ) async throws(Problem) -> Response {
        let migrations = stores.migrations
        switch try await migrating({ try await migrations.order(order, id, in: tenant, by: actor) }) {
        case .missing: throw .notFound("no such migration")
        case .refused(let reason): throw .invalid("migration", reason)
        case .busy: throw .unavailable(1)
        case .changed: return .json(MigrationOperations.report.json(try await report(of: id, in: tenant)))
        }
    }

    /// Runs a call of `MigrationProvisioner`, and answers its errors.
    private func migrating<Value: Sendable>(_ body: () async throws -> Value) async throws(Problem) -> Value {
        do {
            return try await body()
        } catch let problem as ProvisioningProblem {
            throw Problem.invalid(problem.path.isEmpty ? "body" : problem.path, problem.problem)
        } catch {
            logger.warning("migrations cannot be read or changed", metadata: [LogKey.error: "\(error)"])
            throw Problem.unavailable(5)
        }
    }
}
