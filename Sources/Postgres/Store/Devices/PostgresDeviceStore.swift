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

    /// Returns a page of devices, ordered by id. If only a vendor is given, its devices are searched among the next `PageSearch.limit`.
    ///
    /// - Throws: `StoreError`.
    package func devices(
        in tenant: TenantID,
        _ filter: DeviceFilter,
        after: DeviceID?,
        limit: Int
    ) async throws(StoreError) -> LookPage<DeviceFacts, DeviceID> {
        guard let start = filter.start else { return try await list(filter, in: tenant, after: after, limit: limit) }
        let statement = DeviceSQL.filtered(start)(
            .id(tenant),
            .id(filter.app),
            .id(after ?? .least),
            .id(filter.vendor),
            .id(filter.user),
            .id(filter.key),
            .text(filter.phone),
            .text(filter.token),
            .int(max(0, limit))
        )
        return try await asStore { () throws(PostgresError) in
            let devices = try await call.run(statement, tenant: tenant.rawValue).rows(DeviceRow.device)
            return LookPage(try await withIdentities(devices, in: tenant), limit: limit, end: nil, id: \.id)
        }
    }

    private func list(
        _ filter: DeviceFilter,
        in tenant: TenantID,
        after: DeviceID?,
        limit: Int
    ) async throws(StoreError) -> LookPage<DeviceFacts, DeviceID> {
        let key: [PostgresValue] = [.id(tenant), .id(after ?? .least)]
        let search: PostgresValue = .int(PageSearch.rows(limit, isFiltered: filter.vendor != nil))
        let ofApp: [PostgresValue] = filter.app.map { [.id($0)] } ?? []
        let page = (filter.app == nil ? DeviceSQL.list : DeviceSQL.listOfApp)
            .with(key + [search, .id(filter.vendor), .int(max(0, limit))] + ofApp)
        let end = (filter.app == nil ? DeviceSQL.listEnd : DeviceSQL.listEndOfApp).with(key + [search] + ofApp)
        return try await asStore { () throws(PostgresError) in
            let found = try await call.searched(page, end: filter.vendor == nil ? nil : end, in: tenant) {
                (row) throws(PostgresError) in try row.id("device_id") as DeviceID
            }
            let devices = try await withIdentities(try found.page.rows(DeviceRow.device), in: tenant)
            return LookPage(devices, limit: limit, end: found.end, id: \.id)
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
        try await devices(in: tenant, DeviceFilter(app: app), after: after, limit: limit).items
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

    private static let some = StoreSQL.tenant(
        "SELECT \(DeviceSQL.columns) FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = ANY ($2)"
    )

    /// Returns devices by their ids; those that do not exist are left out.
    ///
    /// - Throws: `StoreError`.
    package func devices(
        _ ids: Set<DeviceID>,
        in tenant: TenantID
    ) async throws(StoreError) -> [DeviceID: DeviceFacts] {
        guard !ids.isEmpty else { return [:] }
        return try await asStore { () throws(PostgresError) in
            let statement = Self.some(.id(tenant), .ids(Array(ids)))
            let found = try await call.run(statement, tenant: tenant.rawValue).rows(DeviceRow.device)
            let whole = try await withIdentities(found, in: tenant)
            return Dictionary(whole.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
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

extension DeviceFilter {
    /// The attribute that the fewest devices share; nil: the devices are listed.
    fileprivate var start: DeviceSQL.Start? {
        if token != nil { return .token }
        if key != nil { return .key }
        if phone != nil { return .phone }
        return user != nil ? .user : nil
    }
}
