package import Model
package import Routing

/// The state of a migration.
package struct MigrationState: Sendable, Hashable {
    package enum Status: String, Sendable, Hashable, CaseIterable {
        /// Nothing has changed yet.
        case planned
        /// A step is in force.
        case running
        /// An operator stopped the clock; the rules of the step stay in force.
        case paused
        /// A gate failed; the rules of the step stay in force.
        case halted
        /// Sends, or all calls, go to the vendor again.
        case rolledBack
        /// All pushes come from the gateway, and a rollback is still possible.
        case rolledOut
        /// The end.
        case completed
    }

    package var status = Status.planned
    /// The step, from 0; the one that was left by a rollback, too.
    package var step = 0
    /// When the step came into force.
    package var since: Timestamp?
    /// The evaluations that have found each gate failing since its last success. Those with too few samples are not among them.
    package var failures: [MigrationMetric: Int] = [:]
    /// Whether the last evaluation found that the step is over and each of its gates passes.
    package var isReady = false
    /// The reason of a halt or a rollback, for people.
    package var reason: String?
    /// Raised with each change, for compare-and-set.
    package var revision: Int64 = 0

    package init() {}
}

/// An operator's decision.
package enum MigrationOrder: Sendable, Hashable {
    case start
    case advance
    case pause
    /// Continues a paused or halted step, or the step that a rollback left. Its clock starts again at zero.
    case resume
    case rollback(isFull: Bool)
    case complete
}

/// The effect of a decision or of an evaluation.
package struct MigrationChange: Sendable, Hashable {
    package var state: MigrationState
    /// The new overlay; nil: that in force stays.
    package var overlay: RouteRules?
    /// One sentence, for the audit, the event and the operator.
    package var note: String
}

