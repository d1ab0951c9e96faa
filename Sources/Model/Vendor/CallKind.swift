/// The subject of a vendor's call. Rules of routes choose by it which side answers. Every documented call has exactly one kind.
package enum CallKind: String, Sendable, Hashable, CaseIterable {
    /// Registers, changes or ends a device, its token or its settings.
    case device
    /// Writes data or groups of users.
    case user
    /// Reports that a device has received or read a message.
    case receipt
    /// Changes or withdraws a message that exists.
    case message
    /// Changes nothing.
    case read
    /// Sends a message, now or later.
    case send
    /// No adapter claims the path: a page of the vendor on the same host.
    case other
}
