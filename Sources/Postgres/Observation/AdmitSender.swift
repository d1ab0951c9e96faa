package import Model
package import PostgresClient
package import Store

/// Fails with `StoreError.exhausted` if the sender is new and the app has as many as its quota permits.
package struct AdmitSender: StoreWrite {
    let scope: AppScope
    let name: String

    package init(_ scope: AppScope, name: String) {
        self.scope = scope
        self.name = name
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("admit_sender", 4, columns: "1")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .string(name))
    }

    package func read(_ result: ResultSet) throws(PostgresError) {}
}