/// Decides about a migration from its plan, its state and the figures. Pure: whoever runs it stores the state, the rules and the note in one transaction.
package struct MigrationMachine: Sendable {
    /// A failure must persist: two evaluations find it, and none in between finds a success. An evaluation with too few samples in between is not a success:
    /// otherwise a fault whose samples are sometimes missing would never stop a migration.
    package static let failureLimit = 2

    /// Why a decision has no effect.
    package struct Refusal: Error, Sendable, Hashable {
        package var what: String
    }

    /// A gate with its result, for the status.
    package struct GateResult: Sendable, Hashable {
        package var gate: MigrationGate
        package var verdict: MigrationVerdict
    }

    package let plan: MigrationPlan
    private let facts: UpstreamFacts

    /// - Parameters:
    ///   - plan: a plan without faults.
    ///   - facts: those of the vendor that the app leaves.
    package init(_ plan: MigrationPlan, _ facts: UpstreamFacts) {
        self.plan = plan
        self.facts = facts
    }

    // MARK: Evaluation

    /// The gates of the step in force with their results.
    package func gates(
        _ state: MigrationState,
        _ measured: [MigrationMetric: MigrationMeasurement]
    ) -> [GateResult] {
        guard plan.steps.indices.contains(state.step) else { return [] }
        return plan.steps[state.step].gates.map { GateResult(gate: $0, verdict: $0.verdict(measured[$0.metric])) }
    }

    /// Evaluates the gates. Too few samples hold the step: they neither pass nor fail it.
    ///
    /// - Returns: nil if nothing changes.
    package func evaluate(
        _ state: MigrationState,
        _ measured: [MigrationMetric: MigrationMeasurement],
        now: Timestamp
    ) -> MigrationChange? {
        guard state.status == .running || state.status == .rolledOut, plan.steps.indices.contains(state.step) else {
            return nil
        }
        var next = state
        let results = gates(state, measured)
        for result in results {
            switch result.verdict {
            case .passed: next.failures[result.gate.metric] = nil
            case .failed, .failedRecently: next.failures[result.gate.metric, default: 0] += 1
            // Nothing is known, which confirms no failure and refutes none.
            case .missing: break
            }
        }
        let failed = results.filter { next.failures[$0.gate.metric, default: 0] >= Self.failureLimit }
        if let first = failed.first { return fail(next, first) }
        let isOver = (state.since.map { now - $0 } ?? .zero) >= plan.steps[state.step].duration
        next.isReady = isOver && results.allSatisfy { if case .passed = $0.verdict { true } else { false } }
        if next.isReady, plan.advance == .auto, let following = following(next) { return enter(following, next, now) }
        guard next != state else { return nil }
        let note = next.isReady ? "\(plan.steps[state.step].stage) is complete" : "evaluated"
        return change(next, nil, note)
    }

    private func fail(_ state: MigrationState, _ result: GateResult) -> MigrationChange {
        var next = state
        next.isReady = false
        var reason = "\(result.gate.metric.rawValue) failed"
        let limit = "the limit is \(result.gate.limit)"
        // Before pushes move there is nothing to take back.
        var goesBack = plan.onFailure == .rollback && plan.steps[state.step].stage.share > 0
        switch result.verdict {
        case .failed(let measurement): reason += ": \(measurement.value) of \(measurement.samples) samples, \(limit)"
        case .failedRecently(let reading):
            reason += ": \(reading.value) of \(reading.samples) recent samples, \(limit)"
            // One message to unusual devices can cause it, and both evaluations read the same quarter hours: a person decides.
            goesBack = false
        case .passed, .missing: break
        }
        next.reason = reason
        guard goesBack else {
            next.status = .halted
            return change(next, nil, "halted: \(reason)")
        }
        next.status = .rolledBack
        return change(next, plan.rolledBack(isFull: false, facts), "rolled back: \(reason)")
    }

    /// The step that follows by itself: the end needs a decision.
    private func following(_ state: MigrationState) -> Int? {
        let index = state.step + 1
        guard plan.steps.indices.contains(index), plan.steps[index].stage != .complete else { return nil }
        return index
    }

    private func enter(_ step: Int, _ state: MigrationState, _ now: Timestamp) -> MigrationChange {
        let stage = plan.steps[step].stage
        var next = state
        next.status =
            switch stage {
            case .complete: .completed
            case .hold: .rolledOut
            case .observe, .serve, .rollout: .running
            }
        next.step = step
        next.since = now
        next.failures = [:]
        next.isReady = false
        next.reason = nil
        return change(next, plan.rules(stage, facts), "\(stage) is in force")
    }

    private func change(_ state: MigrationState, _ overlay: RouteRules?, _ note: String) -> MigrationChange {
        var state = state
        state.revision += 1
        return MigrationChange(state: state, overlay: overlay, note: note)
    }

    // MARK: Orders

    /// Carries out an operator's decision.
    ///
    /// - Throws: `Refusal` if the state does not allow it.
    package func order(
        _ order: MigrationOrder,
        _ state: MigrationState,
        _ measured: [MigrationMetric: MigrationMeasurement],
        now: Timestamp
    ) throws(Refusal) -> MigrationChange {
        switch (order, state.status) {
        case (.start, .planned): return enter(0, state, now)
        case (.advance, .running), (.advance, .rolledOut):
            return enter(try nextStep(state, measured, now), state, now)
        case (.pause, .running), (.pause, .rolledOut):
            var next = state
            next.status = .paused
            next.isReady = false
            return change(next, nil, "paused in \(stage(of: state))")
        case (.resume, .paused), (.resume, .halted), (.resume, .rolledBack): return enter(state.step, state, now)
        case (.rollback(let isFull), .running), (.rollback(let isFull), .paused), (.rollback(let isFull), .halted),
            (.rollback(let isFull), .rolledOut):
            return rollBack(state, isFull: isFull)
        // From a rollback of the sends to one of everything.
        case (.rollback(true), .rolledBack): return rollBack(state, isFull: true)
        case (.complete, .rolledOut):
            let step = try nextStep(state, measured, now)
            guard plan.steps[step].stage == .complete else {
                throw Refusal(what: "the next step is \(plan.steps[step].stage); advance to it")
            }
            return enter(step, state, now)
        default:
            throw Refusal(
                what: "a migration that is \(state.status.rawValue) does not allow it; it \(state.status.allowed)"
            )
        }
    }

    private func rollBack(_ state: MigrationState, isFull: Bool) -> MigrationChange {
        var next = state
        next.status = .rolledBack
        next.isReady = false
        next.reason = "by an operator"
        return change(
            next,
            plan.rolledBack(isFull: isFull, facts),
            isFull ? "everything is proxied" : "sends are proxied"
        )
    }

    /// The next step, if the one in force is over and its gates pass now.
    private func nextStep(
        _ state: MigrationState,
        _ measured: [MigrationMetric: MigrationMeasurement],
        _ now: Timestamp
    ) throws(Refusal) -> Int {
        guard plan.steps.indices.contains(state.step + 1) else { throw Refusal(what: "this is the last step") }
        for result in gates(state, measured) {
            let name = result.gate.metric.rawValue
            switch result.verdict {
            case .passed: break
            case .failed(let measurement):
                throw Refusal(what: "\(name) is \(measurement.value), and the limit is \(result.gate.limit)")
            case .failedRecently(let reading):
                let value = "\(reading.value) in the last quarter hours"
                throw Refusal(what: "\(name) is \(value), and the limit is \(result.gate.limit)")
            case .missing(let count): throw Refusal(what: "\(name) needs \(count) more samples")
            }
        }
        let left = plan.steps[state.step].duration - (state.since.map { now - $0 } ?? .zero)
        guard left <= .zero else { throw Refusal(what: "the step lasts for another \(left.milliseconds / 1000) s") }
        return state.step + 1
    }

    private func stage(of state: MigrationState) -> String {
        plan.steps.indices.contains(state.step) ? plan.steps[state.step].stage.description : "-"
    }
}

extension MigrationState.Status {
    /// The decisions that it allows, for people.
    fileprivate var allowed: String {
        switch self {
        case .planned: "can be started"
        case .running: "can be advanced, paused or rolled back"
        case .paused, .halted: "can be resumed or rolled back"
        case .rolledBack: "can be resumed, or rolled back as a whole (full)"
        case .rolledOut: "can be advanced, completed, paused or rolled back"
        case .completed: "has ended"
        }
    }
}
