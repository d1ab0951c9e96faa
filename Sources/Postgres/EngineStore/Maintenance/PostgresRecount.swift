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
/// Every transaction that changes deliveries changes their counts too. So a difference of one snapshot is still the difference when it is added.
package struct PostgresRecount: Sendable {
    /// 1,000 differences of a day are returned; all are corrected.
    package static let listLimit = 1000
    /// Ten minutes for a day of a tenant. 10,000,000 deliveries take a part of it.
    private static let timeout = Duration.seconds(600)

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
                let kept = policy.overlaid(by: TenantRetention(json: try row.object("retention")))
                let oldest = now + (.zero - min(kept.deliveries, kept.messages))
                // The first quarter hour of the day of a zone may be a UTC day earlier.
                let rolled = QuarterRange(from: Int32(clamping: try row.int("rolled")), to: .max).start
                let merged = rolled.seconds > 0 ? rolled.seconds / 86_400 + 1 : 0
                let first = max((oldest.seconds + 86_399) / 86_400, merged)
                return Tenant(id: try row.id("tenant_id"), firstDay: Int32(clamping: first))
            }
        }
    }

    /// Compares a day of a tenant.
    ///
    /// - Parameters:
    ///   - day: the UTC day since 1970. The caller has checked that retention has not begun to remove it.
    ///   - tenant: whose day.
    /// - Returns: the first `listLimit` differences.
    /// - Throws: `StoreError`.
    package func compare(day: Int32, of tenant: TenantID) async throws(StoreError) -> [CountDifference] {
        try await asStore { () throws(PostgresError) in
            let transaction = Transaction(
                tenant: tenant.rawValue,
                [RecountSQL.snapshot(), RecountSQL.longTimeout(), Self.statement(RecountSQL.compare, day, tenant)]
            )
            return try await engine.run(transaction, timeout: Self.timeout).result(2).rows(Self.difference)
        }
    }

    /// Compares a day of a tenant, adds the differences to the counts, and writes into the audit that it did.
    ///
    /// - Parameters: as of `compare`; `actor`: who corrects.
    /// - Returns: the first `listLimit` differences.
    /// - Throws: `StoreError`; also while another recount runs.
    package func correct(
        day: Int32,
        of tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> [CountDifference] {
        try await asStore { () throws(PostgresError) in
            let transaction = Transaction(
                tenant: tenant.rawValue,
                [
                    RecountSQL.snapshot(), RecountSQL.longTimeout(), RecountSQL.lock(),
                    Self.statement(RecountSQL.correct, day, tenant),
                ]
            ) { (results) throws(PostgresError) in
                let count = try results.result(3).count
                if count == 0 { return .commit }
                let date = Timestamp(seconds: Int64(day) * 86_400).rfc3339Date
                let record = AuditRecord(.recount, "counts \(date)", data: ["differences": .int(count)])
                return Step([[record].written(by: actor, in: tenant)])
            }
            return try await engine.run(transaction, timeout: Self.timeout).result(3).rows(Self.difference)
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
