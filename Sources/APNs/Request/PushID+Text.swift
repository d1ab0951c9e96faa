internal import Bytes
internal import Model

/// `apns-id` on the wire: 8-4-4-4-12 hexadecimal digits. Eight digits are processed at once and without a `String`, because each push and each answer has one.
extension PushID {
    /// The length of the text. Unit: bytes.
    static let textCount = 36

    private static let dash = UInt8(ascii: "-")
    private static let lowHalf: UInt64 = 0xFFFF_FFFF

    /// Reads the id from its text, in upper or lower case; nil for anything else.
    init?(text: Span<UInt8>) {
        guard text.count == Self.textCount, text[8] == Self.dash, text[13] == Self.dash, text[18] == Self.dash,
            text[23] == Self.dash
        else { return nil }
        let first = ByteLanes(text.word(at: 0))
        let second = ByteLanes(text.word(at: 9) & Self.lowHalf | text.word(at: 14) << 32)
        let third = ByteLanes(text.word(at: 19) & Self.lowHalf | text.word(at: 24) << 32)
        let fourth = ByteLanes(text.word(at: 28))
        let faults = first.notHex | second.notHex | third.notHex | fourth.notHex
        guard faults & ByteLanes.marks == 0 else { return nil }
        self.init(
            high: UInt64(first.hexValue) << 32 | UInt64(second.hexValue),
            low: UInt64(third.hexValue) << 32 | UInt64(fourth.hexValue)
        )
    }

    /// Writes the lower-case text.
    func spell(into out: inout OutputSpan<UInt8>) {
        let first = ByteLanes.hexDigits(UInt32(truncatingIfNeeded: high >> 32))
        let second = ByteLanes.hexDigits(UInt32(truncatingIfNeeded: high))
        let third = ByteLanes.hexDigits(UInt32(truncatingIfNeeded: low >> 32))
        let fourth = ByteLanes.hexDigits(UInt32(truncatingIfNeeded: low))
        let dash = UInt64(Self.dash)
        out.append(
            words: [
                first,
                dash | (second & Self.lowHalf) << 8 | dash << 40 | (second >> 32) << 48,
                second >> 48 | dash << 16 | (third & Self.lowHalf) << 24 | dash << 56,
                third >> 32 | fourth << 32,
                fourth >> 32,
            ],
            count: Self.textCount
        )
    }
}
