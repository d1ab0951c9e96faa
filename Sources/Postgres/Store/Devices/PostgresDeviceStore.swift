package import Model
package import PostgresClient

/// Reads devices for the native API, under row-level security.
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
            let devices = try await call.run(statement, tenant: tenant.rawValue).rows(DeviceRow.device)
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
            let devices = try results.result(0).rows(DeviceRow.device)
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
            byDevice[try row.id("device_id"), default: []].append(try DeviceRow.identity(row))
        }
        return devices.map { device in
            var device = device
            device.identities = byDevice[device.id] ?? []
            return device
        }
    }
}
