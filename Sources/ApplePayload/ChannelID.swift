/// The id of a broadcast channel, created by APNs: base64 of unknown length (Apple, "Sending channel management requests to APNs").
///
/// It belongs to one app and one environment.
package struct ChannelID: Sendable, Hashable, CustomStringConvertible {
    /// The base64 text.
    package let text: String

    /// Creates an id from received or stored text.
    ///
    /// Nil unless the text is base64 of at most `AppleLimits.channelIDBytes`, because it goes into a header and into payloads.
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
            // The two special characters of base64url. Apple's text says only "base64".
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
