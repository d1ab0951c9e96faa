import PostgresClient

/// Users, as the native API lists them, ordered by id. `''` as the previous key starts at the beginning.
enum UserListSQL {
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
}
