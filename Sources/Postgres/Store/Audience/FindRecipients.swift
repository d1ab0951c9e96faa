package import Model
package import PostgresClient

/// Returns every active identity of each user with its key, at most `limit` in total, with the users in the given order.
///
/// With tokens, only devices with one of these tokens are returned. Without users, the result contains every identity with one of the tokens; with groups,
/// only those whose user is a member of one of the groups. An unknown group has no members.
package struct FindRecipients: StoreRead {
    /// The candidates.
    package enum Among: Sendable, Hashable {
        case users([UserID], tokens: [DeviceToken]?)
        case everyone(tokens: [DeviceToken])
        case groups([GroupName], tokens: [DeviceToken])
    }

    let scope: AppScope
    let among: Among
    let limit: Int

    package init(_ scope: AppScope, _ among: Among, limit: Int) {
        self.scope = scope
        self.among = among
        self.limit = limit
    }

    private static let columns = "i.key, \(ResolvedTarget.columns(of: .user))"

    /// `$6` contains the accepted tokens, or is null.
    private static let byUser = StoreSQL.tenant(
        """
        SELECT q.place, q.value AS user_id, r.* FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
        CROSS JOIN LATERAL (
            SELECT \(columns)
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = $3 AND i.state = 'active' AND i.user_id = q.value
                AND ($6::text[] IS NULL OR d.token = ANY ($6))
            LIMIT $5) AS r
        LIMIT $5
        """
    )

    private static let byToken = sql("")

    private static let byGroup = sql(
        """
        WHERE EXISTS (
            SELECT FROM gateway.group_member m
            WHERE m.tenant_id = $1 AND m.app_id = $2 AND m.vendor = $3 AND m.group_name = ANY ($6) AND m.user_id = i.user_id)
        """
    )

    /// The identities with one of the tokens.
    private static func sql(_ condition: String) -> StoreSQL {
        .tenant(
            """
            SELECT q.place, i.user_id, \(columns)
            FROM unnest($4::text[]) WITH ORDINALITY AS q(value, place)
            CROSS JOIN LATERAL (
                SELECT x.* FROM gateway.device x
                WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.platform IN ('ios', 'android') AND x.token_digest = md5(q.value)
                    AND x.token = q.value OFFSET 0) AS d
            JOIN gateway.identity i ON i.tenant_id = $1 AND i.device_id = d.device_id AND i.app_id = $2 AND i.vendor = $3
                AND i.state = 'active'
            \(condition)
            LIMIT $5
            """
        )
    }

    package func statement(_ call: StoreCall) -> Statement {
        let (owner, limit) = (call.owner(scope), PostgresValue.int(max(0, limit)))
        return switch among {
        case .users(let users, let tokens):
            Self.byUser.with(
                owner + [
                    .strings(users.map(\.rawValue)), limit, tokens.map { .strings($0.map(\.text)) } ?? .untyped(nil),
                ]
            )
        case .everyone(let tokens): Self.byToken.with(owner + [.strings(tokens.map(\.text)), limit])
        case .groups(let groups, let tokens):
            Self.byGroup.with(
                owner + [.strings(tokens.map(\.text)), limit, .strings(groups.map(\.rawValue))]
            )
        }
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [RecipientTarget] {
        let found = try result.rows { (row) throws(PostgresError) in
            let recipient = RecipientTarget(
                user: try row.optionalID("user_id"),
                key: try row.id("key"),
                found: try ResolvedTarget.read(row)
            )
            return (try row.int("place"), recipient)
        }
        let order = found.sorted { ($0.0, $0.1.found.identity) < ($1.0, $1.1.found.identity) }
        return order.map(\.1)
    }
}

/// One identity of a recipient.
package struct RecipientTarget: Sendable, Hashable {
    /// Nil: the device has no user.
    package var user: UserID?
    package var key: VendorDeviceKey
    package var found: ResolvedTarget

    package init(user: UserID?, key: VendorDeviceKey, found: ResolvedTarget) {
        self.user = user
        self.key = key
        self.found = found
    }
}
