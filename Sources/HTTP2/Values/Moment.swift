/// A time of the continuous clock as a plain number, for values that are stored per request.
///
/// `ContinuousClock.Instant` is opaque to this module's compiler: a struct that contains one is laid out at run time, and each copy of it goes through a table.
/// This was measured as a tenth of a request's cost.
package struct Moment: Sendable, Equatable, Comparable {
    /// Nanoseconds since `origin`, rounded down; limited to about 292 years before or after it.
    let nanoseconds: Int64

    /// The zero point: the first use in this process.
    private static let origin = ContinuousClock.now
    private static let perSecond: Int64 = 1_000_000_000

    /// A time later than any request's deadline.
    static let never = Moment(nanoseconds: .max)

    private init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the time of an instant.
    package init(_ instant: ContinuousClock.Instant) { self.init(Moment.origin.duration(to: instant)) }

    /// Creates the time at this offset from `origin`.
    init(_ offset: Duration) {
        let (seconds, attoseconds) = offset.components
        let (whole, hasOverflowed) = seconds.multipliedReportingOverflow(by: Moment.perSecond)
        // Rounded down, also before `origin`, so that the order is preserved.
        let rest = attoseconds >= 0 ? attoseconds / Moment.perSecond : (attoseconds - 999_999_999) / Moment.perSecond
        let (sum, isBeyond) = whole.addingReportingOverflow(rest)
        nanoseconds = hasOverflowed || isBeyond ? (seconds < 0 ? .min : .max) : sum
    }

    /// The time as an instant.
    var instant: ContinuousClock.Instant { Moment.origin + .nanoseconds(nanoseconds) }

    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
}
