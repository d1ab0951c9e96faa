package import Model
package import PostgresClient

/// Returns every active identity of each user, at most `limit` in total, with the users in the given order.
///
/// With `isCrossing`, identities of every dialect are found, as for the native one. Names of users are those of the caller's dialect.
package struct ResolveUsers: StoreRead {
    /// How the caller names the users.
    package enum Naming: Sendable, Hashable {
        /// By their ids.
        case ids
        /// By their aliases on devices. A name that is not an alias of any user is looked up as a user id.
        case aliases
        /// By ids, or by aliases in the form of `UserName.text`.
        case names
    }

    let scope: AppScope
    let users: [UserID]
    let naming: Naming
    let limit: Int
    let isCrossing: Bool

    package init(
        _ scope: AppScope,
        _ users: [UserID],
        by naming: Naming = .ids,
        limit: Int,
        isCrossing: Bool = false
    ) {
        self.scope = scope
        self.users = users
        self.naming = naming
        self.limit = limit
        self.isCrossing = isCrossing
    }

    /// Both limits have no order, so that the rows of a user with a million devices are not read completely. The planner does not know how many each has.
    private static let byID = sql(ids: "($3 = 'native' OR i.vendor = $3)")
    private static let byIDCrossing = sql(ids: "$3 <> ''")

    private static func sql(ids reach: String) -> StoreSQL {
        .tenant(
            """
            SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
            CROSS JOIN LATERAL (
                SELECT \(ResolvedTarget.columns(of: .user))
                FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND \(reach) AND i.state = 'active'
                    AND i.user_id = q.value
                LIMIT $5) AS r
            LIMIT $5
            """
        )
    }

    /// By alias if a user has it, otherwise by user id. In other dialects the alias leads to the user id that it has in this one.
    private static let byAlias = sql(aliases: "")
    private static let byAliasCrossing = sql(
        aliases: """
            UNION ALL
            (SELECT \(ResolvedTarget.columns(of: .user))
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor <> $3 AND i.state = 'active' AND i.user_id = w.user_id
            LIMIT $5)
            """
    )

    private static func sql(aliases more: String) -> StoreSQL {
        .tenant(
            """
            SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
            CROSS JOIN LATERAL (
                SELECT EXISTS (
                    SELECT FROM gateway.identity i
                    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
                        OR i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                        AND i.alias IS NULL) AS is_alias) AS a
            \(more.isEmpty ? "" : userOfAlias)
            CROSS JOIN LATERAL (
                (SELECT \(ResolvedTarget.columns(of: .user))
                FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
                LIMIT $5)
                UNION ALL
                (SELECT \(ResolvedTarget.columns(of: .user))
                FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                    AND (i.alias IS NULL OR i.alias <> q.value AND NOT a.is_alias)
                LIMIT $5)
                \(more)) AS r
            LIMIT $5
            """
        )
    }

    /// The user of an alias; the name itself only if it is nobody's alias.
    private static let userOfAlias = """
        CROSS JOIN LATERAL (
            SELECT coalesce((
                SELECT i.user_id FROM gateway.identity i
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value
                    AND i.user_id IS NOT NULL ORDER BY i.user_id LIMIT 1),
                CASE WHEN NOT EXISTS (
                    SELECT FROM gateway.identity i
                    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.alias = q.value) THEN q.value END
                ) AS user_id OFFSET 0) AS w
        """

    /// A name that begins with U+001F is an alias.
    private static let byName = sql(names: "i.vendor = $3")
    private static let byNameCrossing = sql(names: "$3 <> ''")

    private static func sql(names reach: String) -> StoreSQL {
        .tenant(
            """
            SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
            LEFT JOIN LATERAL (
                SELECT x.user_id FROM gateway.user_alias x
                WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND left(q.value, 1) = chr(31)
                    AND x.label = split_part(q.value, chr(31), 2) AND x.name = split_part(q.value, chr(31), 3) LIMIT 1) AS a ON true
            CROSS JOIN LATERAL (SELECT coalesce(a.user_id, q.value) AS user_id OFFSET 0) AS w
            CROSS JOIN LATERAL (
                SELECT \(ResolvedTarget.columns(of: .user))
                FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
                WHERE i.tenant_id = $1 AND i.app_id = $2 AND \(reach) AND i.state = 'active' AND i.user_id = w.user_id
                LIMIT $5) AS r
            LIMIT $5
            """
        )
    }

    package func statement(_ call: StoreCall) -> Statement {
        let sql =
            switch naming {
            case .ids: isCrossing ? Self.byIDCrossing : Self.byID
            case .aliases: isCrossing ? Self.byAliasCrossing : Self.byAlias
            case .names: isCrossing ? Self.byNameCrossing : Self.byName
            }
        return sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .strings(users.map(\.rawValue)),
            .int(max(0, limit))
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [UserTarget] {
        let found = try result.rows { (row) throws(PostgresError) in
            (try row.int("place"), UserTarget(user: try row.id("user_id"), found: try ResolvedTarget.read(row)))
        }
        let order = found.sorted { ($0.0, $0.1.found.identity) < ($1.0, $1.1.found.identity) }
        return order.map(\.1)
    }
}

/// One identity of a user.
package struct UserTarget: Sendable, Hashable {
    package var user: UserID
    package var found: ResolvedTarget

    package init(user: UserID, found: ResolvedTarget) {
        self.user = user
        self.found = found
    }
}
