import Model
import PostgresClient

/// Devices, as the native API reads them.
enum DeviceSQL {
    static let columns = """
        d.device_id, d.app_id, d.platform, d.environment, d.token, d.token_state, d.token_registered_at, d.created_at, d.seen_at,
        \(StoreSQL.clockColumns)
        """

    /// In the order of ids: those after `$2`, of the next `$3` those with an active identity of the vendor `$4` (null: any), at most `$5`.
    static let list = StoreSQL.tenant(page(where: ""))

    /// As `list`, of the app `$6`.
    static let listOfApp = StoreSQL.tenant(page(where: " AND x.app_id = $6"))

    private static func page(where condition: String) -> String {
        """
        SELECT \(columns) FROM (
            SELECT x.* FROM gateway.device x WHERE x.tenant_id = $1 AND x.device_id > $2\(condition) ORDER BY x.device_id LIMIT $3) d
        WHERE $4::text IS NULL OR EXISTS (
            SELECT FROM gateway.identity i
            WHERE i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = d.app_id AND i.vendor = $4 AND i.state = 'active')
        ORDER BY d.device_id LIMIT $5
        """
    }

    /// The last of the next `$3` devices after `$2`; no row when there are fewer.
    static let listEnd = StoreSQL.tenant(end(where: ""))

    /// As `listEnd`, of the app `$4`.
    static let listEndOfApp = StoreSQL.tenant(end(where: " AND x.app_id = $4"))

    private static func end(where condition: String) -> String {
        """
        SELECT x.device_id FROM gateway.device x WHERE x.tenant_id = $1 AND x.device_id > $2\(condition)
        ORDER BY x.device_id OFFSET $3::bigint - 1 LIMIT 1
        """
    }

    /// The attribute with which a search for devices begins. Each has an index.
    enum Start { case token, key, phone, user }

    /// Finds devices by attributes of an active identity, `$4` to `$7`, and by token, `$8`; null matches any. The app is joined so that each look-up uses
    /// an index that begins with it.
    static func filtered(_ start: Start) -> StoreSQL {
        switch start {
        case .token: filteredByToken
        case .key: filteredByKey
        case .phone: filteredByPhone
        case .user: filteredByUser
        }
    }

    private static let filteredByKey = filtered(by: "i.key = $6")
    private static let filteredByPhone = filtered(by: "i.phone = $7")
    private static let filteredByUser = filtered(by: "i.user_id = $5")

    private static let identityConditions = """
        i.state = 'active' AND ($4::text IS NULL OR i.vendor = $4) AND ($5::text IS NULL OR i.user_id = $5)
            AND ($6::text IS NULL OR i.key = $6) AND ($7::text IS NULL OR i.phone = $7)
        """

    private static func filtered(by condition: String) -> StoreSQL {
        .tenant(
            """
            SELECT \(columns) FROM (
                SELECT DISTINCT i.device_id FROM gateway.app a
                JOIN gateway.identity i ON i.tenant_id = $1 AND i.app_id = a.app_id AND \(condition)
                WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2) AND i.device_id > $3 AND \(identityConditions)) x
            JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = x.device_id
            WHERE $8::text IS NULL OR d.token = $8
            ORDER BY d.device_id LIMIT $9
            """
        )
    }

    private static let filteredByToken = StoreSQL.tenant(
        """
        SELECT \(columns) FROM gateway.app a
        CROSS JOIN unnest(ARRAY[\(Platform.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))]) AS p(platform)
        JOIN gateway.device d ON d.tenant_id = $1 AND d.app_id = a.app_id AND d.platform = p.platform AND d.token_digest = md5($8)
        WHERE a.tenant_id = $1 AND ($2::text IS NULL OR a.app_id = $2) AND d.device_id > $3 AND d.token = $8
            AND ($4::text IS NULL AND $5::text IS NULL AND $6::text IS NULL AND $7::text IS NULL OR EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = d.app_id AND i.device_id = d.device_id AND \(identityConditions)))
        ORDER BY d.device_id LIMIT $9
        """
    )

    static let one = StoreSQL.tenant(
        "SELECT \(columns) FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = $2"
    )

    static let identities = StoreSQL.tenant(
        "\(identityRows) AND i.device_id = ANY ($2) ORDER BY i.device_id, i.vendor, i.identity_id"
    )

    static let identity = StoreSQL.tenant("\(identityRows) AND i.identity_id = $2")

    /// `''` as the previous user starts at the beginning.
    static let expectedUsers = StoreSQL.tenant(
        """
        SELECT e.user_id, e.phone, e.token_digest IS NOT NULL AS has_token, e.ends_at, e.created_at FROM gateway.expected_user e
        WHERE e.tenant_id = $1 AND e.app_id = $2 AND e.user_id > $3 ORDER BY e.user_id LIMIT $4
        """
    )

    /// The rows that `DeviceRow.identity` reads.
    private static let identityRows = """
        SELECT i.device_id, i.identity_id, i.vendor, i.key, i.state, i.user_id, i.name, i.phone, i.accepts_push, i.attributes,
            coalesce(i.client, '{}') AS client, i.registered_at, i.assurance, (SELECT coalesce(array_agg(t.tag ORDER BY t.tag), '{}') FROM gateway.identity_tag t
                WHERE t.tenant_id = $1 AND t.identity_id = i.identity_id) AS tags
        FROM gateway.identity i WHERE i.tenant_id = $1
        """

    /// Counts the unread messages among the newest `$3` of a device, for all of its users. No index contains receipts, so each row is read.
    static let unread = StoreSQL.tenant(
        """
        SELECT count(*) FILTER (WHERE l.is_unread) AS unread FROM (
            SELECT d.read_at IS NULL AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate'
                AND d.reason IS DISTINCT FROM 'assurance' AS is_unread
            FROM gateway.delivery d JOIN gateway.message m ON m.tenant_id = $1 AND m.message_id = d.message_id
            WHERE d.tenant_id = $1 AND d.device_id = $2
            ORDER BY d.message_id DESC LIMIT $3) AS l
        """
    )
}
