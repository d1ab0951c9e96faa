import Migration
import Model
import Routing
import TestKit
import Testing

/// The states of a migration: each order in each state, and evaluations with any figures.
@Suite struct MigrationMachineTests {
    private static let facts = UpstreamFacts(vendor: .upmc)
    private let facts = Self.facts
    private let begin = Timestamp(milliseconds: 1_790_000_000_000)

    private func plan(
        _ onFailure: MigrationPlan.Failure = .hold,
        _ advance: MigrationPlan.Advance = .manual
    ) -> MigrationPlan {
        func step(_ stage: MigrationStage, _ gates: [MigrationGate] = []) -> MigrationStep {
            MigrationStep(stage, for: .seconds(60), gates: gates)
        }
        let moved = [MigrationGate(.failures, 0.02), MigrationGate(.receipts, 0.97)]
        return MigrationPlan(
            id: "spring",
            app: "shop",
            upstream: "old",
            unit: .user,
            onFailure: onFailure,
            advance: advance,
            steps: [
                step(.observe, [MigrationGate(.observed, 0.999)]), step(.serve, [MigrationGate(.senders, 1)]),
                step(.rollout(100), moved), step(.rollout(5000), moved), step(.hold, moved), MigrationStep(.complete),
            ]
        )
    }

    private func machine(
        _ onFailure: MigrationPlan.Failure = .hold,
        _ advance: MigrationPlan.Advance = .manual
    ) -> MigrationMachine { MigrationMachine(plan(onFailure, advance), facts) }

    private static let good: [MigrationMetric: MigrationMeasurement] = [
        .observed: .init(1, samples: 1000), .senders: .init(1, samples: 1000), .failures: .init(0, samples: 1000),
        .receipts: .init(1, samples: 1000),
    ]
    private let good = Self.good

    private func with(_ metric: MigrationMetric, _ value: Double, _ samples: Int) -> [MigrationMetric:
        MigrationMeasurement]
    {
        var figures = good
        figures[metric] = .init(value, samples: samples)
        return figures
    }

    private func state(_ status: MigrationState.Status, _ step: Int) -> MigrationState {
        var state = MigrationState()
        (state.status, state.step) = (status, step)
        state.since = status == .planned ? nil : begin
        return state
    }

    private static let orders: [MigrationOrder] = [
        .start, .advance, .pause, .resume, .rollback(isFull: false), .rollback(isFull: true), .complete,
    ]

    /// The states after each order, by the name of the state before; nil: refused.
    @Test func eachOrderInEachState() {
        let wanted: [MigrationState.Status: [MigrationState.Status?]] = [
            .planned: [.running, nil, nil, nil, nil, nil, nil],
            .running: [nil, .running, .paused, nil, .rolledBack, .rolledBack, nil],
            .paused: [nil, nil, nil, .running, .rolledBack, .rolledBack, nil],
            .halted: [nil, nil, nil, .running, .rolledBack, .rolledBack, nil],
            .rolledBack: [nil, nil, nil, .running, nil, .rolledBack, nil],
            .rolledOut: [nil, .completed, .paused, nil, .rolledBack, .rolledBack, .completed],
            .completed: [nil, nil, nil, nil, nil, nil, nil],
        ]
        #expect(wanted.count == MigrationState.Status.allCases.count)
        for (status, results) in wanted {
            let before = state(status, status == .rolledOut ? 4 : status == .completed ? 5 : status == .planned ? 0 : 2)
            for (order, result) in zip(Self.orders, results) {
                let change = try? machine().order(order, before, good, now: begin + .seconds(61))
                #expect(change?.state.status == result, "\(status) \(order)")
                if let change { #expect(change.state.revision == before.revision + 1) }
            }
        }
        for (status, results) in wanted { sayWhatIsAllowed(status, results) }
    }

    /// A refused order names the orders that have an effect, and no others.
    private func sayWhatIsAllowed(_ status: MigrationState.Status, _ results: [MigrationState.Status?]) {
        let step = status == .rolledOut ? 4 : status == .completed ? 5 : status == .planned ? 0 : 2
        // In the order of `orders`, of which two are rollbacks.
        let words = ["started", "advanced", "paused", "resumed", "rolled back", "rolled back", "completed"]
        let possible = zip(words, results).filter { $0.1 != nil }.map { $0.0 }
        for (order, result) in zip(Self.orders, results) where result == nil {
            do throws(MigrationMachine.Refusal) {
                _ = try machine().order(order, state(status, step), good, now: begin + .seconds(61))
                Issue.record("\(status) \(order)")
            } catch {
                let said = error.what.split(separator: ";").last ?? ""
                for word in words { #expect(said.contains(word) == possible.contains(word), "\(order): \(error.what)") }
                #expect(said.contains("has ended") == possible.isEmpty, "\(order): \(error.what)")
            }
        }
    }

    @Test func theWholeWay() throws {
        var state = MigrationState()
        var now = begin
        var overlays: [RouteRules?] = []
        func act(_ order: MigrationOrder) throws {
            let change = try machine().order(order, state, good, now: now)
            state = change.state
            overlays.append(change.overlay)
            now = now + .seconds(60)
        }
        for order in [.start, .advance, .advance, .advance, .advance, .rollback(isFull: false), .resume, .complete]
            as [MigrationOrder]
        { try act(order) }
        let stages: [MigrationStage] = [
            .observe, .serve, .rollout(100), .rollout(5000), .hold, .serve, .hold, .complete,
        ]
        #expect(overlays == stages.map { plan().rules($0, facts) })
        #expect(state.status == .completed && state.step == 5)
    }

    // With ten samples nothing advances, however good they are.
    @Test(arguments: [0, 1, 10, 199]) func tooFewSamplesHoldTheStep(_ samples: Int) throws {
        for advance in MigrationPlan.Advance.allCases {
            let machine = machine(.rollback, advance)
            for (step, metric) in [(0, MigrationMetric.observed), (1, .senders), (2, .receipts), (4, .failures)] {
                var state = state(step == 4 ? .rolledOut : .running, step)
                let figures = with(metric, metric.wantsMore ? 1 : 0, samples)
                for round in 1...50 {
                    let change = machine.evaluate(state, figures, now: begin + .seconds(Int64(round) * 3600))
                    if let change { state = change.state }
                    #expect(state.step == step && !state.isReady && change?.overlay == nil)
                }
                #expect(throws: MigrationMachine.Refusal.self) {
                    try machine.order(.advance, state, figures, now: begin + .seconds(86_400))
                }
                #expect(
                    machine.gates(state, figures).first { $0.gate.metric == metric }?.verdict == .missing(200 - samples)
                )
            }
        }
    }

