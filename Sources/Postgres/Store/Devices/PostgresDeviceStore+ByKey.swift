package import Model
import PostgresClient

/// An identity with its device and what an export adds to them.
package struct ExportedIdentity: Sendable, Hashable {
    package var device: DeviceFacts
    package var identity: IdentityEntry
    package var facts: ExportedFacts
}

extension PostgresDeviceStore {
    private static let byKey = StoreSQL.tenant(
        """
        SELECT i.identity_id, i.device_id FROM gateway.identity i
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.key > $4 AND i.vendor = $3 AND i.state = 'active' AND i.device_id IS NOT NULL
        ORDER BY i.key LIMIT $5
        """
    )

    private static let some = StoreSQL.tenant(
        "SELECT \(DeviceSQL.columns) FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = ANY ($2)"
    )

    /// Returns active identities of an app in one dialect, in the order of their keys, which is the same in every database.
    ///
    /// - Throws: `StoreError`.
    package func exported(
        of scope: AppScope,
        in tenant: TenantID,
        after: VendorDeviceKey?,
        limit: Int
    ) async throws(StoreError) -> [ExportedIdentity] {
        let rows: [(identity: IdentityID, device: DeviceID)] = try await asStore { () throws(PostgresError) in
            let statement = Self.byKey(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .string(after?.rawValue ?? ""),
                .int(max(0, limit))
            )
            return try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                (identity: try row.id("identity_id"), device: try row.id("device_id"))
            }
        }
        let devices = try await devices(Set(rows.map(\.device)), in: tenant)
        let facts = try await exported(rows.map(\.identity), in: tenant)
        return rows.compactMap { row in
            guard let device = devices[row.device],
                let identity = device.identities.first(where: { $0.id == row.identity })
            else { return nil }
            return ExportedIdentity(device: device, identity: identity, facts: facts[row.identity] ?? ExportedFacts())
        }
    }

    private func devices(_ ids: Set<DeviceID>, in tenant: TenantID) async throws(StoreError) -> [DeviceID: DeviceFacts]
    {
        guard !ids.isEmpty else { return [:] }
        return try await asStore { () throws(PostgresError) in
            let statement = Self.some(.id(tenant), .ids(Array(ids)))
            let found = try await call.run(statement, tenant: tenant.rawValue).rows(DeviceRow.device)
            let whole = try await withIdentities(found, in: tenant)
            return Dictionary(whole.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }
}
