package import Model
import NIOConcurrencyHelpers

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The database's clock as this node knows it: its own monotonic clock, plus the difference that the last heartbeat showed.
///
/// One per process, made by the wiring; ids, expiry and provider tokens all take it, so that a node with a wrong clock does no harm.
/// Until the first heartbeat it shows the system's time.
package final class DatabaseClock: WallClock {
    private let monotonic: @Sendable () -> Duration
    /// Milliseconds to add to the monotonic clock.
    private let offset: NIOLockedValueBox<Int64>

    /// - Parameter monotonic: time since any fixed moment; tests give their own.
    package init(monotonic: (@Sendable () -> Duration)? = nil) {
        let start = ContinuousClock.now
        let monotonic = monotonic ?? { ContinuousClock.now - start }
        self.monotonic = monotonic
        let system = Int64((Date().timeIntervalSince1970 * 1000).rounded())
        offset = NIOLockedValueBox(system - monotonic().milliseconds)
    }

    package func now() -> Timestamp {
        Timestamp(milliseconds: offset.withLockedValue { $0 }.addingReportingOverflow(uptime.milliseconds).partialValue)
    }

    /// Time that is never set back, for deadlines of our own.
    package var uptime: Duration { monotonic() }

    /// The database answered `databaseTime`, and the question took `askedFor` until now: it read its clock half that ago.
    package func adjust(databaseTime: Timestamp, askedFor: Duration) {
        let own = uptime.milliseconds
        let then = (databaseTime + askedFor / 2).milliseconds
        offset.withLockedValue { $0 = then.subtractingReportingOverflow(own).partialValue }
    }
}