    @Test func noDataAtAllHoldsTheStepToo() {
        let change = machine(.rollback, .auto).evaluate(state(.running, 2), [:], now: begin + .seconds(86_400))
        #expect(change == nil)
        let unknown = with(.failures, .nan, 1000)
        #expect(machine(.rollback, .auto).evaluate(state(.running, 2), unknown, now: begin + .seconds(61)) == nil)
    }

    @Test func aStepThatIsNotOverHolds() throws {
        let early = machine(.hold, .auto).evaluate(state(.running, 0), good, now: begin + .seconds(59))
        #expect(early == nil)
        #expect(throws: MigrationMachine.Refusal.self) {
            try machine().order(.advance, state(.running, 0), good, now: begin + .seconds(59))
        }
        let change = try #require(machine(.hold, .auto).evaluate(state(.running, 0), good, now: begin + .seconds(60)))
        #expect(change.state.step == 1 && change.overlay == plan().rules(.serve, facts))
        // By hand, the step is reported as ready once.
        let ready = try #require(machine().evaluate(state(.running, 0), good, now: begin + .seconds(60)))
        #expect(ready.state.isReady && ready.overlay == nil && ready.state.step == 0)
        #expect(machine().evaluate(ready.state, good, now: begin + .seconds(90)) == nil)
    }

    @Test func aFailureMustPersist() throws {
        let bad = with(.failures, 0.5, 1000)
        let first = try #require(machine().evaluate(state(.running, 2), bad, now: begin + .seconds(61)))
        #expect(first.state.status == .running && !first.state.isReady && first.overlay == nil)
        // A success in between refutes it; missing data does not.
        let good = try #require(machine().evaluate(first.state, good, now: begin + .seconds(91)))
        #expect(good.state.failures.isEmpty && good.state.isReady)
        #expect(machine().evaluate(first.state, with(.failures, 0.5, 3), now: begin + .seconds(91)) == nil)
        let second = try #require(machine().evaluate(first.state, bad, now: begin + .seconds(91)))
        #expect(second.state.status == .halted && second.overlay == nil)
        #expect(second.state.reason?.hasPrefix("failures failed: 0.5 of 1000 samples") == true)
        let back = try #require(machine(.rollback).evaluate(first.state, bad, now: begin + .seconds(91)))
        #expect(back.state.status == .rolledBack && back.overlay == plan().rules(.serve, facts))
    }

    /// An evaluation of the gate `failures`.
    private enum Found {
        case failed, missing, passed

        var figure: (value: Double, samples: Int) {
            switch self {
            case .failed: (0.5, 1000)
            case .missing: (0.5, 199)
            case .passed: (0, 1000)
            }
        }
    }

    // An evaluation without enough samples confirms no failure and refutes none, however many there are; a success refutes it.
    @Test func missingSamplesDoNotEndAFailure() throws {
        let sequences: [(found: [Found], stops: Bool)] = [
            ([.failed, .missing, .failed], true), ([.failed, .missing, .missing, .missing, .failed], true),
            ([.failed, .missing, .missing, .missing], false), ([.missing, .failed, .missing], false),
            ([.failed, .missing, .passed, .failed], false), ([.failed, .passed, .missing, .failed], false),
            ([.failed, .missing, .passed, .missing, .failed, .missing, .failed], true),
        ]
        for (found, stops) in sequences {
            var state = state(.running, 2)
            for (round, one) in found.enumerated() {
                #expect(state.status == .running, "\(found) stops early")
                let figures = with(.failures, one.figure.value, one.figure.samples)
                let now = begin + .seconds(61 + 30 * Int64(round))
                if let change = machine().evaluate(state, figures, now: now) { state = change.state }
                if one == .missing { #expect(!state.isReady, "\(found)") }
            }
            #expect(state.status == (stops ? .halted : .running), "\(found)")
        }
    }

    // Before pushes move there is nothing to take back, and proxying must not be replaced by serving.
    @Test func aFailureBeforePushesMoveHalts() throws {
        var state = state(.running, 0)
        let bad = with(.observed, 0.5, 1000)
        for _ in 0..<2 { state = try #require(machine(.rollback).evaluate(state, bad, now: begin)).state }
        #expect(state.status == .halted)
    }

    @Test func aStoppedMigrationIsNotEvaluated() {
        for status in [MigrationState.Status.planned, .paused, .halted, .rolledBack, .completed] {
            #expect(machine(.rollback, .auto).evaluate(state(status, 2), good, now: begin + .seconds(600)) == nil)
        }
        #expect(machine().evaluate(state(.running, 99), good, now: begin) == nil)
        #expect(machine().gates(state(.running, 99), good).isEmpty)
    }

    @Test func theEndNeedsADecision() throws {
        let over = try #require(machine(.hold, .auto).evaluate(state(.rolledOut, 4), good, now: begin + .seconds(600)))
        #expect(over.state.status == .rolledOut && over.state.isReady && over.overlay == nil)
    }

    @Test func aStateIsReadAsItIsStored() throws {
        var state = state(.halted, 3)
        (state.failures, state.isReady, state.reason) = ([.p99: 2, .receipts: 1], true, "p99 failed")
        state.revision = 7
        for state in [state, MigrationState()] {
            let stored = try JSONParser.parse(JSONWriter.text(state.json))
            #expect(MigrationState(stored, revision: state.revision) == state)
        }
        for text in [
            "{}", "[]", #"{"status":"running"}"#, #"{"status":"flying","step":0}"#, #"{"status":"running","step":-1}"#,
            #"{"status":"running","step":0,"since":"soon"}"#, #"{"status":"running","step":0,"failures":{"speed":1}}"#,
        ] {
            #expect(MigrationState(try JSONParser.parse(text), revision: 0) == nil, "\(text)")
        }
    }

    /// Random figures, times and orders: the share of the gateway grows only with enough good samples, and a rollback is possible from every state in between.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func anySequenceIsSafe(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        for _ in 0..<200 {
            let onFailure: MigrationPlan.Failure = Bool.random(using: &random) ? .hold : .rollback
            let machine = machine(onFailure, Bool.random(using: &random) ? .auto : .manual)
            var (state, now) = (MigrationState(), begin)
            for _ in 0..<60 {
                now = now + .seconds(Int64.random(in: 0...90, using: &random))
                var figures: [MigrationMetric: MigrationMeasurement] = [:]
                for metric in MigrationMetric.allCases {
                    let value = ([0, 0.5, 1] as [Double]).randomElement(using: &random) ?? 0
                    let samples = ([0, 10, 200, 5000] as [Int]).randomElement(using: &random) ?? 0
                    let last = ([0, 0.5, 1] as [Double]).randomElement(using: &random) ?? 0
                    let recent = Bool.random(using: &random) ? RecentReading(last, samples: samples) : nil
                    figures[metric] = .init(value, samples: samples, recent: recent)
                }
                let change: MigrationChange? =
                    if Bool.random(using: &random) {
                        machine.evaluate(state, figures, now: now)
                    } else {
                        try? machine.order(
                            Self.orders.randomElement(using: &random) ?? .start,
                            state,
                            figures,
                            now: now
                        )
                    }
                guard let change else { continue }
                check(change, after: state, figures, now, machine, "seed \(seed)")
                state = change.state
            }
        }
    }

    private func check(
        _ change: MigrationChange,
        after state: MigrationState,
        _ figures: [MigrationMetric: MigrationMeasurement],
        _ now: Timestamp,
        _ machine: MigrationMachine,
        _ comment: Comment
    ) {
        #expect(change.state.revision == state.revision + 1, comment)
        if change.state.step > state.step {
            #expect(change.state.step == state.step + 1, comment)
            for result in machine.gates(state, figures) {
                if case .passed = result.verdict { continue }
                Issue.record("advanced with \(result.gate.metric) \(result.verdict)", sourceLocation: #_sourceLocation)
            }
            #expect(state.since.map { now - $0 >= machine.plan.steps[state.step].duration } == true, comment)
        }
        if change.overlay != nil, change.state.status != .rolledBack {
            let stage = machine.plan.steps[change.state.step].stage
            #expect(change.overlay == machine.plan.rules(stage, facts), comment)
        }
        guard change.state.status != .planned, change.state.status != .completed else { return }
        let back = try? machine.order(.rollback(isFull: true), change.state, figures, now: now)
        #expect(back?.overlay == machine.plan.rules(.observe, facts), comment)
    }
}
