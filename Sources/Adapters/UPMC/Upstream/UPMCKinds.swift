package import Model

extension UPMCCall {
    /// The subject of the call.
    package var kind: CallKind {
        switch self {
        // The keys of a device come from the side that answers its calls.
        case .askingAuthorization, .encryptionKey: .device
        case .registerService, .addService, .registerUser, .registerServiceAndUser, .registerWebServiceAndUser: .device
        case .deleteService, .deleteUser, .setBadge, .alive, .reallocateBroker, .putLog: .device
        case .joinGroup, .leaveGroup, .registerGroup, .deleteGroup: .user
        case .lastSession, .purchase: .user
        case .acknowledge, .read: .receipt
        // It names a message by its number, so that it belongs to the side that sent the message.
        case .message: .message
        case .getService, .groups, .groupUsers, .brokerConfiguration, .messageList, .unreadCount: .read
        case .send, .sendToGroup, .sendToList: .send
        }
    }
}
