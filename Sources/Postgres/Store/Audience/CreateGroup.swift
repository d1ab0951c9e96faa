package import Model
package import PostgresClient

/// Creates a group with a title. Its name is the next number of the app. Nil: the app does not exist.
package struct CreateGroup: StoreWrite {
    let scope: AppScope
    let title: String

    package init(_ scope: AppScope, title: String) {
        self.scope = scope
        self.title = title
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("create_group", 4, columns: "create_group AS name")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(title))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> GroupName? { try result.only().optionalID("name") }
}
