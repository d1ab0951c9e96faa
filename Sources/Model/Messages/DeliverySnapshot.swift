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

/// How a caller names one addressee.
package enum Address: Sendable, Hashable {
    /// Digits, national form.
    case phone(String)
    /// The vendor's own device key.
    case deviceKey(VendorDeviceKey)
    case user(UserID)
    /// The gateway's own device id (native API).
    case device(DeviceID)

    /// A stable text of kind and value: what the target id of an address without a device is made from.
    package var canonical: String {
        switch self {
        case .phone(let phone): "phone:\(phone)"
        case .deviceKey(let key): "key:\(key)"
        case .user(let user): "user:\(user)"
        case .device(let device): "device:\(device)"
        }
    }

    /// The address that `canonical` spells.
    package init?(canonical: String) {
        guard let colon = canonical.firstIndex(of: ":") else { return nil }
        let value = String(canonical[canonical.index(after: colon)...])
        switch canonical[..<colon] {
        case "phone": self = .phone(value)
        case "key": self = .deviceKey(VendorDeviceKey(value))
        case "user": self = .user(UserID(value))
        case "device":
            guard let id = DeviceID(text: value) else { return nil }
            self = .device(id)
        default: return nil
        }
    }
}
