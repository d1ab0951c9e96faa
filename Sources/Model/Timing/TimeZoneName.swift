// Foundation instead of FoundationEssentials, because only the former is guaranteed to contain the table of zones.
import Foundation

/// A time zone by its name in the IANA database: `Europe/Berlin`, `UTC`.
///
/// PostgreSQL has a separate table. A zone that either of them does not know is ignored by both: the app's zone applies, then UTC.
package struct TimeZoneName: Sendable, Hashable, CustomStringConvertible {
    /// 64 bytes: twice the longest name. It is stored with every device.
    package static let limitBytes = 64
    package static let utc = TimeZoneName(stored: "UTC")

    package let text: String

    /// Returns nil unless the table of zones contains it. Abbreviations (`CET`) and bare offsets (`GMT+9`) are refused: their meaning is ambiguous.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.limitBytes, text == "UTC" || text.utf8.contains(UInt8(ascii: "/")),
            text.utf8.allSatisfy(Self.isNameByte), TimeZone(identifier: text) != nil
        else { return nil }
        self.text = text
    }

    /// A stored name, which may be unknown here.
    package init(stored text: String) { self.text = text }

    package var description: String { text }

    /// Whether the table of zones contains it.
    package var isKnown: Bool { TimeZone(identifier: text) != nil }

    /// The offset of its wall clock from UTC at `moment`, positive to the east. Unit: seconds; 0 for an unknown zone.
    package func offset(at moment: Timestamp) -> Int64 {
        let date = Date(timeIntervalSince1970: Double(moment.seconds))
        return Int64(TimeZone(identifier: text)?.secondsFromGMT(for: date) ?? 0)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "+"):
            true
        default: false
        }
    }
}
