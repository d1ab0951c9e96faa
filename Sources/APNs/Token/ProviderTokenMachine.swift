/// Decides when the token of one (team, key) is reused or fetched, and when a caller must wait.
///
/// It is pure: the time is an argument, an instant of the monotonic clock. A token's age is measured once, from `iat` when it is received, and then counted
/// monotonically. A wall clock that jumps therefore causes neither an early new token nor the use of an old one.
package struct ProviderTokenMachine: Sendable {
    /// The next step of the caller.
    package enum Action: Sendable, Equatable {
        /// Use this token.
        case use(AgedProviderToken)
        /// Call the source, then report `obtained` or `failed`. No other caller is doing so.
        case obtain
        /// Another caller is calling the source: wait for its result.
        case join
        /// The token that the peer reported as expired is younger than 20 minutes, so a new one may not be made for this long.
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
        /// No token was requested yet, or the last request failed. Goes to: obtaining.
        case none
        /// The source is being called; the previous token, if there is one, is kept in case of failure. Goes to: holding, none.
        case obtaining(before: Held?)
        /// A token is available; it may be old. Goes to: obtaining.
        case holding(Held)
    }

    private var state = State.none

    package init() {}

    /// A caller needs a token.
    ///
    /// - Parameters:
    ///   - stale: a token that the peer has just reported as expired, if that is the reason.
    ///   - now: the monotonic clock.
    /// - Returns: the next step.
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

    /// The source returned a token. If it is the token that is held already, its age continues.
    package mutating func obtained(_ token: AgedProviderToken, at now: ContinuousClock.Instant) {
        state = .holding(
            Held(token: token.token, ageWhenReceived: max(.zero, token.age), receivedAt: now)
        )
    }

    /// The source has failed.
    ///
    /// - Returns: the previous token, if it may still be sent; its users continue with it and request again.
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

/// A provider token and its age when it was returned, by the clock of the source.
package struct AgedProviderToken: Sendable, Hashable {
    package let token: ProviderToken
    /// The age since `iat`; zero for a token that was signed just now.
    package let age: Duration

    package init(_ token: ProviderToken, age: Duration) {
        self.token = token
        self.age = age
    }
}
