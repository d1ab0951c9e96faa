package import Model
import NIOConcurrencyHelpers

/// Chooses the failed calls to upstreams that get a line in the log: at most one per upstream and second, so that an outage does not fill the log. The provisioned
/// credentials bound the number of entries.
package final class FailureLines: Sendable {
    /// 1 s.
    package static let pause = Duration.seconds(1)

    /// The time between two lines about one upstream.
    private let pause: Duration

    private struct Line {
        var at: ContinuousClock.Instant
        /// The failed calls since then.
        var count = 0
    }

    private let lines = NIOLockedValueBox<[CredentialKey: Line]>([:])

    package init(pause: Duration = FailureLines.pause) { self.pause = pause }

    /// Counts a failed call.
    ///
    /// - Returns: the number of failed calls since the last line, with this one, if a line is due; otherwise nil.
    package func count(_ upstream: CredentialKey, at now: ContinuousClock.Instant) -> Int? {
        lines.withLockedValue { lines -> Int? in
            guard let last = lines[upstream] else {
                lines[upstream] = Line(at: now)
                return 1
            }
            guard now >= last.at + pause else {
                lines[upstream] = Line(at: last.at, count: last.count + 1)
                return nil
            }
            lines[upstream] = Line(at: now)
            return last.count + 1
        }
    }
}
