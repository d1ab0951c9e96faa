package import Model
package import PostgresClient

/// Stores the request of a message, as a new schedule or as the new message of an existing one. Runs after the acceptance of the message.
package struct KeepSchedule: StoreWrite {
    let scope: AppScope
    let draft: ScheduleDraft
    let message: MessageID

    package init(_ scope: AppScope, _ draft: ScheduleDraft, _ message: MessageID) {
        self.scope = scope
        self.draft = draft
        self.message = message
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.schedule (tenant_id, app_id, vendor, schedule_id, message_id, request)
        VALUES ($1, $2, $3, $4, $5, $6::json)
        ON CONFLICT (tenant_id, app_id, vendor, schedule_id) DO UPDATE SET message_id = excluded.message_id, request = excluded.request
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .id(draft.replaced?.id ?? message), .id(message), .string(DocumentText.of(draft.request)),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
