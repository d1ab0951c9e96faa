package import Migration
package import MigrationStore
package import Model
package import Routing

/// A migration with its plan and its state.
package struct ReadMigration: Sendable {
    package var stored: StoredMigration
    package var plan: MigrationPlan
    package var state: MigrationState

    /// - Throws: `ProvisioningProblem` when this program does not know the plan or the state.
    package init(_ stored: StoredMigration) throws(ProvisioningProblem) {
        self.stored = stored
        plan = try MigrationReader.read(.object(stored.plan), defaultUnit: .device)
        guard let state = MigrationState(.object(stored.state), revision: stored.revision) else {
            throw ProvisioningProblem(path: "state", problem: "was written by a newer version of the gateway")
        }
        self.state = state
    }

    /// The step that is in force, or that a rollback left.
    package var step: MigrationStep? { plan.steps.indices.contains(state.step) ? plan.steps[state.step] : nil }

    /// The rest of the least duration of the step; nil: its clock does not run.
    package func remaining(at now: Timestamp) -> Duration? {
        guard let step, let since = state.since, state.status.isMeasured else { return nil }
        return max(.zero, step.duration - (now - since))
    }
}

extension MigrationState.Status {
    /// Whether the migration decides the overlay of its app.
    package var isActive: Bool {
        switch self {
        case .running, .paused, .halted, .rolledOut: true
        case .planned, .rolledBack, .completed: false
        }
    }

    /// Whether its gates are evaluated.
    package var isMeasured: Bool {
        switch self {
        case .running, .rolledOut: true
        case .planned, .paused, .halted, .rolledBack, .completed: false
        }
    }
}

/// A migration with its gates, its cost and its history, for people.
package struct MigrationReport: Sendable {
    package var migration: ReadMigration
    /// The gates of the step with their results now.
    package var gates: [MigrationMachine.GateResult]
    /// The rest of the step.
    package var remaining: Duration?
    /// The calls that the upstream has not received yet: what a rollback would wait for.
    package var waiting: WaitingCalls
    /// The changes, the newest first.
    package var history: [MigrationNote]
}

/// A file of a migration, read and checked.
package struct CheckedPlan: Sendable {
    package var plan: MigrationPlan
    /// The file with every default in it.
    package var document: JSONObject
    package var facts: UpstreamFacts
    /// Why it may not start. Empty: it may.
    package var faults: [String]
    /// Facts that the operator should know.
    package var warnings: [String]
}

extension CheckedPlan {
    /// The warning that the vendor cannot push to other devices of users who have moved: it would push to all of them.
    ///
    /// - Returns: nil if the vendor can, or the plan moves no whole share.
    package static func warning(_ plan: MigrationPlan, _ facts: UpstreamFacts) -> String? {
        guard facts.addressesUsers, !facts.splitsPlatforms,
            let first = plan.steps.first(where: \.stage.movesAllPushes)
        else { return nil }
        return "from '\(first.stage)' on, devices without a direct transport get no pushes, "
            + "because the vendor would push to all devices of their users"
    }
}
