/// The user and the device of one target, as far as a call or a delivery reveals them.
package struct RolloutFacts: Sendable, Hashable {
    /// The user as stored for the dialect; nil: not known.
    package var user: String?
    /// The vendor's key of the device; nil: not known.
    package var device: String?

    package init(user: String? = nil, device: String? = nil) {
        self.user = user
        self.device = device
    }
}

/// The targets that a call names.
package enum NamedTargets: Sendable, Hashable {
    /// It names none: the call is about none, or about all that a filter selects.
    case audience
    case targets([RolloutFacts])
    /// It names targets in a way that reveals neither users nor devices.
    case hidden
}
