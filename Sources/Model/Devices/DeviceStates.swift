/// The state of a device's token.
package enum TokenState: String, Sendable, Hashable, CaseIterable {
    /// No token yet. Goes to: active.
    case none
    /// Usable. Goes to: invalid, quarantined.
    case active
    /// The push service reported that the token is dead. Goes to: active, by a new registration.
    case invalid
    /// Doubtful: wrong environment or topic. Goes to: active, invalid.
    case quarantined
}

/// The state of a registration by a vendor's client.
package enum IdentityState: String, Sendable, Hashable, CaseIterable {
    case active, replaced, unregistered, removed
}
