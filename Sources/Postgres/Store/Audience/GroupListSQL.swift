import PostgresClient

/// Groups and their members, ordered by name. `''` as the previous key starts at the beginning.
enum GroupListSQL {
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
}
