package import Model

/// A message with the same text that came before the one of a slice, through another entry point (docs/routing.md#duplicates).
package struct EarlierMessage: Sendable, Hashable {
    /// Whether its deliveries are known.
    package enum Standing: String, Sendable, Hashable {
        /// It may still be sent to devices.
        case open
        case done
        /// An upstream sent it to an audience: only devices that reported it are known.
        case unknown
    }

    package var message: MessageID
    package var standing: Standing
    /// The places of the targets whose devices were sent it.
    package var sent: Set<Int>
    /// The places of the targets for which it ended otherwise.
    package var unsent: Set<Int>
    /// How long the slice has waited for it: zero at its first lease.
    package var waited: Duration

    package init(
        message: MessageID,
        standing: Standing,
        sent: Set<Int> = [],
        unsent: Set<Int> = [],
        waited: Duration = .zero
    ) {
        self.message = message
        self.standing = standing
        self.sent = sent
        self.unsent = unsent
        self.waited = waited
    }

    /// Whether the outcome of a target is not known yet.
    func isOpen(_ place: Int) -> Bool {
        standing == .open && !sent.contains(place) && !unsent.contains(place)
    }
}

/// The answer of the store about an earlier message.
package enum EarlierFinding: Sendable, Hashable {
    /// The earlier message was removed.
    case none
    case found(EarlierMessage)
    /// Another node holds the slice.
    case fenced
}
