package import Model
package import PostgresClient

/// Counts what the import of rows would do. Rows that occur twice are counted twice.
package struct PreviewImport: StoreRead {
    let scope: AppScope
    let rows: [DeviceRegistration]

    package init(_ rows: [DeviceRegistration], _ scope: AppScope) {
        self.rows = rows
        self.scope = scope
    }

    /// A null field changes nothing.
    private static let sql = StoreSQL.tenant(
        """
        SELECT count(*) FILTER (WHERE p.is_new) AS created, count(*) FILTER (WHERE NOT p.is_new AND p.is_changed) AS changed,
            count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_changed) AS unchanged
        FROM (
            SELECT i.identity_id IS NULL AS is_new,
                i.state IS DISTINCT FROM 'active' OR coalesce(u.user_id IS DISTINCT FROM i.user_id AND u.user_id IS NOT NULL
                    OR u.name IS DISTINCT FROM i.name AND u.name IS NOT NULL
                    OR u.phone IS DISTINCT FROM i.phone AND u.phone IS NOT NULL
                    OR u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active')
                    OR u.zone IS DISTINCT FROM d.time_zone AND u.zone IS NOT NULL
                    OR (u.first, u.last) IS DISTINCT FROM (coalesce(d.window_from, 0), coalesce(d.window_to, 1439))
                        AND u.first IS NOT NULL
                    OR gateway.client_after(i.client, u.client::jsonb) IS DISTINCT FROM i.client
                    OR u.tags IS NOT NULL AND ARRAY(SELECT t FROM unnest(string_to_array(u.tags, ' ')) AS t ORDER BY t)
                        <> ARRAY(SELECT t.tag FROM gateway.identity_tag t
                            WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id ORDER BY t.tag), false) AS is_changed
            FROM unnest(
                $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::integer[],
                $12::text[], $13::text[]) AS u(key, token, user_id, name, phone, zone, first, last, tags, client)
            LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = u.key
            LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id) p
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .strings(rows.map { $0.key?.rawValue }), .strings(rows.map { $0.token?.text }),
                .strings(rows.map { $0.user?.rawValue }), .strings(rows.map(\.name)), .strings(rows.map(\.phone)),
                ImportedRows.zones(rows), ImportedRows.starts(rows), ImportedRows.ends(rows), ImportedRows.tags(rows),
                ImportedRows.clients(rows),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ImportCounts {
        let row = try result.only()
        return ImportCounts(
            created: try row.int("created"),
            updated: try row.int("changed"),
            unchanged: try row.int("unchanged")
        )
    }
}
