package import DeliveryEngine
package import Model
package import PostgresClient
import Store

/// Stores the delivery engine's data for many tenants: each statement serves one tenant, and each call is one round trip.
package struct PostgresDeliveryStore: DeliveryStore {
    let engine: PostgresPool

    /// The dialects whose devices fetch messages that they have not received.
    let inboxVendors: Set<Vendor>

    /// A safeguard that a test switches off, to show that it is needed.
    package enum Omission: Sendable, Hashable {
        /// A slice is routed by the rules of now, whatever it had before.
        case versionsOfSlices
        /// Calls to upstreams are made without a record.
        case recordsOfCalls
        /// A duplicate is pushed like any other message.
        case duplicates
    }

    let omitted: Set<Omission>

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - inboxVendors: the vendors whose devices fetch their messages (`InboxVendor`).
    ///   - omitted: nothing, except in tests.
    package init(engine: PostgresPool, inboxVendors: Set<Vendor> = [], omitting omitted: Set<Omission> = []) {
        self.engine = engine
        self.inboxVendors = inboxVendors
        self.omitted = omitted
    }

    package func dueTenants(in lane: Lane, limit: Int, withLapsed: Bool) async throws(StoreError) -> [TenantID] {
        try await asStore { () throws(PostgresError) in
            let statement = withLapsed ? DeliverySQL.dueOrLapsed : DeliverySQL.due
            let result = try await engine.run(statement(.int16(lane.rawValue), .int(max(0, limit))), tenant: nil)
            return try result.rows { (row) throws(PostgresError) in try row.id("tenant_id") }
        }
    }

    package func claim(
        tenant: TenantID,
        lane: Lane,
        limit: Int,
        by node: NodeID,
        lease: Duration,
        withLapsed: Bool
    ) async throws(StoreError) -> [SliceLease] {
        try await asStore { () throws(PostgresError) in
            let statement = DeliverySQL.claim(
                .id(tenant),
                .int16(lane.rawValue),
                .int(max(0, limit)),
                .id(node),
                .interval(lease),
                .bool(withLapsed)
            )
            let result = try await engine.run(statement, tenant: nil)
            return try result.rows { (row) throws(PostgresError) in try SliceRow.read(row, tenant: tenant) }
        }
    }

    /// As many as calls in a group.
    private static let tenantsPerFlush = 128

    /// Runs a transaction of each tenant, with one flush to disk for 128 of them. With a flush for each, those of thousands of small slices would take longer than
    /// the leases.
    private func run(_ pipeline: [Transaction]) async throws(PostgresError) -> [Result<[ResultSet], PostgresError>] {
        var outcomes: [Result<[ResultSet], PostgresError>] = []
        for start in stride(from: 0, to: pipeline.count, by: Self.tenantsPerFlush) {
            let part = Array(pipeline[start...].prefix(Self.tenantsPerFlush))
            outcomes += try await engine.run(pipeline: part, sharesFlush: true)
        }
        return outcomes
    }

    package func renew(
        _ leases: [SliceLease],
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> Set<SliceKey> {
        let byTenant = Self.grouped(leases)
        let pipeline = byTenant.map { tenant, leases in
            let keys = Self.keys(tenant, leases, node)
            return Transaction(tenant: nil, [DeliverySQL.renew.with(keys + [.interval(lease)])])
        }
        return try await asStore { () throws(PostgresError) in
            var held: Set<SliceKey> = []
            for (group, outcome) in zip(byTenant, try await run(pipeline)) {
                for row in try outcome.get().result(0) {
                    held.insert(
                        SliceKey(
                            tenant: group.0,
                            message: try row.id("message_id"),
                            number: Int32(clamping: try row.int("no"))
                        )
                    )
                }
            }
            return held
        }
    }

    package func release(_ leases: [SliceLease], by node: NodeID) async throws(StoreError) {
        let pipeline = Self.grouped(leases).map { tenant, leases in
            Transaction(tenant: nil, [DeliverySQL.release.with(Self.keys(tenant, leases, node))])
        }
        try await asStore { () throws(PostgresError) in
            for outcome in try await run(pipeline) { _ = try outcome.get() }
        }
    }

    package func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int,
        preferring dialects: [Vendor]?
    ) async throws(StoreError) -> ExpansionResult {
        try await asStore { () throws(PostgresError) in
            let statement = DeliverySQL.expand(
                .id(lease.key.tenant),
                .id(lease.key.message),
                .int32(lease.key.number),
                .int64(lease.epoch),
                .id(node),
                .int32(Int32(clamping: max(1, pageSize))),
                .int32(Int32(SliceLease.targetLimit)),
                dialects.map { PostgresValue.strings($0.map(\.rawValue)) } ?? .null
            )
            let row = try await engine.run(statement, tenant: nil).only()
            switch try row.text("outcome") {
            case "page": return .page(try row.int("targets"), after: try row.id("after"))
            case "finished": return .finished(recipients: try row.int("targets"))
            default: return .fenced
            }
        }
    }

    package func draw(_ draws: [BudgetDraw]) async throws(StoreError) -> [Int32] {
        let pipeline = draws.map { draw in
            Transaction(
                tenant: nil,
                [
                    DeliverySQL.draw(
                        .id(draw.key.tenant),
                        .strings(draw.rates.map(\.budget)),
                        .int32s(draw.rates.map(\.perSecond)),
                        .int32(draw.count),
                        .interval(BudgetDraw.ahead),
                        .interval(BudgetDraw.saved)
                    )
                ]
            )
        }
        return try await asStore { () throws(PostgresError) in
            var counts: [Int32] = []
            for outcome in try await engine.run(pipeline: pipeline) {
                counts.append(Int32(clamping: try outcome.get().result(0).only().int("count")))
            }
            return counts
        }
    }

    package func noteCredential(_ key: CredentialKey, refusal: Rejection?) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            let statement =
                if let refusal {
                    DeliverySQL.refuseCredential(.id(key.tenant), .id(key.credential), .string(refusal.reason))
                } else {
                    DeliverySQL.clearCredential(.id(key.tenant), .id(key.credential))
                }
            _ = try await engine.run(statement, tenant: nil)
        }
    }

    package func heartbeat(_ node: NodeID) async throws(StoreError) -> Timestamp {
        try await asStore { () throws(PostgresError) in
            try await engine.run(DeliverySQL.heartbeat(.id(node)), tenant: nil).only().time("seen_at")
        }
    }

    package func leave(_ node: NodeID) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(DeliverySQL.leave(.id(node)), tenant: nil)
        }
    }

    /// Groups leases by tenant, because one statement serves one tenant.
    private static func grouped(_ leases: [SliceLease]) -> [(TenantID, [SliceLease])] {
        Dictionary(grouping: leases, by: \.key.tenant).map { ($0.key, $0.value) }
    }

    private static func keys(_ tenant: TenantID, _ leases: [SliceLease], _ node: NodeID) -> [PostgresValue] {
        [
            .id(tenant), .ids(leases.map(\.key.message)), .int32s(leases.map(\.key.number)),
            .int64s(leases.map(\.epoch)), .id(node),
        ]
    }
}
