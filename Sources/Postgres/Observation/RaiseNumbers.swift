package import Model
package import PostgresClient
package import Store

/// Lets the numbers that an app gives to messages begin at a number, unless they are there already. Returns whether they changed.
package struct RaiseNumbers: StoreWrite {
    let scope: AppScope
    let from: Int64

    package init(_ scope: AppScope, from: Int64) {
        self.scope = scope
        self.from = from
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("raise_number", 6, columns: "raise_number AS has_changed")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .string("message"),
            .int64(from - 1),
            .int64(from - 1)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Bool { try result.only().bool("has_changed") }
}
