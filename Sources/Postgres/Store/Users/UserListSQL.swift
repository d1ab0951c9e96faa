/// Pages of messages, apps, users and groups, in the order of their keys. `''` as the key before the first one starts at the beginning.
enum ListSQL {
    /// The latest due first. `$2` null: every app; `$3` null: every state; `$4` null: from the latest.
    static let messages = StoreSQL.tenant(
        """
        SELECT \(QuerySQL.messageColumns) FROM gateway.message m
        WHERE m.tenant_id = $1 AND ($2::text IS NULL OR m.app_id = $2) AND ($3::text IS NULL OR m.state = $3)
            AND ($4::uuid IS NULL OR m.message_id < $4)
        ORDER BY m.message_id DESC LIMIT $5
        """
    )

    static let apps = StoreSQL.tenant(
        """
        SELECT a.app_id, a.platforms, a.created_at, a.retired_at FROM gateway.app a
        WHERE a.tenant_id = $1 AND a.app_id > $2 ORDER BY a.app_id LIMIT $3
        """
    )

    /// Users with an identity or a profile. Each branch reads one page from its index.
    static let users = StoreSQL.tenant(
        """
        SELECT u.user_id, (SELECT count(*) FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2
            AND i.user_id = u.user_id AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL) AS devices
        FROM (
            (SELECT DISTINCT i.user_id FROM gateway.identity i WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3
                AND i.user_id IS NOT NULL AND i.user_id > $4 ORDER BY i.user_id LIMIT $5)
            UNION
            (SELECT p.user_id FROM gateway.user_profile p WHERE p.tenant_id = $1 AND p.app_id = $2 AND p.vendor = $3
                AND p.user_id > $4 ORDER BY p.user_id LIMIT $5)) AS u
        ORDER BY u.user_id LIMIT $5
        """
    )

    static let groups = StoreSQL.tenant(
        """
        SELECT g.group_name, g.created_at,
            (SELECT sum(c.members)::bigint FROM gateway.group_count c
                WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = g.group_name) AS members
        FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name > $4 ORDER BY g.group_name LIMIT $5
        """
    )

    static let members = StoreSQL.tenant(
        """
        SELECT m.user_id FROM gateway.group_member m
        WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = $4 AND m.user_id > $5
        ORDER BY m.user_id LIMIT $6
        """
    )

    /// Devices by what an active identity of theirs has, `$4` to `$7`, and by token, `$8`; null: any. The app is joined so that each lookup goes
    /// through an index that begins with it.
    static let devices = StoreSQL.tenant(
        """
        SELECT \(DeviceSQL.columns) FROM gateway.device d
        WHERE d.tenant_id = $1 AND ($2::text IS NULL OR d.app_id = $2) AND ($3::uuid IS NULL OR d.device_id > $3)
            AND ($8::text IS NULL OR d.token_digest = md5($8) AND d.token = $8)
            AND ($4::text IS NULL AND $5::text IS NULL AND $6::text IS NULL AND $7::text IS NULL OR d.device_id IN (
                SELECT i.device_id FROM gateway.app a JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = a.app_id
                WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2) AND i.state = 'active'
                    AND ($4::text IS NULL OR i.vendor = $4) AND ($5::text IS NULL OR i.user_id = $5)
                    AND ($6::text IS NULL OR i.key = $6) AND ($7::text IS NULL OR i.phone = $7)))
        ORDER BY d.device_id LIMIT $9
        """
    )
}
