package import Model
package import PostgresClient

/// Sets the labels by which a message is counted. Runs after its acceptance.
package struct LabelMessage: StoreWrite {
    let scope: AppScope
    let message: MessageID
    let labels: [String]

    package init(_ scope: AppScope, _ message: MessageID, _ labels: [String]) {
        self.scope = scope
        self.message = message
        self.labels = labels
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_label (tenant_id, app_id, vendor, label, due_day, message_id)
        SELECT $1, $2, $3, l.label, m.due_day, m.message_id
        FROM unnest($5::text[]) AS l(label) JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = $4
        ON CONFLICT DO NOTHING
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.id(message), .strings(labels)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
