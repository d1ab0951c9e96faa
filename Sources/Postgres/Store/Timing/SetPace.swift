package import Model
package import PostgresClient

/// Sets the pace at which an audience is expanded, and that a message keeps when it is resumed or requeued. Runs after the acceptance of its message.
package struct SetPace: StoreWrite {
    let message: MessageID
    let pace: Pace

    package init(_ message: MessageID, _ pace: Pace) {
        self.message = message
        self.pace = pace
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        "UPDATE gateway.message SET pace_count = $3, pace_seconds = $4 WHERE tenant_id = $1 AND message_id = $2"
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(message),
            .int32(Int32(clamping: pace.count)),
            .int32(Int32(clamping: pace.delay.components.seconds))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
