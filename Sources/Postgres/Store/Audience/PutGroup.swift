package import Model
package import PostgresClient

/// Creates a group of users unless one with the name exists. Returns whether it is new. Nil: the app does not exist.
package struct PutGroup: StoreWrite {
    let scope: AppScope
    let name: GroupName

    package init(_ scope: AppScope, _ name: GroupName) {
        self.scope = scope
        self.name = name
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("put_group", 4, columns: "put_group AS is_new")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(name))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool? { try result.only().optionalBool("is_new") }
}
