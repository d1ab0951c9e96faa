/// The number under which vendors that count messages know one: the second in which it was drawn and a place in that second.
///
/// Eighteen digits: `yyyyMMddHHmmss` on the clock of Seoul, which knows no summer time, and four digits. So numbers are in the order of their text.
package struct MessageNumber: Sendable, Hashable, Comparable {
    /// 10,000 numbers a second; what is drawn beyond them borrows from the next second.
    package static let perSecond: Int64 = 10_000
    private static let zoneSeconds: Int64 = 9 * 3600

    /// Seconds since 1970 times 10,000, and the place.
    package var rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: MessageNumber, right: MessageNumber) -> Bool { left.rawValue < right.rawValue }

    package var text: String {
        let second = rawValue / Self.perSecond + Self.zoneSeconds
        let clock = LocalTime(seconds: second).description.filter { $0.isNumber }
        let place = String(rawValue % Self.perSecond)
        return clock + String(repeating: "0", count: max(0, 4 - place.utf8.count)) + place
    }
}

/// A run of numbers that one node may give out.
package struct MessageNumbers: Sendable, Hashable {
    package var first: MessageNumber
    package var count: Int

    package init(first: MessageNumber, count: Int) {
        self.first = first
        self.count = count
    }
}
