package import Model
package import PostgresClient
import Store

/// The number of targets that a message to an audience would have now.
package struct AudienceSize: Sendable, Hashable {
    package enum Precision: String, Sendable, Hashable, CaseIterable {
        /// Counted.
        case exact
        /// From counters that are kept for other purposes: identities of everyone, users of groups.
        case about
        /// The count was stopped.
        case atLeast
    }

    package var count: Int
    package var precision: Precision

    package init(_ count: Int, _ precision: Precision) {
        self.count = count
        self.precision = precision
    }

    /// 10,000 targets are counted exactly: about a hundred milliseconds.
    package static let exactLimit = 10_000
    /// 25 pages of at most 20,000 candidates are looked at, for an expression that few of them match: about two seconds.
    static let pageLimit = 25
    /// 2,000 targets per page, which looks at no more than 20,000 candidates.
    static let pageTargets = 2000
}

/// Counts audiences with the functions that expand them, without sending anything.
package struct PostgresAudienceCounter: Sendable {
    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    private static let nextPage = StoreSQL.tenant(
        """
        SELECT io_user, io_dialect, io_after, coalesce(cardinality(o_ids), 0)::bigint AS count, o_ended AS has_ended
        FROM gateway.audience_page($1, $2, $3, $4::json, $5, $6, $7, $8)
        """
    )

    /// The active identities of a dialect, or of every dialect for `native`.
    private static let activeIdentities = StoreSQL.tenant(
        """
        SELECT coalesce((
            SELECT sum(c.active) FROM gateway.identity_count c
            WHERE c.tenant_id = $1 AND c.app_id = $2 AND ($3 = 'native' OR c.vendor = $3)), 0)::bigint AS count, a.shares_devices
        FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2
        """
    )

    private static let groupMembers = StoreSQL.tenant(
        """
        SELECT coalesce(sum(c.members), 0)::bigint AS count FROM gateway.group_count c
        WHERE c.tenant_id = $1 AND c.app_id = $2 AND c.vendor = $3 AND c.group_name = ANY ($4)
        """
    )

    /// Counts the targets of an audience.
    ///
    /// - Throws: `StoreError`.
    package func size(
        of audience: Audience,
        in scope: AppScope,
        of tenant: TenantID
    ) async throws(StoreError) -> AudienceSize {
        if case .listed(let list) = audience { return AudienceSize(list.count, .exact) }
        return try await asStore { () throws(PostgresError) in
            if case .everyone = audience { return try await everyone(scope, tenant) }
            let counted = try await counted(audience, scope, tenant)
            guard counted.precision != .exact, case .groups(let groups) = audience else { return counted }
            let statement = Self.groupMembers(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .strings(groups.map(\.rawValue))
            )
            let members = try await engine.run(statement, tenant: nil).only().int("count")
            return members > counted.count ? AudienceSize(members, .about) : counted
        }
    }

    private func everyone(_ scope: AppScope, _ tenant: TenantID) async throws(PostgresError) -> AudienceSize {
        let statement = Self.activeIdentities(.id(tenant), .id(scope.app), .id(scope.vendor))
        guard let row = try await engine.run(statement, tenant: nil).first else { return AudienceSize(0, .exact) }
        // A message of the native API notifies each device once.
        let isShared = try row.bool("shares_devices")
        return AudienceSize(try row.int("count"), isShared && scope.vendor == .native ? .about : .exact)
    }

    /// Walks the audience until it ends, or until a limit is reached. Each page is a transaction of its own.
    private func counted(
        _ audience: Audience,
        _ scope: AppScope,
        _ tenant: TenantID
    ) async throws(PostgresError) -> AudienceSize {
        var count = 0
        var place: [PostgresValue] = [.string(nil), .string(nil), .uuid(nil)]
        for _ in 0..<AudienceSize.pageLimit {
            let start: [PostgresValue] = [
                .id(tenant), .id(scope.app), .id(scope.vendor), .document(AudienceCoding.encode(audience)),
                .int32(Int32(AudienceSize.pageTargets)),
            ]
            let row = try await engine.run(Self.nextPage.with(start + place), tenant: nil).only()
            count += try row.int("count")
            if try row.bool("has_ended") { return AudienceSize(count, .exact) }
            guard count < AudienceSize.exactLimit else { break }
            place = [
                .string(try row.optionalText("io_user")), .string(try row.optionalText("io_dialect")),
                .uuid(try row.optionalUUID("io_after")),
            ]
        }
        return AudienceSize(count, .atLeast)
    }
}
