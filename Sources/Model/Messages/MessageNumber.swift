/// The number of a message in dialects that number messages: the second in which it was drawn and a position in that second.
///
/// Eighteen digits: `yyyyMMddHHmmss` on the clock of Seoul, which has no daylight saving time, and four digits. Numbers and their texts have the same order.
package struct MessageNumber: Sendable, Hashable, Comparable {
    /// 10,000 numbers per second. Further numbers are taken from the next second.
    package static let perSecond: Int64 = 10_000
    private static let zoneSeconds: Int64 = 9 * 3600

    /// Seconds since 1970 times 10,000, plus the position.
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

/// A range of numbers that one node may assign.
package struct MessageNumbers: Sendable, Hashable {
    package var first: MessageNumber
    package var count: Int

    package init(first: MessageNumber, count: Int) {
        self.first = first
        self.count = count
    }
}
