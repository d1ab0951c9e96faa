/// Which part of a history is wanted.
package struct HistoryPage: Sendable, Hashable {
    /// Whose messages.
    package enum Owner: Sendable, Hashable {
        /// All that were for the calling device, whoever used it.
        case device
        /// All that were for the device's user now, on any device. A user that is named must be that one: a device may not read others' messages.
        case user(UserID?)
    }

    /// 50 messages in one page: each is read with its content (docs/contracts/ipns.md#2.9).
    package static let limit = 50
    /// 10,000 messages that are not received are counted; a client asks again while there are any, so that a higher number tells it nothing.
    package static let remainingLimit = 10_000

    /// 1,000 messages are looked at for one answer that filters or counts: no index knows what was read, so each costs a read of its row.
    package static let lookLimit = 1000

    package var owner: Owner
    /// Only what is older than the message of this number; nil: from the newest. A number that is not known is compared as text.
    package var before: String?
    package var count: Int
    /// Nil: what was sent to the device and is shown counts as received. Else the page is only looked at.
    package var look: HistoryLook?

    package init(_ owner: Owner, before: String? = nil, count: Int, look: HistoryLook? = nil) {
        self.owner = owner
        self.before = before
        self.count = count
        self.look = look
    }
}

/// How a history is looked at when nothing is to be counted as received.
package struct HistoryLook: Sendable, Hashable {
    /// Only what the user has read, or has not; nil: both. Sought among the `HistoryPage.lookLimit` messages where the page begins.
    package var isRead: Bool?
    /// The key of a message's data under which `N` says that it is in no history.
    package var hiddenBy: String?

    package init(isRead: Bool? = nil, hiddenBy: String? = nil) {
        self.isRead = isRead
        self.hiddenBy = hiddenBy
    }
}
