package import Model
package import PostgresClient

/// Delivers everything after an offset again. Resets the failures of the webhook and ends its lease.
package struct ReplayWebhook: StoreWrite {
    let webhook: WebhookID
    let offset: Int64

    package init(_ webhook: WebhookID, from offset: Int64) {
        self.webhook = webhook
        self.offset = offset
    }

    private static let sql = StoreSQL.function("replay_webhook", 3)

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(webhook), .int64(offset))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ReplayOutcome {
        let row = try result.only()
        switch try row.text("outcome") {
        case "moved": return .moved
        case "outside": return .outside(EventBounds(first: try row.int64("first"), head: try row.int64("head")))
        default: return .unknown
        }
    }
}
