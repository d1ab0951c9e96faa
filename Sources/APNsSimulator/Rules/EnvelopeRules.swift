/// Rows 5 to 8: what surrounds the push.
enum EnvelopeRules {
    static let all = [
        Rule(5, .documented) { $0.request.repeatedHeader == nil ? nil : Refusal(.duplicateHeaders) },
        Rule(6, .documented) { $0.request.method == "POST" ? nil : Refusal(.methodNotAllowed) },
        Rule(7, .documented, path),
        Rule(8, .documented, messageID),
    ]

    private static let devicePath = "/3/device"

    /// Channels and broadcasts (`/1/apps`, `/4/broadcasts`) are not played: their paths are as unknown here as any other.
    private static func path(_ examination: inout Examination) -> Refusal? {
        let path = examination.request.path
        guard path.hasPrefix(devicePath) else { return Refusal(.badPath) }
        let rest = path.dropFirst(devicePath.count)
        if rest.isEmpty || rest == "/" { return Refusal(.missingDeviceToken) }
        guard rest.first == "/", !rest.dropFirst().contains("/") else { return Refusal(.badPath) }
        examination.deviceToken = String(rest.dropFirst())
        return nil
    }

    private static func messageID(_ examination: inout Examination) -> Refusal? {
        guard let id = examination.request.apnsID else { return nil }
        guard isUUID(id) else { return Refusal(.badMessageID) }
        examination.apnsID = id
        return nil
    }

    /// Whether text is a UUID in the canonical 8-4-4-4-12 form, in either case.
    static func isUUID(_ text: String) -> Bool {
        let bytes = text.utf8
        guard bytes.count == 36 else { return false }
        return zip(0..., bytes).allSatisfy { index, byte in
            switch index {
            case 8, 13, 18, 23: byte == UInt8(ascii: "-")
            default: isHexDigit(byte)
            }
        }
    }

    /// Whether a byte is one of `0-9a-fA-F`.
    static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
