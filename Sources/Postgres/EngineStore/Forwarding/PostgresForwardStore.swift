package import Model
package import PostgresClient
import Store

/// Stores the calls that wait for upstreams. `ForwardCalls` adds them.
package struct PostgresForwardStore: ForwardStore {
    /// 64 calls are settled in one statement: as many as are in progress to one upstream. Its locks are held until the last of them is settled.
    static let settlementsPerStatement = 64

    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    package func due() async throws(StoreError) -> [CredentialKey] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(ForwardSQL.due(), tenant: nil).rows(Self.upstream)
        }
    }

    package func claim(
        _ upstream: CredentialKey,
        limit: Int,
        by node: NodeID,
        lease: Duration
    ) async throws(StoreError) -> [ForwardLease] {
        try await asStore { () throws(PostgresError) in
            let statement = ForwardSQL.claim(
                .id(upstream.tenant),
                .id(upstream.credential),
                .id(node),
                .interval(lease),
                .int(max(0, limit))
            )
            return try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) -> ForwardLease in
                let queue = ForwardQueue(
                    tenant: upstream.tenant,
                    app: try row.id("app_id"),
                    upstream: upstream.credential,
                    orderingKey: try row.bytes("ordering_key")
                )
                return ForwardLease(
                    queue: queue,
                    epoch: try row.int64("epoch"),
                    attempts: try row.int("attempts"),
                    number: try row.int64("no"),
                    call: try Self.call(row, of: queue)
                )
            }
        }
    }

    package func settle(
        _ lease: ForwardLease,
        by node: NodeID,
        for period: Duration
    ) async throws(StoreError) -> ForwardStep {
        try await asStore { () throws(PostgresError) in
            let settlement = Self.settlement(lease, by: node, for: period)
            let row = try await engine.run(gathered: settlement).result(0).only()
            return try Self.step(row, after: lease)
        }
    }

    /// Joins those of other queues of the upstream that wait at the same time: one statement settles them.
    static func settlement(_ lease: ForwardLease, by node: NodeID, for period: Duration) -> Transaction {
        let queue = lease.queue
        let batch = StatementBatch(
            sql: ForwardSQL.settle,
            shared: [.id(queue.tenant), .id(queue.upstream), .id(node), .interval(period)],
            row: [.bytes(queue.orderingKey), .id(queue.app), .int64(lease.epoch), .int64(lease.number)],
            limit: settlementsPerStatement
        )
        return Transaction(tenant: nil, batch, flushes: false)
    }

    /// The result of the settlement of a call.
    static func step(_ row: Row, after lease: ForwardLease) throws(PostgresError) -> ForwardStep {
        switch try row.text("state") {
        case "lost": return .lost
        case "ended": return .ended
        default:  // `next`
            var next = lease
            next.attempts = 0
            next.number = try row.int64("no")
            next.call = try call(row, of: lease.queue)
            return .next(next)
        }
    }

    package func postpone(
        _ lease: ForwardLease,
        by delay: Duration,
        reason: String,
        counts: Bool,
        node: NodeID
    ) async throws(StoreError) -> Bool {
        try await asStore { () throws(PostgresError) in
            let parameters = Self.key(lease, node) + [.string(reason), .interval(delay)]
            let statement = counts ? ForwardSQL.postpone : ForwardSQL.wait
            return try await engine.run(statement.with(parameters), tenant: nil).affectedRows == 1
        }
    }

    package func release(_ lease: ForwardLease, node: NodeID) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(ForwardSQL.release.with(Self.key(lease, node)), tenant: nil)
        }
    }

    package func resume(_ upstream: CredentialKey) async throws(StoreError) {
        try await asStore { () throws(PostgresError) in
            _ = try await engine.run(ForwardSQL.resume(.id(upstream.tenant), .id(upstream.credential)), tenant: nil)
        }
    }

    package func survey(limit: Int, age: Duration) async throws(StoreError) -> [ForwardBacklog] {
        try await asStore { () throws(PostgresError) in
            let upstreams = try await engine.run(ForwardSQL.upstreams(), tenant: nil).rows(Self.upstream)
            var backlogs: [ForwardBacklog] = []
            for upstream in upstreams {
                let statement = ForwardSQL.survey(
                    .id(upstream.tenant),
                    .id(upstream.credential),
                    .int(max(1, limit)),
                    .interval(age)
                )
                // No row: the tenant was removed meanwhile.
                guard let row = try await engine.run(statement, tenant: nil).first else { continue }
                backlogs.append(
                    ForwardBacklog(
                        upstream: upstream,
                        waiting: try row.int("waiting"),
                        oldest: .seconds(max(0, try row.double("oldest"))),
                        isFull: try row.bool("is_full")
                    )
                )
            }
            return backlogs
        }
    }

    private static func upstream(_ row: Row) throws(PostgresError) -> CredentialKey {
        CredentialKey(tenant: try row.id("tenant_id"), credential: try row.id("upstream"))
    }

    /// The first parameters of statements about a lease.
    private static func key(_ lease: ForwardLease, _ node: NodeID) -> [PostgresValue] {
        let queue = lease.queue
        return [
            .id(queue.tenant), .bytes(queue.orderingKey), .id(queue.app), .id(queue.upstream), .id(node),
            .int64(lease.epoch),
        ]
    }

    private static func call(_ row: Row, of queue: ForwardQueue) throws(PostgresError) -> ForwardedCall {
        ForwardedCall(
            app: queue.app,
            vendor: try row.id("vendor"),
            upstream: queue.upstream,
            kind: try row.word("kind"),
            name: try row.text("call"),
            method: try row.text("method"),
            path: try row.text("path"),
            query: try row.optionalText("query"),
            contentType: try row.optionalText("content_type"),
            via: try row.optionalText("via"),
            body: try row.bytes("body")
        )
    }
}
