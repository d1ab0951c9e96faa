package import Model
import PostgresClient

extension PostgresQueryStore {
    /// Returns the groups of an app in one dialect.
    ///
    /// - Throws: `StoreError`.
    package func groups(
        of scope: AppScope,
        in tenant: TenantID,
        after: GroupName?,
        limit: Int
    ) async throws(StoreError) -> [GroupFacts] {
        let statement = GroupListSQL.groups.with(Self.key(tenant, scope, after?.rawValue, limit))
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            GroupFacts(
                name: try row.id("group_name"),
                memberCount: try row.optionalInt("members") ?? 0,
                createdAt: try row.time("created_at")
            )
        }
    }
}
