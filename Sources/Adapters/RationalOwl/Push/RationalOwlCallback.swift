package import Model

/// The body of a tracking callback: an array of messages, each with its changed targets (docs/contracts/rationalowl.md#8.6).
struct RationalOwlCallback {
    /// Nil if no delivery has an address that the sender knows.
    let body: VendorRequestBody?

    /// - Parameter deliveries: full snapshots, in the order in which they are reported; several of one message become one entry.
    init(_ deliveries: [DeliverySnapshot]) {
        var order: [MessageID] = []
        var targets: [MessageID: [JSON]] = [:]
        for delivery in deliveries {
            guard let entry = Self.entry(delivery) else { continue }
            if targets[delivery.message] == nil { order.append(delivery.message) }
            targets[delivery.message, default: []].append(entry)
        }
        let messages = order.map { message in
            JSON.pairs(["mId": .string(message.description), "ds": .array(targets[message] ?? [])])
        }
        body =
            messages.isEmpty
            ? nil
            : VendorRequestBody(
                contentType: "application/json; charset=utf-8",
                bytes: JSONWriter.bytes(.array(messages))
            )
    }

    private static func entry(_ delivery: DeliverySnapshot) -> JSON? {
        guard var entry = name(delivery.address) else { return nil }
        let states = FallbackStates(delivery.fallback)
        entry["p"] = push(delivery, states)
        if states.alimtalk != 0 {
            entry["a"] = .pairs(["s": .int(states.alimtalk), "st": .int(states.alimtalkTime)])
        }
        if states.text != 0 {
            entry["m"] = .pairs(["t": .int(states.textType), "s": .int(states.text), "st": .int(states.textTime)])
        }
        return .object(entry)
    }

    /// The target as the sender named it; `pn` if the phone is known (docs/contracts/rationalowl.md#8.6).
    private static func name(_ address: Address?) -> JSONObject? {
        switch address {
        case .phone(let phone): JSONObject([("pn", .string(phone))])
        case .deviceKey(let key): JSONObject([("dId", .string(key.rawValue))])
        case .user, .device, nil: nil
        }
    }

    private static func push(_ delivery: DeliverySnapshot, _ states: FallbackStates) -> JSON {
        var push = JSONObject([
            ("s", .int(PushState(delivery, isFallbackUsed: states.isUsed).rawValue)),
            // Assumed: 0 before it was sent, as for all other times of this vendor.
            ("st", .int(delivery.sentAt?.milliseconds ?? 0)),
        ])
        push["nt"] = (delivery.receivedAt ?? delivery.readAt).map { .int($0.milliseconds) }
        push["rt"] = delivery.readAt.map { .int($0.milliseconds) }
        return .object(push)
    }
}

/// A push's state in a callback (docs/contracts/rationalowl.md#8.6).
package enum PushState: Int, Sendable, Hashable {
    case reserved = 1
    case undelivered = 2
    case delivered = 3
    case read = 4
    case fallbackSent = 5
    /// Nothing was pushed, because no device is registered.
    case noApp = 6

    /// The state of a delivery.
    ///
    /// Assumed: a token that Apple reports as dead or foreign is "no app", as the core's codes 12 and 13 (docs/contracts/rationalowl.md#10). Every
    /// other result without a receipt is "undelivered", because the list has no state for it. A test account and an uninstalled app would settle it.
    package init(_ delivery: DeliverySnapshot, isFallbackUsed: Bool) {
        switch delivery.state {
        case .read: self = .read
        case .received: self = .delivered
        case .suppressed, .failed:
            let isGone = Self.goneReasons.contains(delivery.reason ?? "")
            self = isGone ? .noApp : isFallbackUsed ? .fallbackSent : .undelivered
        case .queued where delivery.isReserved: self = .reserved
        case .queued, .sent, .expired, .canceled: self = isFallbackUsed ? .fallbackSent : .undelivered
        }
    }

    private static let goneReasons: Set<String> = [
        SuppressionReason.noDevice.rawValue, "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic",
    ]
}
