package import Model
package import PostgresClient

/// Reads, changes and erases devices for the native API, under row-level security. Registrations create devices.
package struct PostgresDeviceStore: Sendable {
    let call: PostgresPool

    /// - Parameter call: the pool of `gateway_call`.
    package init(call: PostgresPool) { self.call = call }

    /// Runs statements of a tenant in one transaction.
    func run(_ statements: [Statement], in tenant: TenantID) async throws(PostgresError) -> [ResultSet] {
        try await call.run(statements, tenant: tenant.rawValue)
    }

    /// Returns a page of devices, ordered by id.
    ///
    /// - Throws: `StoreError`.
    package func devices(
        in tenant: TenantID,
        _ filter: DeviceFilter,
        after: DeviceID?,
        limit: Int
    ) async throws(StoreError) -> [DeviceFacts] {
        try await asStore { () throws(PostgresError) in
            let isList = filter == DeviceFilter(app: filter.app)
            let statement =
                isList
                ? DeviceSQL.list(.id(tenant), .id(filter.app), .id(after), .int(max(0, limit)))
                : DeviceSQL.filtered(
                    .id(tenant),
                    .id(filter.app),
                    .id(after),
                    .id(filter.vendor),
                    .id(filter.user),
                    .id(filter.key),
                    .text(filter.phone),
                    .text(filter.token),
                    .int(max(0, limit))
                )
            let devices = try await call.run(statement, tenant: tenant.rawValue).rows(Self.device)
            return try await withIdentities(devices, in: tenant)
        }
    }

    /// Returns a page of devices, ordered by id. With `app` nil, the devices of every app.
    ///
    /// - Throws: `StoreError`.
    package func devices(
        in tenant: TenantID,
        app: AppID?,
        after: DeviceID?,
        limit: Int
    ) async throws(StoreError) -> [DeviceFacts] {
        try await devices(in: tenant, DeviceFilter(app: app), after: after, limit: limit)
    }

    /// Returns one device with the number of its unread messages.
    ///
    /// - Throws: `StoreError`.
    package func device(_ id: DeviceID, in tenant: TenantID) async throws(StoreError) -> DeviceFacts? {
        try await asStore { () throws(PostgresError) in
            let unread = DeviceSQL.unread(.id(tenant), .id(id), .int(HistoryPage.lookLimit))
            let results = try await run([DeviceSQL.one(.id(tenant), .id(id)), unread], in: tenant)
            let devices = try results.result(0).rows(Self.device)
            var device = try await withIdentities(devices, in: tenant).first
            device?.unread = try results.result(1).only().int("unread")
            return device
        }
    }

    private func withIdentities(
        _ devices: [DeviceFacts],
        in tenant: TenantID
    ) async throws(PostgresError) -> [DeviceFacts] {
        guard !devices.isEmpty else { return [] }
        let statement = DeviceSQL.identities(.id(tenant), .ids(devices.map(\.id)))
        var byDevice: [DeviceID: [IdentityEntry]] = [:]
        for row in try await call.run(statement, tenant: tenant.rawValue) {
            byDevice[try row.id("device_id"), default: []].append(try Self.identity(row))
        }
        return devices.map { device in
            var device = device
            device.identities = byDevice[device.id] ?? []
            return device
        }
    }

    private static func device(_ row: Row) throws(PostgresError) -> DeviceFacts {
        DeviceFacts(
            id: try row.id("device_id"),
            app: try row.id("app_id"),
            platform: try row.word("platform"),
            environment: try row.word("environment"),
            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
            tokenState: try row.word("token_state"),
            tokenRegisteredAt: try row.optionalTime("token_registered_at"),
            createdAt: try row.time("created_at"),
            seenAt: try row.optionalTime("seen_at"),
            clock: try ClockRow.read(row),
            identities: []
        )
    }

    private static func identity(_ row: Row) throws(PostgresError) -> IdentityEntry {
        IdentityEntry(
            id: try row.id("identity_id"),
            vendor: try row.id("vendor"),
            key: try row.id("key"),
            state: try row.word("state"),
            user: try row.optionalID("user_id"),
            name: try row.optionalText("name"),
            phone: try row.optionalText("phone"),
            acceptsPush: try row.bool("accepts_push"),
            attributes: try row.object("attributes"),
            registeredAt: try row.time("registered_at"),
            tags: try row.texts("tags").compactMap { Tag($0) }
        )
    }

    /// Changes a device's active identities. Returns nil when the device does not exist.
    ///
    /// - Throws: `StoreError`.
    package func patch(
        _ id: DeviceID,
        _ change: DevicePatch,
        in tenant: TenantID,
        keeping keep: Keep<DeviceFacts?>? = nil
    ) async throws(StoreError) -> Kept<DeviceFacts?> {
        let patch = DeviceSQL.patch(
            .id(tenant),
            .id(id),
            .bool(change.acceptsPush),
            .id(change.user),
            .string(change.name),
            .string(change.phone)
        )
        let tags = change.tags.map { DeviceSQL.tag(.id(tenant), .id(id), .tags($0)) }
        let reads = [DeviceSQL.one(.id(tenant), .id(id)), DeviceSQL.identities(.id(tenant), .ids([id]))]
        let clock =
            change.clock == .unset
            ? nil : DeviceSQL.setClock.with([.id(tenant), .id(id)] + ClockRow.parameters(change.clock))
        let changes = [patch] + [tags, clock].compactMap(\.self)
        return try await act(changes + reads, in: tenant, keep) { (results) throws(PostgresError) in
            guard var device = try results.result(changes.count).rows(Self.device).first else { return nil }
            device.identities = try results.result(changes.count + 1).rows(Self.identity)
            return device
        }
    }

    /// Erases a device: its row, its identities, and its personal data in deliveries. Writes an audit row. Returns false when the device does not exist.
    ///
    /// - Throws: `StoreError`.
    package func erase(
        _ id: DeviceID,
        in tenant: TenantID,
        by actor: AuditActor,
        keeping keep: Keep<Bool>? = nil
    ) async throws(StoreError) -> Kept<Bool> {
        let statement = DeviceSQL.erase(.id(tenant), .ids([id]), .string(actor.description), .string("device \(id)"))
        return try await act([statement], in: tenant, keep) { (results) throws(PostgresError) in
            try results.result(0).only().int("count") > 0
        }
    }

    /// Runs one transaction, with or without a repeat key.
    func act<Result: Sendable>(
        _ statements: [Statement],
        in tenant: TenantID,
        _ keep: Keep<Result>?,
        _ read: @escaping @Sendable ([ResultSet]) throws(PostgresError) -> Result
    ) async throws(StoreError) -> Kept<Result> {
        try await asStore { () throws(PostgresError) in
            guard let keep else { return .done(try read(try await call.run(statements, tenant: tenant.rawValue))) }
            return try await KeptAct(statements, keep, read: read).run(on: call, in: tenant)
        }
    }
}
