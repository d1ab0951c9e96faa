package import Model
package import PostgresClient

/// Deletes a group with its members and counts. Returns the number of deleted groups: 0 or 1.
package struct DeleteGroup: StoreWrite {
    let scope: AppScope
    let name: GroupName

    package init(_ scope: AppScope, _ name: GroupName) {
        self.scope = scope
        self.name = name
    }

    private static let sql = StoreSQL.tenant(
        "DELETE FROM gateway.user_group WHERE tenant_id = $1 AND app_id = $2 AND vendor = $3 AND group_name = $4"
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(name))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { result.affectedRows }
}
