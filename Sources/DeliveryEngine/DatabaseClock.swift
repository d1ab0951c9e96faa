package import Model
import NIOConcurrencyHelpers

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The database's clock as estimated by this node: its own monotonic clock plus a difference that heartbeats have measured.
///
/// There is one per process, created by the wiring. Ids, expiry and provider tokens use it, so that a node with a wrong clock does no harm. Until the
/// first heartbeat it shows the system's time.
package final class DatabaseClock: WallClock {
    private let monotonic: @Sendable () -> Duration
    /// Milliseconds to add to the monotonic clock.
    private let offset: NIOLockedValueBox<Int64>

    /// - Parameter monotonic: the time since any fixed moment; tests pass their own.
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

    /// A time that never goes back, for the gateway's own deadlines.
    package var uptime: Duration { monotonic() }

    /// The database answered `databaseTime` to a call that began at `asked`, a value of `uptime`: its clock now shows a time between `databaseTime` and the
    /// duration of the call later.
    ///
    /// An estimate within that is kept, so that a slow answer does not move a good estimate. Any other is replaced by the middle.
    package func adjust(databaseTime: Timestamp, asked: Duration) {
        let uptime = uptime
        let (own, askedFor) = (uptime.milliseconds, uptime - asked)
        offset.withLockedValue { offset in
            let estimate = Timestamp(milliseconds: offset.addingReportingOverflow(own).partialValue)
            guard estimate < databaseTime || databaseTime + askedFor < estimate else { return }
            let middle = (databaseTime + askedFor / 2).milliseconds
            offset = middle.subtractingReportingOverflow(own).partialValue
        }
    }
}
