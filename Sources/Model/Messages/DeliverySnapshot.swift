/// One delivery as it stands: what history, receipts and tracking callbacks are written from.
package struct DeliverySnapshot: Sendable, Hashable {
    package var message: MessageID
    package var target: TargetID
    package var identity: IdentityID?
    /// How the caller named this target, when it named it by phone or device key.
    package var address: Address?
    package var state: DeliveryState
    /// Why it failed or was suppressed: a peer's reason (`Unregistered`) or one of ours (`noDevice`).
    package var reason: String?
    /// When the transport was asked, or the delivery was settled without it.
    package var sentAt: Timestamp?
    package var receivedAt: Timestamp?
    package var readAt: Timestamp?
    /// Deliveries that are reserved for later.
    package var isReserved: Bool
    /// The fallback's record, as the vendor's adapter stored it; nil when none was asked for or made.
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
