package import Model
package import PostgresClient

/// Replaces the token of a device. Returns the number of identities with that key: 0 or 1.
package struct UpdateToken: StoreWrite {
    let scope: AppScope
    let key: VendorDeviceKey
    let token: DeviceToken
    let environment: PushEnvironment?
    let at: Timestamp

    package init(
        _ scope: AppScope,
        key: VendorDeviceKey,
        _ token: DeviceToken,
        _ environment: PushEnvironment?,
        at: Timestamp
    ) {
        self.scope = scope
        self.key = key
        self.token = token
        self.environment = environment
        self.at = at
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("update_token", 7, columns: "update_token AS count")

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(
            .id(call.tenant),
            .id(scope.app),
            .id(scope.vendor),
            .id(key),
            .text(environment?.rawValue),
            .string(token.text),
            .time(at)
        )
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
