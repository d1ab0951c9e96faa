/// When the token of one (team, key) is reused, fetched, or must be waited for.
///
/// Pure: time comes in as an instant of the monotonic clock. A token's age is measured once, by `iat` when it is received, and counted on
/// monotonically from there, so that a wall clock that jumps either way makes nobody mint too early or hold on too long.
package struct ProviderTokenMachine: Sendable {
    /// What the caller does next.
    package enum Action: Sendable, Equatable {
        /// Answer with this token.
        case use(AgedProviderToken)
        /// Ask the source, then report `obtained` or `failed`. Nobody else is asking.
        case obtain
        /// Somebody is asking already: wait for the result.
        case join
        /// The token that the peer called stale is younger than 20 minutes, so a new one may not be made for this long.
        case refuse(retryAfter: Duration)
    }

    private struct Held: Sendable {
        let token: ProviderToken
        let ageWhenReceived: Duration
        let receivedAt: ContinuousClock.Instant

        func age(at now: ContinuousClock.Instant) -> Duration {
            ageWhenReceived + max(.zero, receivedAt.duration(to: now))
        }
    }

    private enum State: Sendable {
        /// Nobody has asked yet, or asking has failed. Goes to: obtaining.
        case none
        /// The source is being asked; the token before, if there is one, is kept in case it fails. Goes to: holding, none.
        case obtaining(before: Held?)
        /// A token is there; it may be old. Goes to: obtaining.
        case holding(Held)
    }

    private var state = State.none

    package init() {}

    /// Somebody needs a token.
    ///
    /// - Parameters:
    ///   - stale: a token that the peer has just called expired, if that is why.
    ///   - now: the monotonic clock.
    /// - Returns: what to do.
    package mutating func requested(
        replacing stale: ProviderToken? = nil,
        at now: ContinuousClock.Instant
    ) -> Action {
        switch state {
        case .none:
            state = .obtaining(before: nil)
            return .obtain
        case .obtaining:
            return .join
        case .holding(let held):
            let age = held.age(at: now)
            if held.token == stale, age < ProviderTokenAge.minimum {
                return .refuse(retryAfter: ProviderTokenAge.minimum - age)
            }
            if held.token != stale, age < ProviderTokenAge.renewal {
                return .use(AgedProviderToken(held.token, age: age))
            }
            state = .obtaining(before: held)
            return .obtain
        }
    }

    /// The source has answered. It may have answered with the token that is held already: then that one's age counts on.
    package mutating func obtained(_ token: AgedProviderToken, at now: ContinuousClock.Instant) {
        state = .holding(
            Held(token: token.token, ageWhenReceived: max(.zero, token.age), receivedAt: now)
        )
    }

    /// The source has failed.
    ///
    /// - Returns: the token before, if it may still be sent; its holders go on with it and ask again.
    package mutating func failed(at now: ContinuousClock.Instant) -> AgedProviderToken? {
        guard case .obtaining(let before) = state else { return nil }
        guard let before else {
            state = .none
            return nil
        }
        state = .holding(before)
        let age = before.age(at: now)
        return age < ProviderTokenAge.expiry ? AgedProviderToken(before.token, age: age) : nil
    }
}

/// A provider token and how old it is at the moment it is handed over, by the clock of whoever hands it over.
package struct AgedProviderToken: Sendable, Hashable {
    package let token: ProviderToken
    /// Since `iat`; zero for one that was signed just now.
    package let age: Duration

    package init(_ token: ProviderToken, age: Duration) {
        self.token = token
        self.age = age
    }
}
