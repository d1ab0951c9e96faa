import Model

extension PercentCoding {
    /// Whether a decoded text was encoded twice: it has escapes, no space and only ASCII characters (docs/contracts/upmc.md#1.9.1).
    static func decodeAgain(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return decode(text.utf8, plusIsSpace: true)
    }
}
