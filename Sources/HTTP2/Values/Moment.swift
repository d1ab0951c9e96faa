/// A moment of the continuous clock as a plain number, for what is stored per request.
///
/// `ContinuousClock.Instant` is opaque to this module's compiler: a struct that holds one is laid out at run time, and each
/// copy of it goes through a table. Measured, that was a tenth of a request's cost.
package struct Moment: Sendable, Equatable, Comparable {
    /// Since `origin`, rounded down; clamped at about 292 years on either side.
    let nanoseconds: Int64

    /// Where counting starts: the first use in this process.
    private static let origin = ContinuousClock.now
    private static let perSecond: Int64 = 1_000_000_000

    /// Later than any request's deadline.
    static let never = Moment(nanoseconds: .max)

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The moment of an instant.
    package init(_ instant: ContinuousClock.Instant) { self.init(Moment.origin.duration(to: instant)) }

    /// The moment so long after `origin`.
    init(_ offset: Duration) {
        let (seconds, attoseconds) = offset.components
        let (whole, hasOverflowed) = seconds.multipliedReportingOverflow(by: Moment.perSecond)
        // Rounded down, also before `origin`, so that order is kept.
        let rest = attoseconds >= 0 ? attoseconds / Moment.perSecond : (attoseconds - 999_999_999) / Moment.perSecond
        let (sum, isBeyond) = whole.addingReportingOverflow(rest)
        nanoseconds = hasOverflowed || isBeyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// The instant of the moment.
    var instant: ContinuousClock.Instant { Moment.origin + .nanoseconds(nanoseconds) }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
}
