/// What a device reports of a message it got.
package enum ReceiptCommand: Sendable, Hashable {
    /// `message` is the caller's text: an id that is none is an orphan, not an error.
    case report(ReceiptKind, message: String, reporter: Reporter, at: Timestamp?)
    /// The same by the message's number; what was not pushed may be read too. A stranger, and a message that is not the device's or its user's, is refused.
    case reportNumber(ReceiptKind, number: String, caller: DeviceCaller)
    /// The same where a vendor numbers its messages and a reader is known by token, key or user. Nil leaves the badge.
    case acknowledge(ReceiptKind, reference: String, BadgeHolder, BadgeChange?)
}

/// What was reported. `read` implies `received`.
package enum ReceiptKind: String, Sendable, Hashable, CaseIterable {
    case received, read
}

/// Who reports.
package struct Reporter: Sendable, Hashable {
    package var key: VendorDeviceKey?
    /// A hint of older clients; never widens what the key may see.
    package var phone: String?

    package init(key: VendorDeviceKey?, phone: String? = nil) {
        self.key = key
        self.phone = phone
    }
}

/// What came of a receipt.
package enum ReceiptReply: Sendable, Hashable {
    /// The delivery changed.
    case recorded
    /// It was known before: the first receipt won.
    case repeated
    /// No such message, device, or delivery to it. Counted, answered like a success.
    case orphan
    /// Of `acknowledge`: whether it was a delivery's, and the badge after it.
    case acknowledged(isKnown: Bool, badge: Int)
}
