/// An hour of the week: 0 is Monday from 00:00 to 01:00, 167 Sunday from 23:00 to 24:00.
package struct WeekHour: Sendable, Hashable, Comparable {
    package static let count = 168

    package let index: Int16

    /// Returns nil unless it is 0 to 167.
    package init?(_ index: Int) {
        guard (0..<Self.count).contains(index) else { return nil }
        self.index = Int16(index)
    }

    /// The hour of a wall clock that is `offset` seconds ahead of UTC.
    package init(at moment: Timestamp, offset: Int64) {
        // 1970-01-01 was a Thursday.
        let hours = ((moment.seconds + offset).flooredQuotient(3600) + 72).flooredRemainder(168)
        index = Int16(hours)
    }

    package static func < (first: WeekHour, second: WeekHour) -> Bool { first.index < second.index }
}

extension Int64 {
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 { (self - flooredRemainder(divisor)) / divisor }

    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 { ((self % divisor) + divisor) % divisor }
}

/// Finds hours of the week, and remembers the offsets of zones: the table of zones is slow.
package struct WeekHours: Sendable {
    /// 15 minutes: offsets only change at the beginning of a quarter hour. Unit: seconds.
    private static let quarter: Int64 = 900
    /// 64 zones, some kilobytes. Above it all are forgotten.
    private static let limit = 64

    private struct Key: Hashable {
        var zone: TimeZoneName
        var quarter: Int64
    }

    /// Nil: the zone is not known.
    private var offsets: [Key: Int64?] = [:]

    package init() {}

    /// The hour in a zone; nil if the zone is not known.
    package mutating func hour(at moment: Timestamp, in zone: TimeZoneName) -> WeekHour? {
        let key = Key(zone: zone, quarter: moment.seconds / Self.quarter)
        if let known = offsets[key] { return known.map { WeekHour(at: moment, offset: $0) } }
        if offsets.count >= Self.limit { offsets.removeAll(keepingCapacity: true) }
        let offset = zone.isKnown ? zone.offset(at: moment) : nil
        offsets[key] = .some(offset)
        return offset.map { WeekHour(at: moment, offset: $0) }
    }
}
