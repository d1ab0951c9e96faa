package import Model
package import PostgresClient
package import Store

/// Finds the tenants whose audit has grown since its last checkpoint, and stores new checkpoints. Any node may do it, and one node at a time does.
package struct PostgresAuditKeeper: Sendable {
    private let engine: PostgresPool
    private let node: NodeID

    /// Three minutes: longer than the period of the calls, so that one node continues.
    private static let lease = Duration.seconds(180)

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that does it.
    package init(engine: PostgresPool, node: NodeID) {
        self.engine = engine
        self.node = node
    }

    /// The end of a tenant's audit.
    package struct Tip: Sendable, Hashable {
        package var tenant: TenantID
        package var position: Int64
        package var hash: [UInt8]
        /// The newest checkpoint; nil without one.
        package var last: AuditCheckpoint?
    }

    /// Returns the tenants whose newest row has a digest and no checkpoint; nil if another node does it.
    ///
    /// - Throws: `StoreError`.
    package func unsigned() async throws(StoreError) -> [Tip]? {
        try await asStore { () throws(PostgresError) -> [Tip]? in
            guard try await leads("audit") else { return nil }
            var tips: [Tip] = []
            for row in try await engine.run(MaintenanceSQL.tenants(), tenant: nil) {
                let tenant: TenantID = try row.id("tenant_id")
                if let tip = try await tip(of: tenant) { tips.append(tip) }
            }
            return tips
        }
    }

    private func leads(_ task: String) async throws(PostgresError) -> Bool {
        let lead = MaintenanceSQL.lead(.text(task), .id(node), .interval(Self.lease))
        return try await engine.run(lead, tenant: nil).first != nil
    }

    /// Returns each tenant with rows that were not copied to a file, and the position of the last copied row; nil if another node copies.
    ///
    /// - Throws: `StoreError`.
    package func uncopied() async throws(StoreError) -> [(tenant: TenantID, after: Int64)]? {
        try await asStore { () throws(PostgresError) -> [(tenant: TenantID, after: Int64)]? in
            guard try await leads("audit copy") else { return nil }
            var found: [(tenant: TenantID, after: Int64)] = []
            for row in try await engine.run(MaintenanceSQL.tenants(), tenant: nil) {
                let tenant: TenantID = try row.id("tenant_id")
                let state = try await engine.run(KeeperSQL.copied(.id(tenant)), tenant: nil).only()
                if try state.int64("newest") > state.int64("copied") {
                    found.append((tenant, try state.int64("copied")))
                }
            }
            return found
        }
    }

    /// Notes that the rows up to `position` were copied.
    ///
    /// - Throws: `StoreError`.
    package func noteCopied(_ position: Int64, in tenant: TenantID) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(KeeperSQL.noteCopied(.id(tenant), .int64(position)), tenant: nil)
        }
    }

    private func tip(of tenant: TenantID) async throws(PostgresError) -> Tip? {
        let results = try await engine.run(
            [KeeperSQL.newest(.id(tenant)), KeeperSQL.lastCheckpoint(.id(tenant))],
            tenant: nil
        )
        guard let row = try results.result(0).first, let hash = try row.optionalBytes("hash") else { return nil }
        let position = try row.int64("position")
        let last = try results.result(1).rows { (row) throws(PostgresError) in try AuditCheckpoint(row) }.first
        guard last.map({ $0.position < position }) ?? true else { return nil }
        return Tip(tenant: tenant, position: position, hash: hash, last: last)
    }

    /// Stores a checkpoint. One that exists already stays.
    ///
    /// - Throws: `StoreError`.
    package func store(_ checkpoint: AuditCheckpoint, in tenant: TenantID) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(
                KeeperSQL.store(
                    .id(tenant),
                    .int64(checkpoint.position),
                    .bytes(checkpoint.hash),
                    .bytes(checkpoint.signer),
                    .bytes(checkpoint.signature)
                ),
                tenant: nil
            )
        }
    }
}

/// The statements of `PostgresAuditKeeper`.
enum KeeperSQL {
    static let newest = StoreSQL.tenant(
        "SELECT position, hash FROM gateway.audit WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1"
    )

    static let lastCheckpoint = StoreSQL.tenant(
        """
        SELECT position, hash, at, signer, signature FROM gateway.audit_checkpoint
        WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1
        """
    )

    static let copied = StoreSQL.tenant(
        """
        SELECT coalesce((SELECT a.position FROM gateway.audit a WHERE a.tenant_id = $1 ORDER BY a.position DESC LIMIT 1), 0) AS newest,
            coalesce((SELECT c.position FROM gateway.audit_copy c WHERE c.tenant_id = $1), 0) AS copied
        """
    )

    static let noteCopied = StoreSQL.tenant(
        """
        INSERT INTO gateway.audit_copy AS c (tenant_id, position) VALUES ($1, $2)
        ON CONFLICT (tenant_id) DO UPDATE SET position = EXCLUDED.position WHERE c.position < EXCLUDED.position
        """
    )

    /// The time of the row is copied, so that retention can judge a checkpoint without its row.
    static let store = StoreSQL.tenant(
        """
        INSERT INTO gateway.audit_checkpoint (tenant_id, position, hash, last_at, signer, signature)
        SELECT $1, $2, $3, a.at, $4, $5 FROM gateway.audit a WHERE a.tenant_id = $1 AND a.position = $2 AND a.hash = $3
        ON CONFLICT (tenant_id, position) DO NOTHING
        """
    )
}
