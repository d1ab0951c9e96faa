// Foundation, not FoundationEssentials: only the former is sure to bring the table of zones.
import Foundation

/// A time zone by its name in the IANA database: `Europe/Berlin`, `UTC`.
///
/// PostgreSQL has a table of its own. A zone that one of both does not know is passed over by both ways that use it: the app's stands, then UTC.
package struct TimeZoneName: Sendable, Hashable, CustomStringConvertible {
    /// 64 bytes: twice the longest name there is. It is stored with every device.
    package static let limitBytes = 64
    package static let utc = TimeZoneName(stored: "UTC")

    package let text: String

    /// Nil unless the table of zones has it. Abbreviations (`CET`) and bare offsets (`GMT+9`) are no names: they mean other things elsewhere.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.limitBytes, text == "UTC" || text.utf8.contains(UInt8(ascii: "/")),
            text.utf8.allSatisfy(Self.isNameByte), TimeZone(identifier: text) != nil
        else { return nil }
        self.text = text
    }

    /// A name as the store has it, known here or not.
    package init(stored text: String) { self.text = text }

    package var description: String { text }

    /// Whether the table of zones has it.
    package var isKnown: Bool { TimeZone(identifier: text) != nil }

    /// How far its wall clock is ahead of UTC at `moment`. Unit: seconds; 0 for an unknown zone.
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
