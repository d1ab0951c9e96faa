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
    /// Of the targets, those whose users opted out. Nil: not counted.
    package var optedOut: Int?
    /// Of the other targets, those for which the message is due in quiet hours of the app or outside of the device's receiving window. Nil: not counted.
    package var quiet: Int?

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
        SELECT io_user, io_dialect, io_after, coalesce(o_ids, '{}') AS ids, o_ended AS has_ended
        FROM gateway.audience_page($1, $2, $3, $4::json, $5, $6, $7, $8)
        """
    )

    /// The identities that receive a send to every dialect, as in `expand_slice`. `$4`: the version of the routing rules, `$5`: the lane, `$6`: whether
    /// the audience names users.
    private static let receivers = StoreSQL.tenant(
        """
        SELECT gateway.receiving_identities($1, $2, $3,
            CASE WHEN $4::integer IS NOT NULL THEN gateway.dialects_of_version($1, $2, $4, $5) END, $6, false) AS ids
        """
    )

    private static let settings = StoreSQL.tenant(
        """
        SELECT a.defaults::text AS defaults, a.route_version FROM gateway.app a WHERE a.tenant_id = $1 AND a.app_id = $2
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
    /// - Parameters:
    ///   - audience: a listed one is not read: its targets are counted as they are, and none of them by `rules`.
    ///   - scope: the app, and the dialect of the send.
    ///   - tenant: the tenant of the app.
    ///   - rules: counts also the targets that opted out or are in quiet hours, unless the targets are more than are counted exactly. `app` of the rules is
    ///     replaced by the app's.
    /// - Returns: the size.
    /// - Throws: `StoreError`.
    package func size(
        of audience: Audience,
        in scope: AppScope,
        of tenant: TenantID,
        by rules: TimingRules? = nil
    ) async throws(StoreError) -> AudienceSize {
        if case .listed(let list) = audience { return AudienceSize(list.count, .exact) }
        return try await asStore { () throws(PostgresError) in
            let hours = try await self.hours(rules, audience, scope, tenant)
            if case .everyone = audience {
                var size = try await everyone(scope, tenant)
                guard hours != nil, size.count <= AudienceSize.exactLimit else { return size }
                let walked = try await self.counted(audience, scope, tenant, hours)
                (size.optedOut, size.quiet) = (walked.optedOut, walked.quiet)
                return size
            }
            let counted = try await self.counted(audience, scope, tenant, hours)
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
        _ tenant: TenantID,
        _ hours: Hours?
    ) async throws(PostgresError) -> AudienceSize {
        var count = 0
        var held = (optedOut: 0, quiet: 0)
        var place: [PostgresValue] = [.string(nil), .string(nil), .uuid(nil)]
        for _ in 0..<AudienceSize.pageLimit {
            let start: [PostgresValue] = [
                .id(tenant), .id(scope.app), .id(scope.vendor), .document(AudienceCoding.encode(audience)),
                .int32(Int32(AudienceSize.pageTargets)),
            ]
            let row = try await engine.run(Self.nextPage.with(start + place), tenant: nil).only()
            let ids = try row.uuids("ids")
            count += ids.count
            if let hours, !ids.isEmpty {
                let page = try await heldBack(.uuids(ids), ids.count, hours, scope, tenant)
                held = (held.optedOut + page.optedOut, held.quiet + page.quiet)
            }
            if try row.bool("has_ended") {
                var size = AudienceSize(count, .exact)
                if hours != nil { (size.optedOut, size.quiet) = (held.optedOut, held.quiet) }
                return size
            }
            guard count < AudienceSize.exactLimit else { break }
            place = [
                .string(try row.optionalText("io_user")), .string(try row.optionalText("io_dialect")),
                .uuid(try row.optionalUUID("io_after")),
            ]
        }
        return AudienceSize(count, .atLeast)
    }

    // MARK: Targets that get nothing when the message is due

    /// The rules by which targets are held back, and what decides which identity of a device is the target.
    private struct Hours: Sendable {
        var rules: TimingRules
        var routeVersion: Int?
        /// Whether the audience names users, so that an identity is not replaced by one of another user.
        var namesUsers: Bool
    }

    private func hours(
        _ rules: TimingRules?,
        _ audience: Audience,
        _ scope: AppScope,
        _ tenant: TenantID
    ) async throws(PostgresError) -> Hours? {
        guard var rules, let row = try await engine.run(Self.settings(.id(tenant), .id(scope.app)), tenant: nil).first
        else { return nil }
        let defaults = try row.object("defaults")
        // Such a send may reach an identity of another dialect, which is not among those that are counted here.
        if scope.vendor != .native, defaults[BindingSettings.crossingKey]?.bool == true { return nil }
        rules.app = TimingCoding.read(defaults)
        let namesUsers =
            switch audience {
            case .users, .groups: true
            // Notification Hubs name a user by a tag.
            case .tags(let expression):
                (TagTerms(expression)?.tags ?? []).contains { $0.text.lowercased().hasPrefix("$userid:") }
            case .listed, .everyone: false
            }
        return Hours(rules: rules, routeVersion: try row.optionalInt("route_version"), namesUsers: namesUsers)
    }

    /// Counts the targets of a page that opted out, and the others that are in quiet hours, by the rules of the delivery.
    private func heldBack(
        _ ids: PostgresValue,
        _ count: Int,
        _ hours: Hours,
        _ scope: AppScope,
        _ tenant: TenantID
    ) async throws(PostgresError) -> (optedOut: Int, quiet: Int) {
        var targets = ids
        if scope.vendor == .native {
            let statement = Self.receivers(
                .id(tenant),
                .id(scope.app),
                ids,
                .int32(hours.routeVersion.map { Int32(clamping: $0) }),
                .text("\(hours.rules.lane)"),
                .bool(hours.namesUsers)
            )
            // One for each of `ids`.
            targets = .uuids(try await engine.run(statement, tenant: nil).only().uuids("ids"))
        }
        let statement = DeliverySQL.targets(.id(tenant), .ints(Array(0..<count)), targets)
        var held = (optedOut: 0, quiet: 0)
        for row in try await engine.run(statement, tenant: nil) {
            let facts = try TargetRow.read(row)
            if !ConsentRule.subscribed.allows(facts) {
                held.optedOut += 1
                continue
            }
            let due = hours.rules.due(facts.clock)
            switch hours.rules.verdict(facts.clock, now: due) {
            case .open, .expired: continue
            case .wait, .suppress: held.quiet += 1
            }
        }
        return held
    }
}
