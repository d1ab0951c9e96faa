package import Model

/// Stops one credential on this node while its peer refuses it or cannot be reached, so that a campaign does not run into a wall: Apple cuts off
/// providers that keep sending what it refuses, and deliveries that wait are not lost.
///
/// A pure value. `CredentialGate` holds one per credential.
package struct CredentialBreaker: Sendable {
    private enum State: Sendable {
        /// Goes to: stopped.
        case closed
        /// Goes to: probing, when the time has come; closed, when an answer proves an unreachable peer alive.
        case stopped(until: Timestamp, isRefused: Bool)
        /// One slice tries one push. Goes to: closed, stopped; or probing again, when no verdict came in time.
        case probing(until: Timestamp)
    }

    /// What its owner must tell others.
    package enum Change: Sendable, Hashable {
        case stopped(Rejection)
        /// It works again, after it was refused.
        case recovered
        /// Its peer answers again, after it could not be reached.
        case reachable
    }

    private let policy: RetryPolicy
    private var state: State = .closed
    private var failures = 0
    /// Lanes in which a slice comes back to probe, since the last stop. The others wait to be told: coming back all at once, to find it still
    /// stopped, would load the database for nothing.
    private var probed: Set<Lane> = []
    /// The refusal that was told, until the recovery is.
    package private(set) var refusal: Rejection?

    package init(policy: RetryPolicy) { self.policy = policy }

    /// Nothing to remember.
    package var isIdle: Bool {
        if case .closed = state { refusal == nil && failures == 0 } else { false }
    }

    /// No slice may send, but to probe.
    package var isStopped: Bool {
        if case .closed = state { false } else { true }
    }

    /// Whether a slice may send now. A `.probe` must be followed by `observed`; without it the next probe is allowed after `probeLimit`.
    ///
    /// - Parameters:
    ///   - lane: of the slice. The first one stopped in a lane is to come back in time to probe; the others long after, in case nobody tells them.
    ///   - now: the database's time.
    ///   - probeLimit: how long one push may take.
    /// - Returns: never `.full`.
    package mutating func permit(lane: Lane, now: Timestamp, probeLimit: Duration) -> Permit {
        switch state {
        case .closed: return .go
        case .stopped(let until, _), .probing(let until):
            guard now < until else {
                state = .probing(until: now + probeLimit)
                probed = []
                return .probe
            }
            if probed.insert(lane).inserted { return .stopped(for: until - now) }
            return .stopped(for: max((until - now) * 2, policy.held.delay(after: failures) * policy.scale))
        }
    }

    /// Learns from outcomes.
    package mutating func observed(_ sign: CredentialSign, now: Timestamp) -> Change? {
        switch (sign, state) {
        // Pushes that were on their way when it stopped: known, and no reason to wait longer.
        case (.refused, .stopped(_, true)), (.unreachable, .stopped), (.answered, .stopped(_, true)):
            return nil
        case (.answered, _):
            let wasStopped = isStopped
            state = .closed
            failures = 0
            defer { refusal = nil }
            return refusal != nil ? .recovered : wasStopped ? .reachable : nil
        case (.refused(let rejection), _):
            stop(policy.refusedCredential, isRefused: true, now: now)
            defer { refusal = rejection }
            return refusal == rejection ? nil : .stopped(rejection)
        case (.unreachable, _):
            stop(policy.unreachableCredential, isRefused: false, now: now)
            return nil
        }
    }

    /// It was provisioned anew. The refusal is kept until an answer proves the new one, so that the recovery is told.
    package mutating func forgive() {
        state = .closed
        failures = 0
    }

    private mutating func stop(_ backoff: RetryBackoff, isRefused: Bool, now: Timestamp) {
        failures += 1
        probed = []
        state = .stopped(until: now + backoff.delay(after: failures) * policy.scale, isRefused: isRefused)
    }
}
