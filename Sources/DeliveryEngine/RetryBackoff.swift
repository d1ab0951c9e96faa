/// A wait that doubles from try to try.
package struct RetryBackoff: Sendable, Hashable {
    /// The wait after the first failure.
    package var first: Duration
    /// The longest wait.
    package var cap: Duration

    package init(first: Duration, cap: Duration) {
        self.first = first
        self.cap = cap
    }

    /// The wait after so many failures in a row.
    ///
    /// - Parameters:
    ///   - failures: one or more; less counts as one.
    ///   - jitter: 0..<1. It only lengthens, by up to a quarter: some peers name the least they accept.
    /// - Returns: at most the cap and a quarter.
    package func delay(after failures: Int, jitter: Double = 0) -> Duration {
        // 2^20 of any sensible first wait is beyond the cap; more would overflow.
        let doublings = min(max(failures, 1) - 1, 20)
        return min(first * (1 << doublings), cap).lengthened(by: jitter)
    }
}

extension Duration {
    /// Longer by up to a quarter, so that what began together does not come back together.
    func lengthened(by jitter: Double) -> Duration { self * (1 + 0.25 * min(max(jitter, 0), 1)) }
}
