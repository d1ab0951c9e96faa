package import Model

extension RationalOwlCall {
    /// The subject of the call.
    package var kind: CallKind {
        switch self {
        case .installApp, .unregUser, .deviceRegister, .deviceToken, .deviceUnregister, .deviceState: .device
        case .reqAuthNumber, .verifyAuthNumber: .user
        // Data that a back end stores about itself. Both sides must have it, as they must have the data of users.
        case .serverRegister, .clientRegister, .setCallbackURL: .user
        case .notiRead, .notiDelivered, .notiOpened: .receipt
        case .msgInfo, .imgData: .read
        case .sendByPhoneNumber, .sendByDeviceID: .send
        }
    }
}

/// The calls of the core's REST API that the gateway does not answer itself, but may hand to the vendor.
///
/// Its sends count as sends to an audience, although some list devices: the gateway cannot serve them, so that a rollout must leave them to the vendor.
enum CoreCall {
    /// Source: docs/contracts/rationalowl.md#11.
    private static let kinds: [String: CallKind] = [
        "/server/unregister": .user,
        "/deviceGroup/create": .user,
        "/deviceGroup/add": .user,
        "/deviceGroup/subtract": .user,
        "/deviceGroup/remove": .user,
        "/downstream/multicast": .send,
        "/downstream/broadcast": .send,
        "/downstream/group": .send,
        "/custompush/multicast": .send,
        "/custompush/broadcast": .send,
        "/custompush/group": .send,
        // Pushes the message again.
        "/custompush/retry": .send,
        "/tracking/msgStats": .read,
        "/tracking/msgDevices": .read,
        "/tracking/msgDeviceDetail": .read,
        "/tracking/msgDetail": .read,
        "/tracking/batchMsgDevices": .read,
        "/tracking/batchMsgDeviceDetail": .read,
        "/sync/deviceIds": .read,
        "/sync/groupDeviceIds": .read,
        "/sync/deleteDevices": .device,
    ]

    /// The kind of the call at a path, with or without a trailing slash; nil for a path without a call.
    static func kind(ofPath path: String) -> CallKind? {
        kinds[path.hasSuffix("/") ? String(path.dropLast()) : path]
    }
}
