/// A device's receipt for a message.
package enum ReceiptCommand: Sendable, Hashable {
    /// `message` is the caller's text. A text that is not an id is answered with `orphan`, not refused.
    case report(ReceiptKind, message: String, reporter: Reporter, at: Timestamp?)
    /// A receipt by the message's number, also for messages that were not pushed. Refused for an unknown caller, and for messages of other devices and users.
    case reportNumber(ReceiptKind, number: String, caller: DeviceCaller)
    /// A receipt in a dialect that numbers messages and identifies a reader by token, key or user. Nil keeps the badge.
    case acknowledge(ReceiptKind, reference: String, BadgeHolder, BadgeChange?)
}

/// The kind of receipt. `read` implies `received`.
package enum ReceiptKind: String, Sendable, Hashable, CaseIterable {
    case received, read
}

/// The device that reports.
package struct Reporter: Sendable, Hashable {
    package var key: VendorDeviceKey?
    /// A hint from older clients. It never extends the messages that the key may see.
    package var phone: String?

    package init(key: VendorDeviceKey?, phone: String? = nil) {
        self.key = key
        self.phone = phone
    }
}

/// The result of a receipt.
package enum ReceiptReply: Sendable, Hashable {
    /// The delivery changed.
    case recorded
    /// The receipt was known before: the first receipt wins.
    case repeated
    /// The message, the device, or the delivery does not exist. It is counted, and answered like a success.
    case orphan
    /// The answer to `acknowledge`: whether the receipt belongs to a delivery, and the badge afterwards.
    case acknowledged(isKnown: Bool, badge: Int)
}
