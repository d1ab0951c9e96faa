/// Computes the pause before the next connection attempt: doubling, capped, with full jitter in the upper half.
///
/// The jitter is needed because every node reconnects to a restarted database at the same moment.
struct Backoff {
    /// The first pause.
    static let base: Duration = .milliseconds(50)

    /// Longer pauses would make recovery visible to users after the database is back.
    static let cap: Duration = .seconds(5)

    /// The attempts that failed since the last success.
    private(set) var failureCount = 0

    mutating func succeeded() { failureCount = 0 }

    /// Counts one failure and returns the pause before the next attempt.
    mutating func failed(random: inout some RandomNumberGenerator) -> Duration {
        failureCount = min(failureCount + 1, 32)
        let doublings = min(failureCount - 1, 16)
        let full = min(Self.base * (1 << doublings), Self.cap)
        return full / 2 + full / 2 * Double.random(in: 0...1, using: &random)
    }
}
