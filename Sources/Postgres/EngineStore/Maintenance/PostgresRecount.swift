package import Model
package import PostgresClient
package import Store

/// A count that differs from the deliveries.
package struct CountDifference: Sendable, Hashable {
    /// Set for the counts of a single message.
    package var message: MessageID?
    /// The beginning of the quarter hour in which the messages were due.
    package var start: Timestamp
    package var app: AppID
    package var vendor: Vendor
    /// '': unknown.
    package var deviceVendor: String
    /// '': none.
    package var transport: String
    /// A stage, or a stage with a reason: `rejected:Unregistered`.
    package var key: String
    /// The deliveries that were not counted; negative: that were counted too often.
    package var missing: Int64
}

/// Compares counts with deliveries, and corrects them, while deliveries go on. Each day of a tenant is one transaction.
///
/// Every transaction that changes deliveries changes their counts too. So a difference of one snapshot is still the difference when it is added. Whether the
/// day is whole is decided in the same snapshot, or after it: retention, or the merge of days, may have overtaken the caller, and neither is undone.
package struct PostgresRecount: Sendable {
    /// 1,000 differences of a day are returned; all are corrected.
    package static let listLimit = 1000
    /// Ten minutes for a day of a tenant. 10,000,000 deliveries take a part of it.
    private static let timeout = Duration.seconds(600)
    /// The day is no longer whole: nothing is corrected.
    private static let overtaken = "overtaken by retention or a merge"

    private let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    /// A tenant, and the first UTC day (since 1970) of which nothing has been removed and whose counts are not merged into days of other zones.
    package struct Tenant: Sendable, Hashable {
        package var id: TenantID
        package var firstDay: Int32
    }

    /// The tenants, or only `tenant`.
    ///
    /// - Throws: `StoreError`.
    package func tenants(
        _ tenant: TenantID?,
        at now: Timestamp,
        _ policy: RetentionPolicy = RetentionPolicy()
    ) async throws(StoreError) -> [Tenant] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(RecountSQL.tenants(.id(tenant)), tenant: nil).rows { (row) throws(PostgresError) in
                Tenant(id: try row.id("tenant_id"), firstDay: try Self.firstDay(row, at: now, policy))
            }
        }
    }

    private static func firstDay(
        _ row: Row,
        at now: Timestamp,
        _ policy: RetentionPolicy
    ) throws(PostgresError) -> Int32 {
        let kept = policy.overlaid(by: TenantRetention(json: try row.object("retention")))
        let oldest = now + (.zero - min(kept.deliveries, kept.messages))
        // The first quarter hour of the day of a zone may be a UTC day earlier.
        let rolled = QuarterRange(from: Int32(clamping: try row.int("rolled")), to: .max).start
        let merged = rolled.seconds > 0 ? rolled.seconds / 86_400 + 1 : 0
        // A retention that was shorter before has removed days that the present one keeps.
        let noted = try row.int64("kept_from")
        return Int32(clamping: max((oldest.seconds + 86_399) / 86_400, merged, noted))
    }

    /// Compares a day of a tenant.
    ///
    /// - Parameters:
    ///   - day: the UTC day since 1970.
    ///   - tenant: whose day.
    ///   - policy: the retention of tenants that have none of their own.
    /// - Returns: the first `listLimit` differences; nil if retention has begun to remove the day, also by an earlier setting, or its counts are merged
    ///   (`Tenant.firstDay`).
    /// - Throws: `StoreError`.
    package func compare(
        day: Int32,
        of tenant: TenantID,
        _ policy: RetentionPolicy = RetentionPolicy()
    ) async throws(StoreError) -> [CountDifference]? {
        try await asStore { () throws(PostgresError) in
            let transaction = Transaction(
                tenant: tenant.rawValue,
                [RecountSQL.snapshot(), RecountSQL.longTimeout(), RecountSQL.limits(.id(tenant))]
            ) { (results) throws(PostgresError) in
                guard try Self.isWhole(day, results.result(2), policy) else { return .commit }
                return Step([Self.statement(RecountSQL.compare, day, tenant)])
            }
            let results = try await engine.run(transaction, timeout: Self.timeout)
            return results.count > 3 ? try results.result(3).rows(Self.difference) : nil
        }
    }

    /// Whether nothing of a day has been removed or merged in the transaction's snapshot.
    private static func isWhole(
        _ day: Int32,
        _ limits: ResultSet,
        _ policy: RetentionPolicy
    ) throws(PostgresError) -> Bool {
        guard let row = limits.first else { return false }
        return day >= (try firstDay(row, at: try row.time("now"), policy))
    }

    /// Compares a day of a tenant, adds the differences to the counts, and writes into the audit that it did.
    ///
    /// - Parameters: as of `compare`; `actor`: who corrects.
    /// - Returns: as of `compare`.
    /// - Throws: `StoreError`; also while another recount runs.
    package func correct(
        day: Int32,
        of tenant: TenantID,
        by actor: AuditActor,
        _ policy: RetentionPolicy = RetentionPolicy()
    ) async throws(StoreError) -> [CountDifference]? {
        try await asStore { () throws(PostgresError) in
            let transaction = Transaction(
                tenant: tenant.rawValue,
                [RecountSQL.longTimeout(), RecountSQL.lock(), RecountSQL.limits(.id(tenant))]
            ) { (results) throws(PostgresError) in
                guard try Self.isWhole(day, results.result(2), policy) else { return .commit }
                // One snapshot per statement: of an older one, the audit would not have the rows that others wrote meanwhile.
                let statements = [Self.statement(RecountSQL.correct, day, tenant), RecountSQL.limits(.id(tenant))]
                return Step(statements) { (results) throws(PostgresError) in
                    guard try Self.isWhole(day, results.result(1), policy) else { throw .abandoned(Self.overtaken) }
                    let count = try results.result(0).count
                    if count == 0 { return .commit }
                    let date = Timestamp(seconds: Int64(day) * 86_400).rfc3339Date
                    let record = AuditRecord(.recount, "counts \(date)", data: ["differences": .int(count)])
                    return Step([[record].written(by: actor, in: tenant)])
                }
            }
            do throws(PostgresError) {
                let results = try await engine.run(transaction, timeout: Self.timeout)
                return results.count > 3 ? try results.result(3).rows(Self.difference) : nil
            } catch {
                guard error.code == .abandoned, error.reason == Self.overtaken else { throw error }
                return nil
            }
        }
    }

    private static func statement(_ sql: StoreSQL, _ day: Int32, _ tenant: TenantID) -> Statement {
        sql(
            .id(tenant),
            .int32(day),
            .int(listLimit),
            .id(MessageID.first(at: Timestamp(seconds: Int64(day) * 86_400))),
            .id(MessageID.first(at: Timestamp(seconds: (Int64(day) + 1) * 86_400)))
        )
    }

    private static func difference(_ row: Row) throws(PostgresError) -> CountDifference {
        CountDifference(
            message: try row.optionalID("message_id"),
            start: Timestamp(seconds: try row.int64("quarter") * QuarterRange.seconds),
            app: try row.id("app_id"),
            vendor: try row.id("vendor"),
            deviceVendor: try row.text("device_vendor"),
            transport: try row.text("transport"),
            key: try row.text("key"),
            missing: try row.int64("count")
        )
    }
}
