import Model
import PostgresClient

/// Looks up objects by one name: `$3`, of the app `$2` (null: of every app), at most `$4`.
enum FindSQL {
    private static let messageColumns =
        "m.message_id, m.app_id, m.vendor, \(MessageSQL.state()) AS state, m.due_at"

    static let message = StoreSQL.tenant(
        """
        SELECT \(messageColumns) FROM gateway.message m
        WHERE m.tenant_id = $1 AND m.message_id = $3 AND ($2::text IS NULL OR m.app_id = $2) LIMIT $4
        """
    )

    /// Apps and dialects may use one number for different messages.
    static let messageNumber = StoreSQL.tenant(
        """
        SELECT \(messageColumns) FROM gateway.message_ref r
        JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = r.message_id
        WHERE r.tenant_id = $1 AND r.ref = $3 AND ($2::text IS NULL OR r.app_id = $2) ORDER BY m.message_id DESC LIMIT $4
        """
    )

    /// The columns that `FoundRow` reads, of `identity i` and `device d`, either of which may be missing.
    private static let columns = """
        coalesce(i.app_id, d.app_id) AS app_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, d.device_id, d.platform, d.environment,
            d.token, d.token_state, d.seen_at
        """

    private static let order = "ORDER BY i.state = 'active' DESC NULLS LAST, i.identity_id"

    static let key = byName("x.key = $3")
    static let phone = byName("x.phone = $3")
    static let user = byName("x.user_id = $3")

    /// The active identities first, of the first 100 in each app.
    private static func byName(_ condition: String) -> StoreSQL {
        .tenant(
            """
            SELECT \(columns) FROM gateway.app a
            CROSS JOIN LATERAL (
                SELECT x.* FROM gateway.identity x WHERE x.tenant_id = $1 AND x.app_id = a.app_id AND \(condition) LIMIT 100) AS i
            LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2)
            \(order) LIMIT $4
            """
        )
    }

    /// The identities of `device d`.
    private static let identitiesOfDevice = """
        LEFT JOIN LATERAL (
            SELECT x.* FROM gateway.identity x WHERE x.tenant_id = $1 AND x.device_id = d.device_id LIMIT 100) AS i ON true
        """

    static let token = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.app a
        CROSS JOIN unnest(ARRAY[\(Platform.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))]) AS p(platform)
        JOIN gateway.device d ON d.tenant_id = $1 AND d.app_id = a.app_id AND d.platform = p.platform AND d.token_digest = md5($3)
        \(identitiesOfDevice)
        WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2) AND d.token = $3
        \(order) LIMIT $4
        """
    )

    static let device = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.device d
        \(identitiesOfDevice)
        WHERE d.tenant_id = $1 AND d.device_id = $3 AND ($2::text IS NULL OR d.app_id = $2)
        \(order) LIMIT $4
        """
    )

    static let identity = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.identity i
        LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.identity_id = $3 AND ($2::text IS NULL OR i.app_id = $2) LIMIT $4
        """
    )

    /// The user's descriptions by back ends, with or without a device.
    static let profiles = StoreSQL.tenant(
        """
        SELECT p.app_id, p.vendor, p.user_id FROM gateway.user_profile p
        WHERE p.tenant_id = $1 AND p.user_id = $3 AND ($2::text IS NULL OR p.app_id = $2)
        ORDER BY p.app_id, p.vendor LIMIT $4
        """
    )
}
