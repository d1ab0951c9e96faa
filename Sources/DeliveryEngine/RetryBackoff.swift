/// A wait that doubles with each attempt.
package struct RetryBackoff: Sendable, Hashable {
    /// The wait after the first failure.
    package var first: Duration
    /// The longest wait.
    package var cap: Duration

    package init(first: Duration, cap: Duration) {
        self.first = first
        self.cap = cap
    }

    /// The wait after a number of consecutive failures.
    ///
    /// - Parameters:
    ///   - failures: at least 1; smaller values count as 1.
    ///   - jitter: 0..<1. It only lengthens the wait, by up to a quarter, because some peers name a minimum wait.
    /// - Returns: at most the cap plus a quarter.
    package func delay(after failures: Int, jitter: Double = 0) -> Duration {
        // 2^20 times any sensible first wait exceeds the cap; a higher power could overflow.
        let doublings = min(max(failures, 1) - 1, 20)
        return min(first * (1 << doublings), cap).lengthened(by: jitter)
    }
}

extension Duration {
    /// The duration, lengthened by up to a quarter, so that work that started together does not retry together.
    func lengthened(by jitter: Double) -> Duration { self * (1 + 0.25 * min(max(jitter, 0), 1)) }
}
