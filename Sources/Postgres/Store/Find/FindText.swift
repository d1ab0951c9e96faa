package import Model

/// A kind of name.
package enum FindKind: String, Sendable, Hashable, CaseIterable {
    case message, messageNumber, device, identity, token, key, phone, user
}

/// A text with which somebody looks for an object without saying what it is: pasted from a log, a ticket or a call.
package struct FindText: Sendable, Hashable {
    /// 8 bytes: shorter texts are not push tokens.
    private static let tokenBytes = 8
    /// 4 digits: shorter texts are not phone numbers.
    private static let phoneDigits = 4
    /// 128 bytes of a key and of a vendor's number, 256 of a user: the limits of these names.
    private static let keyBytes = 128
    private static let userBytes = 256

    package let text: String

    /// Nil for a text without a visible character.
    package init?(_ text: String) {
        let shown = text.drop(while: \.isWhitespace)
        guard let end = shown.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        self.text = String(shown[...end])
    }

    /// The kinds of names that it may be, by its form.
    package var kinds: [FindKind] {
        FindKind.allCases.filter { kind in
            switch kind {
            case .message, .device, .identity: MessageID(text: text) != nil
            case .messageNumber, .key: text.utf8.count <= Self.keyBytes
            case .token: text.utf8.count >= Self.tokenBytes && token != nil
            case .phone: phone != nil
            case .user: text.utf8.count <= Self.userBytes
            }
        }
    }

    /// The text as a push token.
    package var token: DeviceToken? { DeviceToken(apns: text) ?? DeviceToken(fcm: text) }

    /// The digits of a phone number. Nil: the text contains anything else than digits and their usual separators.
    package var phone: String? {
        let digits = text.filter(\.isNumber)
        guard digits.count >= Self.phoneDigits, text.allSatisfy({ $0.isNumber || "+-() .".contains($0) }) else {
            return nil
        }
        return digits
    }
}
