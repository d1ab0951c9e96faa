/// A moment on the database's clock. Unit: milliseconds since 1970-01-01 UTC.
package struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package init(seconds: Int64) { self.milliseconds = seconds.multipliedReportingOverflow(by: 1000).partialValue }

    package var seconds: Int64 { milliseconds / 1000 }
    package var description: String { "\(milliseconds)ms" }

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// The moment `duration` later, clamped instead of overflowing.
    package static func + (left: Timestamp, right: Duration) -> Timestamp {
        let (sum, overflow) = left.milliseconds.addingReportingOverflow(right.milliseconds)
        return Timestamp(milliseconds: overflow ? .max : sum)
    }

    package static func - (left: Timestamp, right: Timestamp) -> Duration {
        .milliseconds(left.milliseconds.subtractingReportingOverflow(right.milliseconds).partialValue)
    }

    /// The UTC day, counted from 1970-01-01. It is stored in `due_day`.
    package var day: Int32 {
        let (day, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        return Int32(clamping: rest < 0 ? day - 1 : day)
    }
}

extension Duration {
    /// Whole milliseconds, clamped.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : whole + attoseconds / 1_000_000_000_000_000
    }
}

/// The source of the time: the database's clock in the gateway, a manually advanced one in tests.
package protocol WallClock: Sendable {
    func now() -> Timestamp
}
