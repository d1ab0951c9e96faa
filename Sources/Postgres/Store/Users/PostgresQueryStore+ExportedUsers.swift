package import Model
import PostgresClient

extension PostgresQueryStore {
    /// The users with a profile in the order of their ids, as an export of the tenant has them; at most 1,000 aliases of each.
    private static let exportedUsers = StoreSQL.tenant(
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
    package func exportedUsers(
        of scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [ImportedUser] {
        let statement = Self.exportedUsers.with(Self.key(tenant, scope, after?.rawValue, limit))
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            let aliases = (try? JSONParser.parse(try row.text("aliases")))?.array ?? []
            return ImportedUser(
                user: try row.id("user_id"),
                isAnonymous: try row.bool("is_anonymous"),
                acceptsPush: try row.optionalBool("accepts_push"),
                isOptedIn: try row.bool("opted_in"),
                attributes: try row.object("attributes"),
                consents: ConsentCoding.recorded(try row.object("consents"), try row.object("consent_facts")),
                aliases: aliases.compactMap { pair in
                    guard let parts = pair.array, parts.count == 2, let label = parts[0].string,
                        let name = parts[1].string
                    else { return nil }
                    return UserAlias(label: label, name: name)
                }
            )
        }
    }
}
