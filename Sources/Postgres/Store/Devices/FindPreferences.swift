package import Model
package import PostgresClient

/// Finds the preferences of the calling device. Nil: the device is not registered.
package struct FindPreferences: StoreRead {
    let scope: AppScope
    let caller: DeviceCaller

    package init(_ scope: AppScope, _ caller: DeviceCaller) {
        self.scope = scope
        self.caller = caller
    }

    package var sharesCommit: Bool { true }

    private static let sql = StoreSQL.function("find_preferences", 6)

    /// Finds the preferences of many devices by their keys.
    private static let set = StoreSQL.tenant(
        """
        SELECT i.accepts_push, CASE WHEN i.identity_id IS NOT NULL THEN u.o END AS ordinal, i.user_id, i.alias, \(StoreSQL.clockColumns)
        FROM unnest($4::text[]) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.device_id, x.accepts_push, x.user_id, x.alias FROM gateway.identity x
            WHERE x.tenant_id = $1 AND x.app_id = $2 AND x.vendor = $3 AND x.key = u.key AND x.state = 'active' OFFSET 0) i ON true
        LEFT JOIN LATERAL (
            SELECT y.time_zone, y.window_from, y.window_to FROM gateway.device y
            WHERE y.tenant_id = $1 AND y.device_id = i.device_id OFFSET 0) d ON true
        ORDER BY u.o
        """
    )

    package func statement(_ call: StoreCall) -> Statement { Self.sql.with(call.reader(caller, scope)) }

    package func batch(_ call: StoreCall) -> StatementBatch? {
        caller.key.map { key in
            StatementBatch(sql: Self.set, shared: call.owner(scope), row: [.id(key)], subject: key.rawValue)
        }
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> DevicePreferences? {
        guard let row = result.first else { return nil }
        return DevicePreferences(
            acceptsPush: try row.bool("accepts_push"),
            window: try ClockRow.read(row).window,
            user: try row.optionalID("user_id"),
            alias: try row.optionalID("alias")
        )
    }
}

extension StoreCall {
    /// Tenant, app, dialect, key and token: the first parameters of every function for a calling device.
    func caller(_ caller: DeviceCaller, _ scope: AppScope) -> [PostgresValue] {
        [.id(tenant), .id(scope.app), .id(scope.vendor), .id(caller.key), .string(caller.token?.text)]
    }

    /// The same, followed by the user that may stand for a device.
    func reader(_ caller: DeviceCaller, _ scope: AppScope) -> [PostgresValue] {
        self.caller(caller, scope) + [.id(caller.user)]
    }
}
