package import Model
package import PostgresClient
import Store

/// Folds the counts that transactions append, and ends messages that crashed nodes left open. Any node may do it, and one node at a time does.
package struct PostgresCountKeeper: Sendable {
    let engine: PostgresPool
    private let node: NodeID
    /// The number of histograms that one transaction merges.
    let latencyLimit: Int

    /// One minute: longer than the period of the calls, so that one node continues, and short, because readers add up what is not folded.
    private static let lease = Duration.seconds(60)
    /// 20,000 rows in a transaction of about 100 ms. With more, it holds back vacuum; with fewer, the commits cost more than the rows.
    private static let foldLimit = 20_000
    /// At most 50 transactions for one tenant in a call, so that a busy tenant does not delay the others.
    private static let foldSteps = 50
    /// 92 days, the longest quarter of a year. Before, counts are needed by day only.
    package static let quarterHourLife = Duration.seconds(92 * 86_400)
    /// A day in a transaction: 96 quarter hours, at most 5,000 rows of a tenant with 50 apps.
    static let rollUpQuarters: Int32 = 96
    /// At most 50 days of one tenant in a call.
    static let rollUpSteps = 50
    /// 2,000 histograms in a transaction: the quarter hours of a day of five apps with one vendor and every kind. If each belongs to a day of its own, their sums
    /// have 4 MB here.
    package static let latencyLimit = 2000
    /// At most 1,000 messages in a transaction, because it locks each of them.
    private static let settleLimit: Int32 = 1000

    /// - Parameters:
    ///   - engine: the pool of `gateway_engine`.
    ///   - node: the node that does it.
    ///   - latencyLimit: the number of histograms that one transaction merges.
    package init(engine: PostgresPool, node: NodeID, latencyLimit: Int = PostgresCountKeeper.latencyLimit) {
        self.engine = engine
        self.node = node
        self.latencyLimit = latencyLimit
    }

    /// Folds the counts of all tenants. A failure for one tenant does not stop the others.
    ///
    /// - Returns: the number of rows that were folded; nil if another node does it.
    /// - Throws: `StoreError`, the last one.
    package func fold() async throws(StoreError) -> Int? {
        try await forEach(CountSQL.unfolded()) { (tenant) throws(PostgresError) in
            var sum = 0
            for _ in 0..<Self.foldSteps {
                let count = try await self.count(CountSQL.fold(tenant, .int32(Int32(Self.foldLimit))))
                sum += count
                if count < Self.foldLimit { break }
            }
            return sum
        }
    }

    /// Ends messages of which a node finished the last slice and crashed before it ended them.
    ///
    /// - Returns: the number of messages; nil if another node does it.
    /// - Throws: `StoreError`, the last one.
    package func settle() async throws(StoreError) -> Int? {
        try await forEach(CountSQL.unsettled()) { (tenant) throws(PostgresError) in
            try await self.count(CountSQL.settle(tenant, .int32(Self.settleLimit)))
        }
    }

    /// Merges the counts and latencies of quarter hours that are older than `quarterHourLife` into days of their app's time zone. It is safe to stop and to
    /// repeat.
    ///
    /// - Parameter now: the database's time.
    /// - Returns: the number of merged days; nil if another node does it.
    /// - Throws: `StoreError`, the last one.
    package func rollUp(at now: Timestamp) async throws(StoreError) -> Int? {
        let before = QuarterRange(now.back(Self.quarterHourLife)..<now).from / Self.rollUpQuarters * Self.rollUpQuarters
        var merged: Int? = 0
        var failure: StoreError?
        // A failure does not stop the merge of counts.
        do throws(StoreError) {
            merged = try await forEach(LatencySQL.unrolled(.int32(before))) { (tenant) throws(PostgresError) in
                try await mergeLatencies(of: tenant, before: before)
            }
        } catch {
            failure = error
        }
        guard let latencies = merged, let counts = try await rollUpCounts(before) else { return nil }
        if let failure { throw failure }
        return latencies + counts
    }

    private func rollUpCounts(_ before: Int32) async throws(StoreError) -> Int? {
        try await forEach(CountSQL.unrolled(.int32(before))) { (tenant) throws(PostgresError) in
            for step in 1...Self.rollUpSteps {
                let statement = CountSQL.rollUp(tenant, .int32(before), .int32(Self.rollUpQuarters))
                if try await engine.run(statement, tenant: nil).only().int("quarter") >= before { return step }
            }
            return Self.rollUpSteps
        }
    }

    private func forEach(
        _ tenants: Statement,
        _ body: (PostgresValue) async throws(PostgresError) -> Int
    ) async throws(StoreError) -> Int? {
        try await asStore { () throws(PostgresError) -> Int? in
            let lead = MaintenanceSQL.lead(.text("counters"), .id(node), .interval(Self.lease))
            guard try await engine.run(lead, tenant: nil).first != nil else { return nil }
            var sum = 0
            var failure: PostgresError?
            for row in try await engine.run(tenants, tenant: nil) {
                do throws(PostgresError) {
                    sum += try await body(.text(try row.text("tenant_id")))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return sum
        }
    }

    private func count(_ statement: Statement) async throws(PostgresError) -> Int {
        try await engine.run(statement, tenant: nil).only().int("count")
    }
}
