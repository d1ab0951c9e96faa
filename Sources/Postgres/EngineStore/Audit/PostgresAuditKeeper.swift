package import Model
package import PostgresClient
package import Store

/// A copy of the audit outside of the database. The raw value labels metrics.
package enum AuditCopy: String, Sendable, Hashable, CaseIterable {
    /// `audit.file`.
    case file
    /// `audit.syslog`.
    case collector

    /// The lease of the node that copies.
    fileprivate var task: String {
        switch self {
        case .file: "audit copy"
        case .collector: "audit push"
        }
    }

    /// 30 seconds: the copying node asks every second or two, and another one takes over soon after it has died.
    fileprivate var lease: Duration { .seconds(30) }
}

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
        /// When the row was written, in microseconds since 1970.
        package var micros: Int64
        /// The newest checkpoint; nil without one.
        package var last: AuditCheckpoint?
    }

    /// Returns the tenants whose newest row has a digest and no checkpoint; nil if another node does it.
    ///
    /// - Throws: `StoreError`.
    package func unsigned() async throws(StoreError) -> [Tip]? {
        try await asStore { () throws(PostgresError) -> [Tip]? in
            guard try await leads("audit", for: Self.lease) else { return nil }
            var tips: [Tip] = []
            for row in try await engine.run(MaintenanceSQL.tenants(), tenant: nil) {
                let tenant: TenantID = try row.id("tenant_id")
                if let tip = try await tip(of: tenant) { tips.append(tip) }
            }
            return tips
        }
    }

    private func leads(_ task: String, for lease: Duration) async throws(PostgresError) -> Bool {
        let lead = MaintenanceSQL.lead(.text(task), .id(node), .interval(lease))
        return try await engine.run(lead, tenant: nil).first != nil
    }

    /// How far a copy of a tenant's audit is behind.
    package struct Behind: Sendable, Hashable {
        package var tenant: TenantID
        /// The last copied position.
        package var after: Int64
        /// Rows after it.
        package var rows: Int64
        /// The age of the oldest row after it.
        package var seconds: Double
    }

    /// Returns each tenant with rows that a copy does not have yet; nil if another node copies.
    ///
    /// - Throws: `StoreError`.
    package func behind(_ copy: AuditCopy) async throws(StoreError) -> [Behind]? {
        try await asStore { () throws(PostgresError) -> [Behind]? in
            guard try await leads(copy.task, for: copy.lease) else { return nil }
            return try await states(copy)
        }
    }

    /// Returns the number of rows that a copy does not have yet, over all tenants, and the age of the oldest one.
    ///
    /// - Throws: `StoreError`.
    package func lag(of copy: AuditCopy) async throws(StoreError) -> (rows: Int64, seconds: Double) {
        try await asStore { () throws(PostgresError) -> (rows: Int64, seconds: Double) in
            let all = try await states(copy)
            return (all.reduce(0) { $0 + $1.rows }, all.map(\.seconds).max() ?? 0)
        }
    }

    private func states(_ copy: AuditCopy) async throws(PostgresError) -> [Behind] {
        let sql = copy == .file ? KeeperSQL.copied : KeeperSQL.pushed
        var found: [Behind] = []
        for row in try await engine.run(MaintenanceSQL.tenants(), tenant: nil) {
            let tenant: TenantID = try row.id("tenant_id")
            let state = try await engine.run(sql(.id(tenant)), tenant: nil).only()
            let (newest, after) = (try state.int64("newest"), try state.int64("copied"))
            guard newest > after else { continue }
            let oldest = try await engine.run(KeeperSQL.age(.id(tenant), .int64(after)), tenant: nil)
            let age = try oldest.first?.int("age") ?? 0
            found.append(
                Behind(tenant: tenant, after: after, rows: newest - after, seconds: Double(max(0, age)) / 1000)
            )
        }
        return found
    }

    /// Returns how long retention keeps the audit of each tenant.
    ///
    /// - Throws: `StoreError`.
    package func retention() async throws(StoreError) -> [TenantID: Duration] {
        try await asStore { () throws(PostgresError) -> [TenantID: Duration] in
            var kept: [TenantID: Duration] = [:]
            for row in try await engine.run(MaintenanceSQL.tenants(), tenant: nil) {
                let tenant: TenantID = try row.id("tenant_id")
                let own = TenantRetention(json: try row.object("retention"))
                kept[tenant] = RetentionPolicy().overlaid(by: own).audit
            }
            return kept
        }
    }

    /// Returns the last position that any copy has; 0 without copies.
    ///
    /// - Throws: `StoreError`.
    package func copied(in tenant: TenantID) async throws(StoreError) -> Int64 {
        try await asStore { () throws(PostgresError) -> Int64 in
            var last: Int64 = 0
            for sql in [KeeperSQL.copied, KeeperSQL.pushed] {
                let state = try await engine.run(sql(.id(tenant)), tenant: nil).only()
                last = max(last, try state.int64("copied"))
            }
            return last
        }
    }

    /// Notes that a copy has the rows up to `position`.
    ///
    /// - Throws: `StoreError`.
    package func noteCopied(
        _ copy: AuditCopy,
        upTo position: Int64,
        in tenant: TenantID
    ) async throws(StoreError) {
        let sql = copy == .file ? KeeperSQL.noteCopied : KeeperSQL.notePushed
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(sql(.id(tenant), .int64(position)), tenant: nil)
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
        return Tip(tenant: tenant, position: position, hash: hash, micros: try row.int64("micros"), last: last)
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
        """
        SELECT position, hash, (extract(epoch FROM at) * 1000000)::bigint AS micros FROM gateway.audit
        WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1
        """
    )

    static let lastCheckpoint = StoreSQL.tenant(
        """
        SELECT position, hash, (extract(epoch FROM last_at) * 1000000)::bigint AS micros, signer, signature FROM gateway.audit_checkpoint
        WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1
        """
    )

    static let copied = state("position")
    static let pushed = state("pushed")

    /// The age of the first row after a position, in milliseconds.
    static let age = StoreSQL.tenant(
        """
        SELECT (extract(epoch FROM now() - at) * 1000)::bigint AS age FROM gateway.audit
        WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT 1
        """
    )

    /// The newest position and the copied one.
    private static func state(_ column: String) -> StoreSQL {
        StoreSQL.tenant(
            """
            SELECT coalesce((SELECT a.position FROM gateway.audit a WHERE a.tenant_id = $1 ORDER BY a.position DESC LIMIT 1), 0) AS newest,
                coalesce((SELECT c.\(column) FROM gateway.audit_copy c WHERE c.tenant_id = $1), 0) AS copied
            """
        )
    }

    static let noteCopied = StoreSQL.tenant(
        """
        INSERT INTO gateway.audit_copy AS c (tenant_id, position) VALUES ($1, $2)
        ON CONFLICT (tenant_id) DO UPDATE SET position = EXCLUDED.position WHERE c.position < EXCLUDED.position
        """
    )

    static let notePushed = StoreSQL.tenant(
        """
        INSERT INTO gateway.audit_copy AS c (tenant_id, pushed) VALUES ($1, $2)
        ON CONFLICT (tenant_id) DO UPDATE SET pushed = EXCLUDED.pushed WHERE c.pushed < EXCLUDED.pushed
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
