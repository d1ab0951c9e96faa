package import Model
package import PostgresClient
package import Store

/// Stores a group under the name that an upstream has given it. Returns whether it is new. Nil: the app does not exist.
package struct AdoptGroup: StoreWrite {
    let scope: AppScope
    let group: TitledGroup

    package init(_ scope: AppScope, _ group: TitledGroup) {
        self.scope = scope
        self.group = group
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("adopt_group", 5, columns: "adopt_group AS is_new")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(group.name), .string(group.title))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool? { try result.only().optionalBool("is_new") }
}
