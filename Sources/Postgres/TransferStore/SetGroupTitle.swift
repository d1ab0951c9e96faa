package import Model
package import PostgresClient
package import Store

/// Gives a group the title of an export. A title that it has stays.
package struct SetGroupTitle: StoreWrite {
    let scope: AppScope
    let name: GroupName
    let title: String

    package init(_ scope: AppScope, _ name: GroupName, title: String) {
        self.scope = scope
        self.name = name
        self.title = title
    }

    private static let sql = StoreSQL.tenant(
        """
        UPDATE gateway.user_group g SET title = $5
        WHERE g.tenant_id = $1 AND g.app_id = $2 AND g.vendor = $3 AND g.group_name = $4 AND g.title IS NULL
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql.with(call.owner(scope) + [.id(name), .string(title)])
    }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
