import Migration
import Model
import Routing
import Testing

/// Each gate is broken once by a fault. The migration stops within two evaluations and says why; without the gate the same fault passes.
@Suite struct GateFaultTests {
    /// A gate, the fault of the outside world, and its figures.
    struct Fault: Sendable, CustomTestStringConvertible {
        var metric: MigrationMetric
        var what: String
        var stage: MigrationStage
        var limit: Double
        /// Before the fault, and with it.
        var good: Double
        var bad: Double

        var testDescription: String { "\(metric.rawValue): \(what)" }
    }

    static let faults = [
        Fault(metric: .observed, what: "a call of an unknown form", stage: .observe, limit: 0.999, good: 1, bad: 0.95),
        Fault(metric: .responses, what: "a wrong field", stage: .observe, limit: 0.99, good: 0.999, bad: 0.9),
        Fault(metric: .senders, what: "a back end without a proof", stage: .observe, limit: 1, good: 1, bad: 0.995),
        Fault(metric: .devices, what: "missing devices", stage: .serve, limit: 0.005, good: 0.001, bad: 0.04),
        Fault(metric: .reach, what: "devices without a token", stage: .serve, limit: 0.995, good: 1, bad: 0.9),
        Fault(metric: .payload, what: "messages that are too large", stage: .serve, limit: 0.001, good: 0, bad: 0.02),
        Fault(metric: .backlog, what: "a vendor that is down", stage: .serve, limit: 60, good: 1, bad: 400),
        Fault(metric: .optOuts, what: "an import without opt-outs", stage: .serve, limit: 1, good: 12, bad: 0),
        Fault(metric: .failures, what: "a wrong topic", stage: .rollout(100), limit: 0.02, good: 0.001, bad: 0.3),
        Fault(metric: .p99, what: "slow pushes", stage: .rollout(5000), limit: 2, good: 0.2, bad: 9),
        Fault(metric: .receipts, what: "lost receipts", stage: .rollout(5000), limit: 0.97, good: 1.01, bad: 0.6),
        Fault(metric: .unknown, what: "a forgotten back end", stage: .hold, limit: 0.001, good: 0, bad: 0.05),
    ]

    private let facts = UpstreamFacts(vendor: .upmc)
    private let begin = Timestamp(milliseconds: 1_790_000_000_000)

    private func machine(_ fault: Fault, isGated: Bool, _ onFailure: MigrationPlan.Failure) -> MigrationMachine {
        let stages: [MigrationStage] = [.observe, .serve, .rollout(100), .rollout(5000), .hold, .complete]
        let gates = isGated ? [MigrationGate(fault.metric, fault.limit)] : []
        let steps = stages.map { MigrationStep($0, for: .seconds(60), gates: $0 == fault.stage ? gates : []) }
        let plan = MigrationPlan(
            id: "spring",
            app: "shop",
            upstream: "old",
            unit: .user,
            onFailure: onFailure,
            steps: steps
        )
        return MigrationMachine(plan, facts)
    }

    /// The fault's step in force.
    private func state(_ fault: Fault, in machine: MigrationMachine) throws -> MigrationState {
        var state = MigrationState()
        state.status = fault.stage == .hold ? .rolledOut : .running
        state.step = try #require(machine.plan.steps.firstIndex { $0.stage == fault.stage })
        state.since = begin
        return state
    }

    private func figures(_ fault: Fault, _ value: Double) -> [MigrationMetric: MigrationMeasurement] {
        [fault.metric: MigrationMeasurement(value, samples: 5000)]
    }

    @Test func everyMetricHasItsFault() {
        #expect(Set(Self.faults.map(\.metric)) == Set(MigrationMetric.allCases))
    }

