package import DeliveryEngine
package import Model

extension DeliveryStore {
    /// The tenants that have due work in a lane, with slices whose lease has expired.
    ///
    /// - Throws: `StoreError`.
    package func dueTenants(in lane: Lane, limit: Int) async throws(StoreError) -> [TenantID] {
        try await dueTenants(in: lane, limit: limit, withLapsed: true)
    }

    /// Leases up to `limit` due slices of one tenant, also slices whose lease has expired.
    ///
    /// - Throws: `StoreError`.
    package func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [SliceLease] {
        try await claim(tenant: tenant, lane: lane, limit: limit, by: node, lease: lease, withLapsed: true)
    }

    /// Expands the next page of an audience; no dialect is preferred.
    ///
    /// - Throws: `StoreError`.
    package func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int
    ) async throws(StoreError) -> ExpansionResult {
        try await expand(lease, by: node, pageSize: pageSize, preferring: [])
    }
}
