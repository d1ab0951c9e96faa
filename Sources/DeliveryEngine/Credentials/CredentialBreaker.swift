package import Model

/// Stops one credential, or one topic of a credential, on this node while its peer refuses it or cannot be reached: Apple blocks providers that keep sending
/// requests it refuses, and waiting deliveries are not lost.
///
/// A pure value. `CredentialGate` holds one per credential, and one per topic that is not accepted.
package struct CredentialBreaker: Sendable {
    private enum State: Sendable {
        /// Goes to: stopped.
        case closed
        /// Goes to: probing, after the wait; closed, when an answer shows that an unreachable peer is reachable.
        case stopped(until: Timestamp, isRefused: Bool)
        /// One slice tries one push. Goes to: closed, stopped; or probing again, if no verdict came in time.
        case probing(until: Timestamp)
    }

    /// A change that the owner of the breaker must report.
    package enum Change: Sendable, Hashable {
        case stopped(Rejection)
        /// The credential works again after it was refused.
        case recovered
        /// The peer answers again after it could not be reached.
        case reachable
    }

    private let policy: RetryPolicy
    private var state: State = .closed
    private var failures = 0
    /// Lanes in which a slice will return to probe, since the last stop. The others wait to be made due: if all returned at once and found the
    /// credential still stopped, they would load the database for nothing.
    private var probed: Set<Lane> = []
    /// Since when it has been stopped without an answer in between; nil: it is not stopped.
    private var stoppedAt: Timestamp?
    /// The refusal that was reported, until the recovery is reported.
    package private(set) var refusal: Rejection?

    package init(policy: RetryPolicy) { self.policy = policy }

    /// Whether the breaker has no state worth keeping.
    package var isIdle: Bool {
        if case .closed = state { refusal == nil && failures == 0 } else { false }
    }

    /// Whether no slice may send, except to probe.
    package var isStopped: Bool {
        if case .closed = state { false } else { true }
    }

    /// How long it has been stopped because the peer cannot be reached; zero: it is not stopped. Nil: the peer refuses it.
    package func outage(_ now: Timestamp) -> Duration? {
        if refusal != nil { return nil }
        return stoppedAt.map { max(.zero, now - $0) } ?? .zero
    }

    /// Whether the next permit is `.stopped`.
    func isWaiting(_ now: Timestamp) -> Bool {
        switch state {
        case .closed: false
        case .stopped(let until, _), .probing(let until): now < until
        }
    }

    /// Whether a slice may send now. A `.probe` must be followed by `observed`; without it the next probe is allowed after `probeLimit`.
    ///
    /// - Parameters:
    ///   - lane: the slice's lane. The first slice stopped in a lane returns in time to probe; the others return much later, in case no recovery is reported.
    ///   - now: the database's time.
    ///   - probeLimit: the maximum duration of one push.
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

    /// Updates the state after an outcome.
    package mutating func observed(_ sign: CredentialSign, now: Timestamp) -> Change? {
        switch (sign, state) {
        // The peer knew the credential. The topic has a breaker of its own, whose refusal is `.refused`.
        case (.refusedTopic, _): return observed(.answered, now: now)
        // Pushes that were in flight when the credential stopped: their result is known and does not lengthen the wait.
        case (.refused, .stopped(_, true)), (.unreachable, .stopped), (.answered, .stopped(_, true)):
            return nil
        case (.answered, _):
            let wasStopped = isStopped
            state = .closed
            failures = 0
            stoppedAt = nil
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

    /// The credential was replaced. The refusal is kept until an answer proves that the new one works, so that the recovery is reported.
    package mutating func forgive() {
        state = .closed
        failures = 0
        stoppedAt = nil
    }

    private mutating func stop(_ backoff: RetryBackoff, isRefused: Bool, now: Timestamp) {
        failures += 1
        probed = []
        if stoppedAt == nil { stoppedAt = now }
        state = .stopped(until: now + backoff.delay(after: failures) * policy.scale, isRefused: isRefused)
    }
}
