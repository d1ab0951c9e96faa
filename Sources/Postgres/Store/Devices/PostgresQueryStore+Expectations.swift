package import Model
import PostgresClient

extension PostgresQueryStore {
    /// Returns the expected users of an app by id, also those whose end has come and that are not removed yet.
    ///
    /// - Throws: `StoreError`.
    package func expectedUsers(
        of app: AppID,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [StoredExpectation] {
        let statement = DeviceSQL.expectedUsers(
            .id(tenant),
            .id(app),
            .string(after?.rawValue ?? ""),
            .int(max(0, limit))
        )
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            StoredExpectation(
                user: try row.id("user_id"),
                phone: try row.optionalText("phone"),
                hasToken: try row.bool("has_token"),
                endsAt: try row.time("ends_at"),
                createdAt: try row.time("created_at")
            )
        }
    }
}
