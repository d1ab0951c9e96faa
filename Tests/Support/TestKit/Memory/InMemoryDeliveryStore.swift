package import DeliveryEngine
package import Model

/// The delivery store over a `MemoryDatabase`.
package struct InMemoryDeliveryStore: DeliveryStore {
    package let database: MemoryDatabase

    package init(_ database: MemoryDatabase) { self.database = database }

    package func dueTenants(in lane: Lane, limit: Int) async throws(StoreError) -> [TenantID] {
        try database.transaction { tables, now in tables.dueTenants(in: lane, limit: limit, now: now) }
    }

    package func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [SliceLease] {
        try database.transaction { tables, now in
            tables.claim(tenant, lane, limit: limit, by: node, until: now + lease, now: now)
        }
    }

    package func renew(
        _ leases: [SliceLease],
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> Set<SliceKey> {
        try database.transaction { tables, now in tables.renew(leases, by: node, until: now + lease) }
    }

    package func load(_ lease: SliceLease) async throws(StoreError) -> SliceWork? {
        try database.transaction { tables, now in tables.load(lease, now: now) }
    }

    package func record(_ progress: SliceProgress, by node: NodeID) async throws(StoreError) -> RecordResult {
        try database.transaction { tables, now in tables.record(progress, by: node, now: now) }
    }

    package func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int
    ) async throws(StoreError) -> ExpansionResult {
        try database.transaction { tables, now in tables.expand(lease, by: node, pageSize: pageSize, now: now) }
    }

    package func condemn(_ verdicts: [TokenVerdict], tenant: TenantID) async throws(StoreError) {
        try database.transaction { tables, now in tables.condemn(verdicts, tenant, now: now) }
    }

    package func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError) {
        try database.transaction { tables, _ in tables.refusals[key] = refusal }
    }

    package func resume(_ key: CredentialKey) async throws(StoreError) {
        try database.transaction { tables, now in tables.resume(key, now: now) }
    }

    package func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32] {
        try database.transaction { tables, now in draws.map { tables.draw($0, now: now) } }
    }

    package func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError) {
        try database.transaction { tables, now in tables.release(leases, by: node, now: now) }
    }

    package func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp {
        try database.transaction { tables, now in
            tables.nodes[node] = now
            return now
        }
    }

    package func leave(_ node: NodeID) async throws(StoreError) {
        try database.transaction { tables, _ in tables.nodes[node] = nil }
    }
}