    @Test(arguments: faults) func aFaultStopsTheMigrationWithinTwoEvaluations(_ fault: Fault) throws {
        for onFailure in MigrationPlan.Failure.allCases {
            let machine = machine(fault, isGated: true, onFailure)
            let healthy = try state(fault, in: machine)
            let before = machine.evaluate(healthy, figures(fault, fault.good), now: begin + .seconds(30))
            #expect(before == nil, "the gate passes before the fault")
            let bad = figures(fault, fault.bad)
            let first = try #require(machine.evaluate(healthy, bad, now: begin + .seconds(60)))
            #expect(first.state.status == healthy.status && first.overlay == nil, "one evaluation is not enough")
            let second = try #require(machine.evaluate(first.state, bad, now: begin + .seconds(90)))
            let takesBack = onFailure == .rollback && fault.stage.share > 0
            #expect(second.state.status == (takesBack ? .rolledBack : .halted))
            #expect(second.overlay == (takesBack ? machine.plan.rules(.serve, facts) : nil))
            let reason = try #require(second.state.reason)
            #expect(reason.hasPrefix("\(fault.metric.rawValue) failed: \(fault.bad) of 5000 samples"), "\(reason)")
            #expect(reason.hasSuffix("the limit is \(fault.limit)"), "\(reason)")
            // Nothing goes on by itself, and no operator passes the gate.
            #expect(machine.evaluate(second.state, bad, now: begin + .seconds(120)) == nil)
            #expect(throws: MigrationMachine.Refusal.self) {
                try machine.order(.advance, first.state, bad, now: begin + .seconds(120))
            }
        }
    }

    // The control: the same figures without the gate.
    @Test(arguments: faults) func withoutTheGateTheFaultPasses(_ fault: Fault) throws {
        let machine = machine(fault, isGated: false, .rollback)
        let state = try state(fault, in: machine)
        let bad = figures(fault, fault.bad)
        let change = try #require(machine.evaluate(state, bad, now: begin + .seconds(90)))
        #expect(change.state.status == state.status && change.state.isReady && change.overlay == nil)
        let next = try machine.order(.advance, state, bad, now: begin + .seconds(90))
        #expect(next.state.step == state.step + 1)
    }

    /// The only metrics that need no number of samples: a backlog is read as a whole, and an import counts each of its rows.
    private static let exceptions: Set<MigrationMetric> = [.backlog, .optOuts]
    private static let sampled = faults.filter { !exceptions.contains($0.metric) }

    @Test func onlyABacklogAndImportsDecideWithoutSamples() {
        for metric in MigrationMetric.allCases {
            #expect(metric.minimumSamples == (Self.exceptions.contains(metric) ? 1 : 200), "\(metric)")
        }
    }

    // With ten samples nothing advances and nothing stops, however good or bad they are.
    @Test(arguments: sampled) func tenSamplesDecideNothing(_ fault: Fault) throws {
        let machine = machine(fault, isGated: true, .rollback)
        let state = try state(fault, in: machine)
        for value in [fault.good, fault.bad] {
            let few = [fault.metric: MigrationMeasurement(value, samples: 10)]
            #expect(machine.evaluate(state, few, now: begin + .seconds(86_400)) == nil)
            #expect(throws: MigrationMachine.Refusal.self) {
                try machine.order(.advance, state, few, now: begin + .seconds(86_400))
            }
        }
    }

    // MARK: The last quarter hours

    /// Those that are counted by time. One sender without a proof fails the whole step, a comparison is of all devices, and receipts come later than
    /// their pushes.
    private static let counted = sampled.filter { ![.senders, .devices, .receipts].contains($0.metric) }

    /// A million good samples, and then a thousand bad ones.
    private func hidden(_ fault: Fault) -> [MigrationMetric: MigrationMeasurement] {
        let whole = (fault.good * 1_000_000 + fault.bad * 1000) / 1_001_000
        let recent = RecentReading(fault.bad, samples: 1000)
        return [fault.metric: MigrationMeasurement(whole, samples: 1_001_000, recent: recent)]
    }

    @Test(arguments: counted) func aLateFaultStopsALongStepWithinTwoEvaluations(_ fault: Fault) throws {
        let machine = machine(fault, isGated: true, .rollback)
        let state = try state(fault, in: machine)
        let figures = hidden(fault)
        // The whole step hides it.
        var whole = figures
        whole[fault.metric]?.recent = nil
        let ready = try #require(machine.evaluate(state, whole, now: begin + .seconds(90)))
        #expect(ready.state.isReady)
        #expect(throws: MigrationMachine.Refusal.self) {
            try machine.order(.advance, state, figures, now: begin + .seconds(90))
        }
        let first = try #require(machine.evaluate(state, figures, now: begin + .seconds(90)))
        #expect(first.state.status == state.status && !first.state.isReady)
        let second = try #require(machine.evaluate(first.state, figures, now: begin + .seconds(120)))
        // Whatever the plan does with a failure of the whole step.
        #expect(second.state.status == .halted)
        #expect(
            second.state.reason
                == "\(fault.metric.rawValue) failed: \(fault.bad) of 1000 recent samples, the limit is \(fault.limit)"
        )
    }

    // A good quarter hour lets no step pass, and too few samples fail none.
    @Test(arguments: counted) func theLastQuarterHoursOnlyFail(_ fault: Fault) {
        let gate = MigrationGate(fault.metric, fault.limit)
        let good = RecentReading(fault.good, samples: 5000)
        let bad = MigrationMeasurement(fault.bad, samples: 5000, recent: good)
        #expect(gate.verdict(bad) == .failed(bad))
        #expect(gate.verdict(MigrationMeasurement(fault.good, samples: 199, recent: good)) == .missing(1))
        let few = MigrationMeasurement(fault.good, samples: 5000, recent: RecentReading(fault.bad, samples: 199))
        #expect(gate.verdict(few) == .passed(few))
    }

    // Of many quarter hours some are beyond the limit by chance.
    @Test(
        arguments: [
            (.observed, 0.999, 0.995, false), (.observed, 0.999, 0.98, true), (.failures, 0.02, 0.06, false),
            (.failures, 0.02, 0.07, true), (.unknown, 0, 0.005, false), (.unknown, 0, 0.01, true),
        ] as [(MigrationMetric, Double, Double, Bool)]
    )
    func aReadingFailsIfChanceDoesNotExplainIt(
        _ metric: MigrationMetric,
        _ limit: Double,
        _ value: Double,
        _ fails: Bool
    ) {
        let good = metric.wantsMore ? 1.0 : 0
        let measurement = MigrationMeasurement(good, samples: 1_000_000, recent: RecentReading(value, samples: 200))
        #expect(MigrationGate(metric, limit).verdict(measurement).isFailure == fails)
    }

    @Test func aReadingMayStateItsMargin() {
        let gate = MigrationGate(.reach, 0.97)
        func verdict(_ value: Double, _ margin: Double) -> MigrationVerdict {
            gate.verdict(.init(1, samples: 9000, recent: RecentReading(value, samples: 300, margin: margin)))
        }
        #expect(!verdict(0.7, 0.3).isFailure && !verdict(0.7, .nan).isFailure && !verdict(0, .infinity).isFailure)
        #expect(verdict(0.6, 0.3).isFailure)
    }
}
