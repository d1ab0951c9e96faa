package import Model
package import PostgresClient

/// Sets active identities to `unregistered` and drops tokens that no other identity uses. Returns the number of changed identities.
package struct UnregisterDevices: StoreWrite {
    let scope: AppScope
    let selector: IdentitySelector

    package init(_ scope: AppScope, _ selector: IdentitySelector) {
        self.scope = scope
        self.selector = selector
    }

    private static let sql = StoreSQL.function("unregister_identities", 5, columns: "unregister_identities AS count")

    package func statement(_ call: StoreCall) -> Statement {
        var key: VendorDeviceKey?
        var phone: String?
        switch selector {
        case .key(let value): key = value
        case .phone(let value): phone = value
        }
        return Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .id(key), .string(phone))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
