import Model

// The answers of the history calls (docs/contracts/upmc.md#1.11).
extension UPMCResponse {
    /// Nil: the replies do not belong to these calls.
    func history(_ replies: [Reply]) -> VendorResponse? {
        switch (endpoint, replies.first) {
        case (.messageList, .inbox(.history(let entries))): return list(entries.map(shown))
        case (.message, .inbox(.message(let entry))): return list([shown(entry)])
        case (.unreadCount, .inbox(.unread(let count))):
            guard replies.count == 2, case .badge(.count(let badge)) = replies[1] else { return nil }
            return list([["UNREAD": .string(String(count)), "BADGENO": .string(String(badge))]])
        default: return nil  // all other calls
        }
    }

    private func shown(_ entry: InboxEntry) -> JSONObject {
        let reader = ShownMessage.Reader(user: entry.user, name: entry.name, variables: entry.variables)
        let message = ShownMessage(notification: entry.notification, reader: reader, settings: settings)
        return JSONObject([
            ("SEQNO", .string(message.number)),
            ("APPID", .string(settings.applicationID)),
            ("TITLE", .string(message.title ?? "")),
            ("MESSAGE", .string(message.body)),
            ("EXT", .string(message.extra)),
            ("SENDERCODE", .string(message.sender)),
            ("SENDDATE", .string(KoreanTime(entry.notification.sentAt).whole)),
            ("REVDATE", .string(Self.time(entry.receivedAt))),
            ("READDATE", .string(Self.time(entry.readAt))),
            ("READ_YN", entry.readAt == nil ? "N" : "Y"),
            ("STATUS", .string(Self.status(entry))),
        ])
    }

    private static func time(_ time: Timestamp?) -> String { time.map { KoreanTime($0).whole } ?? "" }

    /// Assumed: `FAILED` without a code stands for every reason why no device of the user was sent the message. Undecided messages are not in a history.
    private static func status(_ entry: InboxEntry) -> String {
        if entry.readAt != nil { return "READ" }
        if entry.receivedAt != nil { return "RECEIVED" }
        return entry.wasSent ? "SENT" : "FAILED"
    }
}
