/// Selects a part of a history.
package struct HistoryPage: Sendable, Hashable {
    /// The owner of the messages.
    package enum Owner: Sendable, Hashable {
        /// All messages to the calling device, for all of its users.
        case device
        /// All messages to the device's current user, on any device. A given user must be the current one: a device may not read messages of other users.
        case user(UserID?)
    }

    /// 50 messages in one page: each is read with its content (docs/contracts/ipns.md#2.9).
    package static let limit = 50
    /// 10,000 unreceived messages are counted. A client repeats its call while any remain, so a higher number would not change its behaviour.
    package static let remainingLimit = 10_000

    /// 1,000 messages are examined for one answer that filters or counts: no index contains receipts, so each message costs a read of its row.
    package static let lookLimit = 1000

    package var owner: Owner
    /// Only messages that are older than the message with this number. Nil: starts with the newest. An unknown number is compared as text.
    package var before: String?
    package var count: Int
    /// Nil: messages to the device that the page contains count as received. Otherwise reading the page records no receipt.
    package var look: HistoryLook?

    package init(_ owner: Owner, before: String? = nil, count: Int, look: HistoryLook? = nil) {
        self.owner = owner
        self.before = before
        self.count = count
        self.look = look
    }
}

/// How a history is read when nothing is to count as received.
package struct HistoryLook: Sendable, Hashable {
    /// Only messages that the user has read, or has not read. Nil: both. Searched among `HistoryPage.lookLimit` messages from the beginning of the page on.
    package var isRead: Bool?
    /// The key of a message's data under which `N` excludes it from histories.
    package var hiddenBy: String?

    package init(isRead: Bool? = nil, hiddenBy: String? = nil) {
        self.isRead = isRead
        self.hiddenBy = hiddenBy
    }
}
