package import Model
package import PostgresClient

/// Controls the unsent part of a message, writes the event, and a row of the audit if an actor is given. Returns 0 when nothing changed.
package struct ControlMessage: StoreWrite {
    let scope: AppScope
    let message: MessageID
    let control: MessageControl
    let actor: String?

    package init(_ scope: AppScope, _ message: MessageID, _ control: MessageControl, by actor: String?) {
        self.scope = scope
        self.message = message
        self.control = control
        self.actor = actor
    }

    package var isAuditedBySchema: Bool { true }

    private static let sql = StoreSQL.tenant(
        """
        SELECT control_message AS count,
            CASE WHEN control_message > 0 AND $6::text IS NOT NULL THEN
                gateway.write_audit($1, $6, ARRAY[$7::text], ARRAY['message ' || $4::uuid], ARRAY[NULL]::text[])
            END AS audited,
            gateway.note_controlled($1, $4, $5, control_message)
        FROM gateway.control_message($1, $2, $3, $4, $5, $6)
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(message),
            .text(control.rawValue),
            .string(actor),
            .text(AuditAction(control).rawValue)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
