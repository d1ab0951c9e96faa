import FoundationEssentials

/// Encodes and decodes images inside JSON.
package enum Base64Image {
    /// The decoded bytes of `text`; nil if it is not base64, or contains more than `RationalOwlLimits.imageBytes`.
    ///
    /// Line breaks and a `data:` prefix are accepted.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        if text.hasPrefix("data:"), let comma = bytes.firstIndex(of: UInt8(ascii: ",")) {
            bytes.removeFirst(comma + 1)
        }
        bytes.removeAll { $0 == 0x0A || $0 == 0x0D || $0 == 0x20 }
        guard let data = Data(base64Encoded: Data(bytes)) else { return nil }
        return data.isEmpty || data.count > RationalOwlLimits.imageBytes ? nil : Array(data)
    }

    /// Padded, without line breaks or prefix: the demo app's decoder rejects both (docs/contracts/rationalowl.md#5.7).
    package static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }
}
