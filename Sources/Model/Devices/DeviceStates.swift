/// What is known of a device's token.
package enum TokenState: String, Sendable, Hashable, CaseIterable {
    /// No token yet. Goes to: active.
    case none
    /// Usable. Goes to: invalid, quarantined.
    case active
    /// The push service said it is dead. Goes to: active, by a new registration.
    case invalid
    /// Doubtful: wrong environment or topic. Goes to: active, invalid.
    case quarantined
}

/// What a vendor's client made of its registration.
package enum IdentityState: String, Sendable, Hashable, CaseIterable {
    case active, replaced, unregistered, removed
}
