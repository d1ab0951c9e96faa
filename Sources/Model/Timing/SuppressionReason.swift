/// Why a delivery was not attempted.
package enum SuppressionReason: String, Sendable, Hashable, CaseIterable {
    /// The address has no device, or its device has no usable token.
    case noDevice
    /// Another target of the same message notifies the same device.
    case duplicate
    /// The identity's level is below the one that the message needs, or below that of another identity of the same user.
    case assurance
    /// The user switched pushes off.
    case preference
    /// The message was due in the app's quiet hours, and the app lets nothing wait.
    case quietHours
    /// The message was due outside of the device's receiving window, and the app lets nothing wait.
    case receivingWindow
    /// The message expires before the hours begin.
    case opensTooLate
    /// The device has received the maximum number of messages that the app permits.
    case frequencyCap
    /// A delivery rule of the app sends nothing to it (`paths: [none]`).
    case routed
    /// The upstream pushes to all devices of the user, and the call for another target of the same message reaches this one.
    case sameUser
    /// The device was sent a message with the same text, which came before through another entry point (`duplicateGuard`).
    case crossVendorDuplicate
}
