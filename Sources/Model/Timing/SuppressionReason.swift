/// Why a delivery was not even tried.
package enum SuppressionReason: String, Sendable, Hashable, CaseIterable {
    /// The address has no device, or its device no usable token.
    case noDevice
    /// Another target of the same message rings the same device.
    case duplicate
    /// The user switched pushes off.
    case preference
    /// The app's quiet hours, which let nothing wait.
    case quietHours
    /// Outside of the device's receiving window, and the app lets nothing wait.
    case receivingWindow
    /// The hours begin when the message has expired.
    case opensTooLate
    /// The device got as many messages as the app allows.
    case frequencyCap
}
