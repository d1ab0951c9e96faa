import EngineStore
package import Migration
package import MigrationStore
package import Model
package import Provisioning
import Routing
package import Store

/// Plans migrations, carries out decisions about them, and evaluates them. The decisions themselves are those of `MigrationMachine`.
package struct MigrationProvisioner: Sendable {
    package let store: PostgresMigrationStore
    package let routes: RouteProvisioner
    package let meter: MigrationMeter
    private let clock: any WallClock

    package init(
        store: PostgresMigrationStore,
        routes: RouteProvisioner,
        meter: MigrationMeter,
        clock: any WallClock
    ) {
        self.store = store
        self.routes = routes
        self.meter = meter
        self.clock = clock
    }

    // MARK: Plans

    /// Reads and checks the file of a migration.
    ///
    /// - Throws: `ProvisioningProblem` for a file that cannot be read, `MasterKeyError`, `StoreError`.
    package func check(_ file: JSONObject, in tenant: TenantID) async throws -> CheckedPlan {
        // The form first: what the file names is looked up only if it can be read.
        let read = try MigrationReader.read(.object(file), defaultUnit: .device)
        guard let found = try await routes.upstream(read.upstream, of: tenant) else {
            throw ProvisioningProblem(path: "migration.from", problem: "the tenant does not have such an upstream")
        }
        guard let known = try await routes.store.routes(of: read.app, in: tenant) else {
            throw ProvisioningProblem(path: "migration.app", problem: "the tenant does not have it")
        }
        let facts = found.facts
        let plan = try MigrationReader.read(.object(file), defaultUnit: facts.addressesUsers ? .user : .device)
        let scope = AppScope(app: plan.app, vendor: facts.vendor)
        let without = try await store.withoutTransport(scope, in: tenant)
        let measurable = MigrationMetric.measurable(reportsReceipts: found.reportsReceipts)
        let check = MigrationCheck(plan, facts, measurable: measurable, withoutTransport: without)
        var checked = CheckedPlan(
            plan: plan,
            document: Self.document(file, plan),
            facts: facts,
            faults: check.faults.map(\.description),
            warnings: []
        )
        if checked.faults.isEmpty {
            let overlays = plan.steps.map { plan.rules($0.stage, facts) }
            if let fault = try await routes.problem(with: overlays, of: plan.app, in: tenant) {
                checked.faults.append("steps[\(fault.overlay)]: its rules cannot be in force: \(fault.problem)")
            }
        }
        if let current = known.current, !current.overlay.isEmpty {
            checked.warnings.append("the start replaces the overlay of version \(current.version)")
        }
        let imported = try await store.imports(scope, in: tenant, since: Timestamp(milliseconds: 0))
        if let warning = Self.warning(imports: imported.imports, consents: imported.consents) {
            checked.warnings.append(warning)
        }
        if without > 0 {
            checked.warnings.append("\(without) devices of the last 30 days have no direct transport")
        }
        if let warning = CheckedPlan.warning(plan, facts) { checked.warnings.append(warning) }
        return checked
    }

    /// Warnings of data that no import has brought.
    ///
    /// - Parameters:
    ///   - imports: the number of imports of the app's devices.
    ///   - consents: the number of their rows that state whether a user wants pushes, or a consent.
    /// - Returns: nil if there were such rows.
    package static func warning(imports: Int, consents: Int) -> String? {
        guard consents == 0 else { return nil }
        let what =
            imports == 0 ? "no devices were imported" : "no import had a value in the columns acceptsPush and consents"
        return what + ": opt-outs that were made at the vendor are not known here"
    }

    /// The file with the unit of its rollouts, so that it is read again as it was checked.
    private static func document(_ file: JSONObject, _ plan: MigrationPlan) -> JSONObject {
        var document = file
        var head = file["migration"]?.object ?? [:]
        head["by"] = .string(plan.unit.rawValue)
        document["migration"] = .object(head)
        return document
    }

    /// Stores a checked plan.
    ///
    /// - Throws: `StoreError`.
    package func put(
        _ checked: CheckedPlan,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> PostgresMigrationStore.Put {
        let new = NewMigration(
            id: checked.plan.id,
            app: checked.plan.app,
            upstream: checked.plan.upstream,
            plan: checked.document,
            state: MigrationState().json.object ?? [:]
        )
        return try await store.put(new, in: tenant, by: actor)
    }

    // MARK: Status

    /// Returns a migration with the results of its gates now. Nil: the tenant does not have it.
    ///
    /// - Throws: `ProvisioningProblem` when this program does not know the plan or the state, `MasterKeyError`, `StoreError`.
    package func report(_ id: String, in tenant: TenantID) async throws -> MigrationReport? {
        guard let stored = try await store.migration(id, in: tenant) else { return nil }
        let migration = try ReadMigration(stored)
        let now = clock.now()
        var gates: [MigrationMachine.GateResult] = []
        if let found = try await routes.upstream(migration.plan.upstream, of: tenant) {
            let machine = MigrationMachine(migration.plan, found.facts)
            gates = machine.gates(migration.state, try await measured(migration, found.facts, in: tenant, now))
        }
        return MigrationReport(
            migration: migration,
            gates: gates,
            remaining: migration.remaining(at: now),
            waiting: try await store.waitingCalls(for: migration.plan.upstream, in: tenant),
            history: try await store.history(of: id, in: tenant)
        )
    }

    /// The figures of the gates of the step, if one is in force.
    private func measured(
        _ migration: ReadMigration,
        _ facts: UpstreamFacts,
        in tenant: TenantID,
        _ now: Timestamp
    ) async throws(StoreError) -> [MigrationMetric: MigrationMeasurement] {
        guard let step = migration.step, let since = migration.state.since, !step.gates.isEmpty else { return [:] }
        let subject = MigrationMeter.Subject(
            tenant: tenant,
            scope: AppScope(app: migration.plan.app, vendor: facts.vendor),
            upstream: migration.plan.upstream,
            since: since
        )
        return try await meter.measure(Set(step.gates.map(\.metric)), of: subject, now: now)
    }

    // MARK: Decisions

    /// The result of a decision.
    package enum Outcome: Sendable, Hashable {
        /// The tenant does not have the migration.
        case missing
        /// It has no effect: why, for people.
        case refused(String)
        /// Other changes came between, several times.
        case busy
        /// It is in force; one sentence about it.
        case changed(String)
    }

    /// Three attempts: an evaluation may come between the read and the write.
    private static let attempts = 3

    /// Carries out an operator's decision.
    ///
    /// - Throws: `ProvisioningProblem` when this program does not know the plan, or the rules of the stage cannot be in force; `MasterKeyError`, `StoreError`.
    package func order(
        _ order: MigrationOrder,
        _ id: String,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> Outcome {
        for _ in 0..<Self.attempts {
            guard let stored = try await store.migration(id, in: tenant) else { return .missing }
            let migration = try ReadMigration(stored)
            guard let found = try await routes.upstream(migration.plan.upstream, of: tenant) else {
                return .refused("the tenant does not have the upstream '\(migration.plan.upstream)' any longer")
            }
            let now = clock.now()
            let figures = order.needsFigures ? try await measured(migration, found.facts, in: tenant, now) : [:]
            let change: MigrationChange
            do throws(MigrationMachine.Refusal) {
                change = try MigrationMachine(migration.plan, found.facts).order(
                    order,
                    migration.state,
                    figures,
                    now: now
                )
            } catch {
                return .refused(error.what)
            }
            if let reason = try await refusal(of: change, migration, found.facts, in: tenant) {
                return .refused(reason)
            }
            if try await carryOut(change, of: migration, next: .zero, in: tenant, by: actor) {
                return .changed(change.note)
            }
        }
        return .busy
    }

    /// Why a change that the machine permits must not be made: another migration has the overlay, the app is retired, or devices would lose their only transport.
    private func refusal(
        of change: MigrationChange,
        _ migration: ReadMigration,
        _ facts: UpstreamFacts,
        in tenant: TenantID
    ) async throws(StoreError) -> String? {
        if change.state.status.isActive, !migration.stored.isActive,
            let other = try await routes.store.migration(of: migration.plan.app, in: tenant),
            other != migration.stored.id
        {
            return "the migration '\(other)' of the app has not ended"
        }
        if change.overlay != nil, try await routes.store.routes(of: migration.plan.app, in: tenant) == nil {
            return "the tenant does not have the app '\(migration.plan.app)' any longer, so that it has no rules"
        }
        if change.state.status == .completed, !migration.plan.isOnlyIOS {
            let scope = AppScope(app: migration.plan.app, vendor: facts.vendor)
            let without = try await store.withoutTransport(scope, in: tenant)
            if without > 0 {
                return "\(without) devices of the last 30 days have no direct transport; stay in 'hold', "
                    + "or roll back and plan the migration under another id with 'platforms: [ios]'"
            }
        }
        return nil
    }

    /// Writes a change, with the rules that it puts in force.
    ///
    /// - Returns: false if the migration or the rules have changed meanwhile; nothing was written.
    private func carryOut(
        _ change: MigrationChange,
        of migration: ReadMigration,
        next: Duration,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws -> Bool {
        let revision = Self.revision(change, of: migration, next: next)
        if let overlay = change.overlay {
            let companion = PostgresMigrationStore.companion(revision, in: tenant, by: actor)
            let written = try await routes.migrate(
                migration.plan.app,
                to: overlay,
                with: companion,
                in: tenant,
                by: actor
            )
            switch written {
            case .stored: return true
            case .outdated, .busy, .missing: return false
            // The rules of two stages may be the same.
            case .unchanged: break
            }
        }
        return try await store.change(revision, in: tenant, by: actor)
    }

    private static func revision(
        _ change: MigrationChange,
        of migration: ReadMigration,
        next: Duration
    ) -> MigrationRevision {
        let (before, state) = (migration.state, change.state)
        let isShown =
            change.overlay != nil || before.status != state.status || before.step != state.step
            || state.isReady && !before.isReady
        return MigrationRevision(
            id: migration.stored.id,
            app: migration.plan.app,
            state: state.json.object ?? [:],
            revision: state.revision,
            isActive: state.status.isActive,
            entry: isShown ? .init(status: state.status.rawValue, step: state.step, note: change.note) : nil,
            next: next
        )
    }

    // MARK: Evaluation

    /// The result of an evaluation.
    package struct Evaluation: Sendable {
        package var migration: ReadMigration
        package var gates: [MigrationMachine.GateResult]
        /// Nil: nothing changed.
        package var change: MigrationChange?
        /// False: somebody else changed the migration meanwhile, and the next evaluation decides.
        package var isWritten = true
    }

    /// Evaluates a migration that this node has taken.
    ///
    /// - Parameters:
    ///   - claimed: the migration.
    ///   - interval: the time until its next evaluation.
    /// - Returns: nil if its upstream does not exist.
    /// - Throws: `ProvisioningProblem`, `MasterKeyError`, `StoreError`.
    package func evaluate(_ claimed: ClaimedMigration, interval: Duration) async throws -> Evaluation? {
        let migration = try ReadMigration(claimed.migration)
        let tenant = claimed.migration.tenant
        guard let found = try await routes.upstream(migration.plan.upstream, of: tenant) else { return nil }
        guard migration.state.status.isMeasured else { return Evaluation(migration: migration, gates: [], change: nil) }
        let machine = MigrationMachine(migration.plan, found.facts)
        let figures = try await measured(migration, found.facts, in: tenant, claimed.now)
        let gates = machine.gates(migration.state, figures)
        guard let change = machine.evaluate(migration.state, figures, now: claimed.now) else {
            return Evaluation(migration: migration, gates: gates, change: nil)
        }
        let isWritten = try await carryOut(change, of: migration, next: interval, in: tenant, by: .gateway)
        return Evaluation(migration: migration, gates: gates, change: change, isWritten: isWritten)
    }
}

extension MigrationOrder {
    /// Whether it depends on the gates.
    fileprivate var needsFigures: Bool {
        switch self {
        case .advance, .complete: true
        case .start, .pause, .resume, .rollback: false
        }
    }
}
