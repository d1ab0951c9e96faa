package import Model
import PostgresClient

/// A user in a list.
package struct ListedUser: Sendable, Hashable {
    package var user: UserID
    /// The number of active identities with a device.
    package var devices: Int
}

extension PostgresQueryStore {
    /// Returns the users of an app in one dialect.
    ///
    /// - Throws: `StoreError`.
    package func users(
        of scope: AppScope,
        in tenant: TenantID,
        after: UserID?,
        limit: Int
    ) async throws(StoreError) -> [ListedUser] {
        let statement = UserListSQL.users.with(Self.key(tenant, scope, after?.rawValue, limit))
        return try await page(statement, in: tenant) { (row) throws(PostgresError) in
            ListedUser(user: try row.id("user_id"), devices: try row.int("devices"))
        }
    }
}
