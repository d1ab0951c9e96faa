/// The current state of one delivery, for histories, receipts and tracking callbacks.
package struct DeliverySnapshot: Sendable, Hashable {
    package var message: MessageID
    package var target: TargetID
    package var identity: IdentityID?
    /// The address by which the caller named this target, if it used a phone or device key.
    package var address: Address?
    package var state: DeliveryState
    /// Why it failed or was suppressed: a reason of the peer (`Unregistered`) or of the gateway (`noDevice`).
    package var reason: String?
    /// When the push service answered, or the delivery was settled without a push.
    package var sentAt: Timestamp?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    /// Whether the delivery is scheduled for later.
    package var isReserved: Bool
    /// The fallback's record, as the vendor's adapter stored it. Nil when no fallback was requested or made.
    package var fallback: JSON?

    package init(
        message: MessageID,
        target: TargetID,
        identity: IdentityID? = nil,
        address: Address? = nil,
        state: DeliveryState,
        reason: String? = nil,
        sentAt: Timestamp? = nil,
        receivedAt: Timestamp? = nil,
        readAt: Timestamp? = nil,
        isReserved: Bool = false,
        fallback: JSON? = nil
    ) {
        self.message = message
        self.target = target
        self.identity = identity
        self.address = address
        self.state = state
        self.reason = reason
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.readAt = readAt
        self.isReserved = isReserved
        self.fallback = fallback
    }
}
