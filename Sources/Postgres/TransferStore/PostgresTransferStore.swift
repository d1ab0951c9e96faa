package import Model
package import PostgresClient
import Store

/// Reads a tenant for its export, under row-level security, in orders that every database has.
package struct PostgresTransferStore: Sendable {
    let call: PostgresPool

    /// - Parameter call: the pool of `gateway_call`.
    package init(call: PostgresPool) { self.call = call }

    // MARK: Users

    /// The users with a profile in the order of their ids; at most 1,000 aliases of each.
    private static let users = StoreSQL.tenant(
        """
        SELECT p.user_id, p.is_anonymous, p.accepts_push, p.opted_in, p.attributes, p.consents, p.consent_facts,
            (SELECT coalesce(json_agg(json_build_array(a.label, a.name)), '[]') FROM (
                SELECT x.label, x.name FROM gateway.user_alias x
                WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.user_id = p.user_id
                ORDER BY x.label, x.name LIMIT 1000) a)::text AS aliases
        FROM gateway.user_profile p
        WHERE p.tenant_id = $1 AND p.app_id = $2 AND p.vendor = $3 AND p.user_id > $4 ORDER BY p.user_id LIMIT $5
        """
    )

    /// Returns users with a profile, in the order of their ids.
    ///
    /// - Throws: `StoreError`.
    package func users(
        of scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [ImportedUser] {
        let statement = Self.users.with(PostgresQueryStore.key(tenant, scope, after?.rawValue, limit))
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                ImportedUser(
                    user: try row.id("user_id"),
                    isAnonymous: try row.bool("is_anonymous"),
                    acceptsPush: try row.optionalBool("accepts_push"),
                    isOptedIn: try row.bool("opted_in"),
                    attributes: try row.object("attributes"),
                    consents: ConsentCoding.recorded(try row.object("consents"), try row.object("consent_facts")),
                    aliases: Self.aliases(try row.text("aliases"))
                )
            }
        }
    }

    /// The aliases of an array of pairs of label and name.
    private static func aliases(_ text: String) -> [UserAlias] {
        ((try? JSONParser.parse(text))?.array ?? []).compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let label = parts[0].string, let name = parts[1].string
            else { return nil }
            return UserAlias(label: label, name: name)
        }
    }

    // MARK: Groups

    private static let groups = StoreSQL.tenant(
        """
        SELECT g.group_name, coalesce(g.title, '') AS title FROM gateway.user_group g
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name > $4 ORDER BY g.group_name LIMIT $5
        """
    )

    /// Returns groups with their titles (empty: none), in the order of their names.
    ///
    /// - Throws: `StoreError`.
    package func groups(
        of scope: AppScope,
        in tenant: TenantID,
        after: GroupName?,
        limit: Int
    ) async throws(StoreError) -> [TitledGroup] {
        let statement = Self.groups.with(PostgresQueryStore.key(tenant, scope, after?.rawValue, limit))
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                TitledGroup(name: try row.id("group_name"), title: try row.text("title"))
            }
        }
    }

    // MARK: Devices

    private static let identities = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.device_id, i.key, i.vendor FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.key > $4 AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL
        ORDER BY i.key LIMIT $5
        """
    )

    /// Returns active identities of an app in one dialect, in the order of their keys.
    ///
    /// - Throws: `StoreError`.
    package func identities(
        of scope: AppScope,
        in tenant: TenantID,
        after: ExportedIdentities.Place?,
        limit: Int
    ) async throws(StoreError) -> ExportedIdentities {
        let key = PostgresQueryStore.key(tenant, scope, after?.key.rawValue, limit)
        return try await page(try await rows(Self.identities.with(key), in: tenant), in: tenant, limit: limit)
    }

    /// As `identities`, in all dialects: `$3` and `$4` are key and dialect of the previous row.
    private static let identitiesOfApp = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.device_id, i.key, i.vendor FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND (i.key, i.vendor) > ($3, $4) AND i.state = 'active' AND i.device_id IS NOT NULL
        ORDER BY i.key, i.vendor LIMIT $5
        """
    )

    /// Returns active identities of an app in all dialects, in the order of their keys, and those with one key in the order of their dialects.
    ///
    /// - Throws: `StoreError`.
    package func identities(
        of app: AppID,
        in tenant: TenantID,
        after: ExportedIdentities.Place?,
        limit: Int
    ) async throws(StoreError) -> ExportedIdentities {
        let found = try await rows(of: app, in: tenant, after: after, limit: limit)
        return try await page(found, in: tenant, limit: limit)
    }

    /// The rows of a page of an app in all dialects.
    func rows(
        of app: AppID,
        in tenant: TenantID,
        after: ExportedIdentities.Place?,
        limit: Int
    ) async throws(StoreError) -> [IdentityRow] {
        let statement = Self.identitiesOfApp(
            .id(tenant),
            .id(app),
            .string(after?.key.rawValue ?? ""),
            .string(after?.vendor.rawValue ?? ""),
            .int(max(0, limit))
        )
        return try await rows(statement, in: tenant)
    }

    /// A row of a page, before its facts are read.
    struct IdentityRow: Sendable {
        var place: ExportedIdentities.Place
        var identity: IdentityID
        var device: DeviceID
    }

    private func rows(_ statement: Statement, in tenant: TenantID) async throws(StoreError) -> [IdentityRow] {
        try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                IdentityRow(
                    place: ExportedIdentities.Place(key: try row.id("key"), vendor: try row.id("vendor")),
                    identity: try row.id("identity_id"),
                    device: try row.id("device_id")
                )
            }
        }
    }

    /// The page of rows, with what an export has of them. A row that was erased meanwhile is left out, and the next page begins after it all the same.
    func page(
        _ rows: [IdentityRow],
        in tenant: TenantID,
        limit: Int
    ) async throws(StoreError) -> ExportedIdentities {
        let devices = try await PostgresDeviceStore(call: call).devices(Set(rows.map(\.device)), in: tenant)
        let facts = try await facts(of: rows.map(\.identity), in: tenant)
        let items = rows.compactMap { row -> ExportedIdentity? in
            guard let device = devices[row.device],
                let identity = device.identities.first(where: { $0.id == row.identity })
            else { return nil }
            return ExportedIdentity(device: device, identity: identity, facts: facts[row.identity] ?? ExportedFacts())
        }
        return ExportedIdentities(items: items, next: rows.count < limit ? nil : rows.last?.place)
    }
}
