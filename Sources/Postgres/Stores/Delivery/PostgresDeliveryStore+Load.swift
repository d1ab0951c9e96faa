package import DeliveryEngine
package import Model

extension PostgresDeliveryStore {
    package func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork? {
        let open = lease.targets.indices.filter { !lease.isDone($0) }
        let places: [PostgresValue] = [.ints(open), .ids(open.map { lease.targets[$0] })]
        let tenant = PostgresValue.id(lease.key.tenant)
        let message = PostgresValue.id(lease.key.message)
        var statements = [
            DeliverySQL.message(tenant, message),
            DeliverySQL.settings(tenant, message),
            DeliverySQL.targets.with([tenant] + places),
        ]
        // Only a list can name one device twice: of an audience, each device has one identity.
        if lease.addresses.contains(where: { $0 != nil }) {
            statements.append(DeliverySQL.duplicates.with([tenant] + places + [message, .int32(lease.dueDay)]))
        }
        return try await asStore { () throws(PostgresError) in
            let results = try await engine.run(statements, tenant: nil)
            guard let row = try results.result(0).first else { return nil }
            return SliceWork(
                app: try row.id("app_id"),
                notification: try NotificationRow.read(row),
                state: try row.word("state"),
                lane: try row.lane("lane"),
                fallback: try row.optionalDocument("fallback"),
                targets: try Self.targets(try results.result(2)),
                routes: PlatformRouteCoding.decode(try row.object("platforms")),
                settings: try SettingsRow.read(try results.result(1), tenant: lease.key.tenant),
                duplicates: results.count > 3 ? try Self.places(try results.result(3)) : []
            )
        }
    }

    private static func targets(_ result: ResultSet) throws(PostgresError) -> [Int: TargetFacts] {
        var targets: [Int: TargetFacts] = [:]
        for row in result { targets[try row.int("place")] = try facts(row) }
        return targets
    }

    static func facts(_ row: Row) throws(PostgresError) -> TargetFacts {
        let identity: IdentityID = try row.id("identity_id")
        return TargetFacts(
            target: TargetID(identity),
            identity: identity,
            device: try row.optionalID("device_id"),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            key: try row.id("key"),
            user: try row.optionalID("user_id"),
            name: try row.optionalText("name"),
            phone: try row.optionalText("phone"),
            platform: try row.word("platform"),
            environment: try row.word("environment"),
            identityState: try row.word("state"),
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            tokenState: try row.word("token_state"),
            tokenRegisteredAt: try row.optionalTime("token_registered_at"),
            acceptsPush: try row.bool("accepts_push")
        )
    }

    private static func places(_ result: ResultSet) throws(PostgresError) -> Set<Int> {
        Set(try result.rows { (row) throws(PostgresError) in try row.int("place") })
    }
}

/// Rows of bindings, as settings by dialect.
enum SettingsRow {
    /// Several bindings of one dialect hold the same settings: any of them stands.
    static func read(_ result: ResultSet, tenant: TenantID) throws(PostgresError) -> [Vendor: BindingSettings] {
        var settings: [Vendor: BindingSettings] = [:]
        for row in result {
            settings[try row.id("vendor")] = BindingSettings(
                tenant: tenant,
                app: try row.id("app_id"),
                values: try row.object("settings")
            )
        }
        return settings
    }
}
