package import Model
package import PostgresClient

/// Requires that the active identity of a key has the given attributes until the transaction ends. Otherwise the transaction does nothing and the caller
/// gets `StoreError.outdated`.
package struct ExpectAttributes: StoreRead {
    let scope: AppScope
    let key: VendorDeviceKey
    let attributes: JSONObject

    package init(_ scope: AppScope, key: VendorDeviceKey, attributes: JSONObject) {
        self.scope = scope
        self.key = key
        self.attributes = attributes
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("expect_identity", 5, columns: "expect_identity AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(key), .string(DocumentText.of(attributes)))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
