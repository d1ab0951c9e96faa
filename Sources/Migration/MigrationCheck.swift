package import Routing

/// Finds the faults of a plan before it starts. Pure.
package struct MigrationCheck: Sendable {
    /// 16 steps: a person decides about each.
    package static let stepLimit = 16
    /// A step lasts at most 90 days.
    package static let longestStep = Duration.seconds(90 * 86_400)

    /// A fault: the step, from 0, or nil for the plan as a whole, and a sentence.
    package struct Fault: Sendable, Hashable, CustomStringConvertible {
        package var step: Int?
        package var what: String

        package var description: String { step.map { "steps[\($0)]: \(what)" } ?? what }
    }

    private let plan: MigrationPlan
    private let facts: UpstreamFacts
    private let measurable: Set<MigrationMetric>
    private let withoutTransport: Int

    /// - Parameters:
    ///   - plan: the plan.
    ///   - facts: those of the vendor that the app leaves.
    ///   - measurable: the metrics that can be measured in its dialect.
    ///   - withoutTransport: the devices that were seen within 30 days and that the gateway cannot push to directly.
    package init(
        _ plan: MigrationPlan,
        _ facts: UpstreamFacts,
        measurable: Set<MigrationMetric>,
        withoutTransport: Int
    ) {
        self.plan = plan
        self.facts = facts
        self.measurable = measurable
        self.withoutTransport = withoutTransport
    }

    /// Every fault, in the order of the steps. Empty: the plan may start.
    package var faults: [Fault] { whole + plan.steps.indices.flatMap(faults(of:)) }

    private var whole: [Fault] {
        var faults: [Fault] = []
        func add(_ what: String) { faults.append(Fault(step: nil, what: what)) }
        if !(1...RouteLimits.saltBytes).contains(plan.id.utf8.count)
            || !plan.id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            add(
                "id: must be 1 to \(RouteLimits.saltBytes) printable ASCII characters, because it is the salt of the rollouts"
            )
        }
        if facts.addressesUsers, plan.unit == .device {
            add("by: must be user, because the vendor pushes to all devices of a user")
        }
        if !(1...Self.stepLimit).contains(plan.steps.count) { add("steps: must be 1 to \(Self.stepLimit)") }
        let stages = plan.steps.map(\.stage)
        if let first = stages.firstIndex(where: { $0.share > 0 }), !stages[..<first].contains(.serve) {
            add("steps: a stage 'serve' must come before pushes move, so that both sides know the devices")
        }
        if stages.contains(where: { $0.share > 0 }), !provesAllSenders {
            add(
                "steps: a gate 'senders: \">= 1\"' is needed before pushes move, because the gateway itself proves senders then and refuses each one that fails"
            )
        }
        if stages.contains(.complete) {
            if !stages.contains(.hold) { add("steps: a stage 'hold' must come before 'complete'") }
            if withoutTransport > 0, !plan.isOnlyIOS {
                add(
                    "complete: \(withoutTransport) devices of the last 30 days have no direct transport; state 'platforms: [ios]', so that they stay with the vendor"
                )
            }
        }
        if plan.isOnlyIOS, facts.addressesUsers, !facts.splitsPlatforms, stages.contains(where: { $0.rank >= 10_002 }) {
            add(
                "platforms: the vendor pushes to all devices of a user, so that those of one platform cannot stay with it"
            )
        }
        return faults
    }

    /// Whether a step before pushes move ends only if every observed send passes the gateway's own proof.
    private var provesAllSenders: Bool {
        plan.steps.prefix { $0.stage.share == 0 }.flatMap(\.gates).contains { $0.metric == .senders && $0.limit >= 1 }
    }

    /// Why a metric has no samples once the gateway makes all pushes, so that its gate would hold the step for ever. Nil: it may have some.
    private static func reasonWithoutData(_ metric: MigrationMetric) -> String? {
        switch metric {
        case .receipts: "none is left to compare with"
        case .reach, .payload, .senders: "no send is proxied any longer"
        case .observed, .responses, .devices, .backlog, .failures, .p99, .unknown, .optOuts: nil
        }
    }

    private func faults(of index: Int) -> [Fault] {
        let step = plan.steps[index]
        var faults: [Fault] = []
        func add(_ what: String) { faults.append(Fault(step: index, what: what)) }
        if index > 0, step.stage.rank <= plan.steps[index - 1].stage.rank {
            add("\(step.stage) does not come after \(plan.steps[index - 1].stage)")
        }
        if case .rollout(let hundredths) = step.stage, !(1...10_000).contains(hundredths) {
            add("percent: must be more than 0 and at most 100")
        }
        if step.duration < .zero || step.duration > Self.longestStep { add("for: must be at most 90d") }
        if step.stage == .complete, !step.gates.isEmpty { add("complete has no gates; give them to the step before") }
        let metrics = step.gates.map(\.metric)
        if Set(metrics).count < metrics.count { add("a gate is stated twice") }
        for gate in step.gates {
            let name = gate.metric.rawValue
            if step.stage.movesAllPushes, let reason = Self.reasonWithoutData(gate.metric) {
                add(
                    "\(name): cannot be measured when all pushes have moved, because \(reason); give it up by name with '\(name): none'"
                )
            }
            if !measurable.contains(gate.metric) {
                add("\(name): cannot be measured for this vendor; give it up by name with '\(name): none'")
            }
            if !gate.limit.isFinite || gate.limit < 0
                || gate.metric.isShare && gate.metric != .receipts && gate.limit > 1
            {
                add("\(name): the limit is out of range")
            }
            if step.waived.contains(gate.metric) { add("\(name): is a gate and given up") }
        }
        if case .rollout = step.stage {
            for metric in [MigrationMetric.failures, .receipts, .unknown]
            where !metrics.contains(metric) && !step.waived.contains(metric) {
                add(
                    "\(metric.rawValue): is needed in a rollout; state a limit, or give it up by name with '\(metric.rawValue): none'"
                )
            }
        }
        return faults
    }
}
