package import Model
package import PostgresClient

/// Returns what users were sent among the newest `limit` messages of each user, grouped by the given members of the messages' data. The latest first.
package struct ListSentMessages: StoreRead {
    let scope: AppScope
    let users: [UserID]
    let members: [String]
    let limit: Int

    package init(_ scope: AppScope, to users: [UserID], by members: [String], limit: Int) {
        self.scope = scope
        self.users = users
        self.members = members
        self.limit = limit
    }

    /// Only the requested members of the data, because the whole data may be a megabyte.
    private static let sql = StoreSQL.tenant(
        """
        SELECT q.user_id, r.data, max(r.sent_at) AS last_at, bool_or(r.is_read) AS is_read
        FROM unnest($4::text[]) AS q(user_id)
        CROSS JOIN LATERAL (
            SELECT d.sent_at, d.read_at IS NOT NULL AS is_read, (
                SELECT json_object_agg(n.name, m.content->'data'->n.name ORDER BY n.place)::text
                FROM unnest($6::text[]) WITH ORDINALITY AS n(name, place)
                WHERE m.content->'data'->n.name IS NOT NULL) AS data
            FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.app_id = $2 AND d.user_id = q.user_id AND d.state IN ('sent', 'received', 'read')
                AND d.sent_at IS NOT NULL AND m.vendor = $3
            ORDER BY d.message_id DESC LIMIT $5) AS r
        WHERE r.data IS NOT NULL
        GROUP BY q.user_id, r.data
        ORDER BY q.user_id, last_at DESC, r.data
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [.strings(users.map(\.rawValue)), .int(max(0, limit)), .strings(members)]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [UsersOwn<SentMessages>] {
        try result.rows { (row) throws(PostgresError) in
            let messages = SentMessages(
                data: try row.object("data"),
                lastAt: try row.time("last_at"),
                isRead: try row.bool("is_read")
            )
            return UsersOwn(user: try row.id("user_id"), value: messages)
        }
    }
}
