/// Decides when a node counts events, and of which tenant. Deliveries come first: while slices wait, it counts only every ten seconds.
///
/// One per node. The caller looks for work, passes what it found to `looked`, acts as it says, and looks again.
package struct EventReaderMachine: Sendable {
    /// 10,000 events: a step of about 100 ms, after which the load is looked at again.
    package static let stepLimit = 10_000
    /// A slice that is due and unclaimed for longer is waiting: the nodes are busy.
    package static let longestWait = Duration.seconds(1)
    /// While slices wait, one step in this time, so that the figures of a busy installation are late and not missing.
    package static let busyPeriod = Duration.seconds(10)
    /// Between looks without work.
    package static let idlePeriod = Duration.seconds(1)
    /// A tenant whose step failed rests, so that it does not stop the others.
    package static let restPeriod = Duration.seconds(30)
    /// 64 tenants are offered at once; more only rest while as many fail.
    package static let offerLimit = 64

    package enum Action: Sendable, Hashable {
        /// Count the next events of this tenant, at most `stepLimit`, and report the end to `stepped`.
        case step(TenantID)
        /// Look again after this time.
        case wait(Duration)
    }

    /// The end of a step.
    package enum Outcome: Sendable, Hashable {
        case counted
        /// Another node counts this tenant.
        case taken
        case failed
    }

    private var lastStep: ContinuousClock.Instant?
    private var resting: [TenantID: ContinuousClock.Instant] = [:]

    package init() {}

    /// Decides after a look.
    ///
    /// - Parameters:
    ///   - tenants: those with events to count, the one that was counted longest ago first.
    ///   - areSlicesWaiting: whether a slice is due for longer than `longestWait` and unclaimed.
    ///   - now: the time.
    /// - Returns: what to do next.
    package mutating func looked(
        _ tenants: [TenantID],
        areSlicesWaiting: Bool,
        at now: ContinuousClock.Instant
    ) -> Action {
        resting = resting.filter { $0.value > now }
        guard let tenant = tenants.first(where: { resting[$0] == nil }) else { return .wait(Self.idlePeriod) }
        if areSlicesWaiting, let lastStep {
            let rest = Self.busyPeriod - (now - lastStep)
            if rest > .zero { return .wait(min(rest, Self.idlePeriod)) }
        }
        lastStep = now
        return .step(tenant)
    }

    /// Notes the end of a step.
    package mutating func stepped(_ tenant: TenantID, _ outcome: Outcome, at now: ContinuousClock.Instant) {
        switch outcome {
        case .counted: break
        case .taken: resting[tenant] = now + Self.idlePeriod
        case .failed: resting[tenant] = now + Self.restPeriod
        }
    }
}
