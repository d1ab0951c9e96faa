package import Model
package import PostgresClient

/// Counts what the import of rows would do. Rows that occur twice are counted twice. Consents, groups and badges are not compared.
package struct PreviewImport: StoreRead {
    let scope: AppScope
    let rows: [DeviceRegistration]
    let asOf: Timestamp?

    /// - Parameters:
    ///   - rows: the rows of the file.
    ///   - scope: the app, and the dialect of the identities.
    ///   - asOf: when the file was made; what changed later stays. Nil: the file is newer than everything.
    package init(_ rows: [DeviceRegistration], _ scope: AppScope, asOf: Timestamp? = nil) {
        self.rows = rows
        self.scope = scope
        self.asOf = asOf
    }

    /// A null field changes nothing. A row whose key was derived from its token is about the identity that has the token.
    private static let sql = StoreSQL.tenant(
        """
        SELECT count(*) FILTER (WHERE p.is_new) AS created, count(*) FILTER (WHERE NOT p.is_new AND p.is_older) AS older,
            count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_older AND p.is_changed) AS changed,
            count(*) FILTER (WHERE NOT p.is_new AND NOT p.is_older AND NOT p.is_changed) AS unchanged
        FROM (
            SELECT i.identity_id IS NULL AS is_new,
                coalesce($14::timestamptz IS NOT NULL AND (i.state <> 'active'
                    OR greatest(i.registered_at, (to_json(i)->>'seen_at')::timestamptz, i.user_since) > $14
                    OR u.token <> d.token AND d.token_registered_at > $14
                    OR u.token = d.token AND d.token_state <> 'active'), false) AS is_older,
                i.state IS DISTINCT FROM 'active' OR coalesce(u.user_id IS DISTINCT FROM i.user_id AND u.user_id IS NOT NULL
                    OR u.name IS DISTINCT FROM i.name AND u.name IS NOT NULL
                    OR u.phone IS DISTINCT FROM i.phone AND u.phone IS NOT NULL
                    OR u.token IS NOT NULL AND (u.token IS DISTINCT FROM d.token OR d.token_state <> 'active')
                    OR u.zone IS DISTINCT FROM d.time_zone AND u.zone IS NOT NULL
                    OR (u.first, u.last) IS DISTINCT FROM (coalesce(d.window_from, 0), coalesce(d.window_to, 1439))
                        AND u.first IS NOT NULL
                    OR gateway.client_after(i.client, u.client::jsonb) IS DISTINCT FROM i.client
                    OR NOT u.accepts AND i.accepts_push
                    OR u.tags IS NOT NULL AND ARRAY(SELECT t FROM unnest(string_to_array(u.tags, ' ')) AS t ORDER BY t)
                        <> ARRAY(SELECT t.tag FROM gateway.identity_tag t
                            WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id ORDER BY t.tag), false) AS is_changed
            FROM unnest(
                $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::integer[],
                $12::text[], $13::text[], $15::boolean[], $16::text[])
                AS u(key, token, user_id, name, phone, zone, first, last, tags, client, accepts, platform)
            LEFT JOIN LATERAL (
                SELECT x.key FROM gateway.device y
                JOIN gateway.identity x ON x.tenant_id = $1 AND x.device_id = y.device_id AND x.app_id = $2 AND x.vendor = $3
                    AND x.state = 'active'
                WHERE u.key LIKE 'token-%' AND y.tenant_id = $1 AND y.app_id = $2 AND y.platform = u.platform
                    AND y.token_digest = md5(u.token) AND y.token = u.token
                ORDER BY y.token_registered_at DESC, x.identity_id LIMIT 1) AS h ON true
            CROSS JOIN LATERAL (SELECT coalesce(h.key, u.key) AS key OFFSET 0) AS k
            LEFT JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.key = k.key
            LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id) p
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(
            call.owner(scope) + [
                .strings(rows.map { $0.key?.rawValue }), .strings(rows.map { $0.token?.text }),
                .strings(rows.map { $0.user?.rawValue }), .strings(rows.map(\.name)), .strings(rows.map(\.phone)),
                ImportedRows.zones(rows), ImportedRows.starts(rows), ImportedRows.ends(rows), ImportedRows.tags(rows),
                ImportedRows.clients(rows), .time(asOf), .bools(rows.map(\.imported.acceptsPush)),
                .strings(rows.map(\.platform.rawValue)),
            ]
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> ImportCounts {
        let row = try result.only()
        return ImportCounts(
            created: try row.int("created"),
            updated: try row.int("changed"),
            unchanged: try row.int("unchanged"),
            older: try row.int("older")
        )
    }
}
