package import Model
package import Routing

/// The way of a migration, as its file states it.
package struct MigrationPlan: Sendable, Hashable {
    /// The treatment of a gate that fails.
    package enum Failure: String, Sendable, Hashable, CaseIterable {
        /// The step stays, and an operator decides.
        case hold
        /// Sends are proxied again.
        case rollback
    }

    /// The progress from a step to the next one.
    package enum Advance: String, Sendable, Hashable, CaseIterable {
        case manual
        /// As soon as the step is complete.
        case auto
    }

    /// Its name, and the salt of its rollouts.
    package var id: String
    package var app: AppID
    /// The vendor that the app leaves.
    package var upstream: CredentialID
    package var unit: Rollout.Unit
    package var onFailure: Failure
    package var advance: Advance
    /// Whether devices of other platforms than iOS stay with the vendor.
    package var isOnlyIOS: Bool
    package var steps: [MigrationStep]

    package init(
        id: String,
        app: AppID,
        upstream: CredentialID,
        unit: Rollout.Unit,
        onFailure: Failure = .hold,
        advance: Advance = .manual,
        isOnlyIOS: Bool = false,
        steps: [MigrationStep]
    ) {
        self.id = id
        self.app = app
        self.upstream = upstream
        self.unit = unit
        self.onFailure = onFailure
        self.advance = advance
        self.isOnlyIOS = isOnlyIOS
        self.steps = steps
    }
}

/// A step: a stage, its least duration, and its gates.
package struct MigrationStep: Sendable, Hashable {
    package var stage: MigrationStage
    package var duration: Duration
    /// In the order of the metrics.
    package var gates: [MigrationGate]
    /// Metrics that the file gives up by name.
    package var waived: Set<MigrationMetric>

    package init(
        _ stage: MigrationStage,
        for duration: Duration = .zero,
        gates: [MigrationGate] = [],
        waived: Set<MigrationMetric> = []
    ) {
        self.stage = stage
        self.duration = duration
        self.gates = gates
        self.waived = waived
    }
}

/// The sides that answer calls and push, from the vendor alone to the gateway alone.
package enum MigrationStage: Sendable, Hashable, CustomStringConvertible {
    /// Everything is proxied and observed.
    case observe
    /// Devices, users and reads are served here and forwarded. Sends are proxied.
    case serve
    /// This share of the users, or of the devices, gets its pushes from the gateway. Unit: hundredths of a per cent.
    case rollout(Int)
    /// All pushes come from the gateway. Calls are forwarded, so that a rollback remains possible.
    case hold
    /// The vendor is not used any longer.
    case complete

    /// The share of pushes that come from the gateway. Unit: hundredths of a per cent.
    package var share: Int {
        switch self {
        case .observe, .serve: 0
        case .rollout(let hundredths): hundredths
        case .hold, .complete: 10_000
        }
    }

    /// Whether all pushes come from the gateway.
    package var movesAllPushes: Bool { share == 10_000 }

    /// The place among the stages. Steps never go back.
    var rank: Int {
        switch self {
        case .observe: 0
        case .serve: 1
        case .rollout(let hundredths): 2 + hundredths
        case .hold: 10_003
        case .complete: 10_004
        }
    }

    package var description: String {
        switch self {
        case .observe: "observe"
        case .serve: "serve"
        case .rollout(let hundredths):
            "rollout \(Rollout(hundredths: hundredths, by: .user, salt: "")?.percent ?? "-") %"
        case .hold: "hold"
        case .complete: "complete"
        }
    }
}
