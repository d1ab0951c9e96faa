import Model

extension PercentCoding {
    /// Decodes a text that was encoded twice: one with escapes, without spaces and with only ASCII characters. Nil for other texts
    /// (docs/contracts/upmc.md#1.9.1).
    static func decodeAgain(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return decode(text.utf8, plusIsSpace: true)
    }
}
