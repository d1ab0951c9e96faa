/// How long to wait before the next connection after failures: exponential with full jitter, so that nodes that lost the same peer do not reconnect at the same
/// time.
package struct ReconnectBackoff: Sendable, Equatable {
    /// The upper bound of the first wait.
    package var base = Duration.seconds(1)
    /// The upper bound of every later wait.
    package var ceiling = Duration.seconds(60)

    package init() {}

    /// The wait after `failureCount` failures in a row: zero after none, otherwise a random part of `base`·2^(n-1), at most of `ceiling`.
    ///
    /// - Parameters:
    ///   - failureCount: failures since the last good answer.
    ///   - random: uniform in 0..<1.
    /// - Returns: zero or more.
    package func delay(failureCount: Int, random: Double) -> Duration {
        guard failureCount > 0 else { return .zero }
        // At 2^20 the ceiling has long been reached; the limit keeps the shift defined.
        let bound = min(ceiling, base * (1 << min(failureCount - 1, 20)))
        return bound * min(max(random, 0), 1)
    }
}
