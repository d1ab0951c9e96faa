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

    /// Returns the members of a group.
    ///
    /// - Throws: `StoreError`.
    package func members(
        of group: GroupName,
        _ scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [UserID] {
        let statement = GroupListSQL.members(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(group),
            .string(after?.rawValue ?? ""),
            .int(max(0, limit))
        )
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in try row.id("user_id") }
    }
}
