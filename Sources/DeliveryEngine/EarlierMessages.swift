/// The facts about earlier messages with the same text, through other entry points, for the targets of a slice (docs/routing.md#cross-vendor-duplicates).
package struct EarlierMessages: Sendable, Hashable {
    /// The places of the targets whose devices were sent one.
    package var sent: Set<Int>
    /// The places of the targets to which one may still be sent.
    package var open: Set<Int>
    /// Whether an upstream sent one to an audience: of its devices, only those that reported it are known.
    package var hasUnknown: Bool
    /// How long the slice has waited for them: zero at its first lease.
    package var waited: Duration

    package init(sent: Set<Int> = [], open: Set<Int> = [], hasUnknown: Bool = false, waited: Duration = .zero) {
        self.sent = sent
        self.open = open
        self.hasUnknown = hasUnknown
        self.waited = waited
    }
}

/// The answer of the store about earlier messages.
package enum EarlierFinding: Sendable, Hashable {
    case found(EarlierMessages)
    /// Another node holds the slice.
    case fenced
}
