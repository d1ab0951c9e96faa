package import Model
package import PostgresClient

/// Records a receipt by the number or id of the message, and returns the badge of the reader afterwards. The first receipt of a kind wins.
package struct AcknowledgeMessage: StoreWrite {
    /// How a receipt identifies its message.
    package enum Reference: Sendable, Hashable {
        case number(String)
        case id(MessageID)
    }

    let scope: AppScope
    let message: Reference
    let holder: BadgeHolder
    let kind: ReceiptKind
    let change: BadgeChange?
    let at: Timestamp

    package init(
        _ scope: AppScope,
        _ message: Reference,
        _ holder: BadgeHolder,
        _ kind: ReceiptKind,
        _ change: BadgeChange?,
        at: Timestamp
    ) {
        self.scope = scope
        self.message = message
        self.holder = holder
        self.kind = kind
        self.change = change
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("acknowledge", 12)

    package func statement(_ call: StoreCall) -> Statement {
        var number: String?
        var id: MessageID?
        switch message {
        case .number(let text): number = text
        case .id(let value): id = value
        }
        let badge: Int32? =
            switch change {
            case nil: nil
            case .keep: -1
            case .set(let count): Int32(clamping: count)
            }
        return Self.sql.with(
            call.owner(scope) + [.string(number), .id(id)] + holder.parameters
                + [.text(kind.rawValue), .int32(badge), .time(at), .id(call.node)]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Acknowledgement {
        let row = try result.only()
        let reply: ReceiptReply =
            switch try row.text("outcome") {
            case "recorded": .recorded
            case "repeated": .repeated
            default: .orphan
            }
        return Acknowledgement(reply: reply, badge: try row.int("badge"))
    }
}

/// The result of a receipt, and the badge afterwards.
package struct Acknowledgement: Sendable, Hashable {
    package var reply: ReceiptReply
    package var badge: Int

    package init(reply: ReceiptReply, badge: Int) {
        self.reply = reply
        self.badge = badge
    }
}
