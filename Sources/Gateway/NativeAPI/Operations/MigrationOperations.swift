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
        answers: [.json(MigrationShapes.planned.schema, "The plan, with what should be known about it.")],
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

    static let list = NativeOperation(
        "listMigrations",
        .get,
        "/v1/migrations",
        scope: .read,
        "List the tenant's migrations by name.",
        input: ListInput(),
        answers: [.json(MigrationShapes.page.schema, "A page of migrations.")],
        NativeAPI.listMigrations
    )

    struct ShowInput: InputFields {
        let migration = MigrationOperations.name
        let app = QueryField.optional("app", .app, "The migration's app, for keys that are limited to apps.")
    }

    static let show = NativeOperation(
        "showMigration",
        .get,
        "/v1/migrations/{migration}",
        scope: .read,
        "Show a migration: its step, its gates with their results now, and what a rollback would wait for.",
        input: ShowInput(),
        answers: [.json(MigrationShapes.report.schema, "The migration.")],
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
            answers: [.json(MigrationShapes.report.schema, "The migration after the change.")],
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
            case .taken: throw .invalid("migration.id", "one of this id has begun or is of another app; give another")
            case .missing: throw .invalid("migration.app", "the tenant does not have it")
            case .full: throw .invalid("migration", "at most \(PostgresMigrationStore.limit) per tenant")
            }
        }
        return .json(MigrationShapes.planned.json(.init(checked: checked, isStored: !isDryRun)))
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
            "migrations": .array(read.map { MigrationShapes.entry.json($0) }),
            "next": next.map { .string($0) } ?? .null,
        ])
    }

    func showMigration(_ call: NativeCall<MigrationOperations.ShowInput>) async throws(Problem) -> Response {
        let app = try call.app
        let report = try await report(of: try call.migration, in: call.tenant)
        guard app == nil || app == report.migration.plan.app else { throw .notFound("no such migration") }
        return .json(MigrationShapes.report.json(report))
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
        case .changed: return .json(MigrationShapes.report.json(try await report(of: id, in: tenant)))
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
