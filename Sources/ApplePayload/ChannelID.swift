/// A broadcast channel's name, as APNs made it: base64 of unknown length (Apple, "Sending channel management requests to APNs").
///
/// It belongs to one app and one environment.
package struct ChannelID: Sendable, Hashable, CustomStringConvertible {
    /// The base64 text.
    package let text: String

    /// A channel id off the wire or out of a store.
    ///
    /// Nil unless it is base64 of at most `AppleLimits.channelIDBytes`: it goes into a header and into payloads.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...AppleLimits.channelIDBytes).contains(bytes.count), bytes.allSatisfy(Self.isBase64) else {
            return nil
        }
        self.text = text
    }

    package var description: String { text }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            // The two signs of base64url: Apple says base64 only.
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
