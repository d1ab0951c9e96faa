package import Model
import PostgresClient
import Store

/// Observations about the calls of one app in one interval.
package struct FigureCount: Sendable, Hashable {
    package var app: AppID
    /// The beginning of the interval.
    package var at: Timestamp
    package var figure: ParityFigure

    package init(app: AppID, at: Timestamp, figure: ParityFigure) {
        self.app = app
        self.at = at
        self.figure = figure
    }
}

/// The counts of one metric since a time, and those of them since a later time.
package struct FigureSums: Sendable, Hashable {
    package var whole: ParityFigure
    package var recent: ParityFigure

    package init(whole: ParityFigure, recent: ParityFigure) {
        self.whole = whole
        self.recent = recent
    }
}

/// The calls that wait for an upstream.
package struct WaitingCalls: Sendable, Hashable {
    package var count = 0
    /// The age of the oldest one.
    package var oldest = Duration.zero
    /// Whether so many wait that further ones are left out: the upstream misses them.
    package var isFull = false

    package init() {}
}

// The figures that gates of migrations compare, as far as no other store has them.
extension PostgresMigrationStore {
    /// Devices without a direct transport are counted up to 100,000.
    package static let withoutTransportLimit = 100_000

    /// Adds counts of calls.
    ///
    /// - Throws: `StoreError`.
    package func add(_ counts: [FigureCount], in tenant: TenantID) async throws(StoreError) {
        let statement = MigrationSQL.add(
            .id(tenant),
            .strings(counts.map(\.app.rawValue)),
            .strings(counts.map(\.figure.metric.rawValue)),
            .times(counts.map(\.at)),
            .int64s(counts.map { Int64($0.figure.samples) }),
            .int64s(counts.map { Int64($0.figure.differences) })
        )
        try await asStore { () throws(PostgresError) in _ = try await engine.run(statement, tenant: nil) }
    }

    /// Returns the counts of an app in the intervals that began at `since` or later, and in those of them that began at `recent` or later.
    ///
    /// - Throws: `StoreError`.
    package func figures(
        of app: AppID,
        in tenant: TenantID,
        since: Timestamp,
        recent: Timestamp
    ) async throws(StoreError) -> [FigureSums] {
        try await asStore { () throws(PostgresError) -> [FigureSums] in
            let statement = MigrationSQL.figures(.id(tenant), .id(app), .time(since), .time(recent))
            return try await engine.run(statement, tenant: nil).rows { (row) throws(PostgresError) -> FigureSums in
                let metric: ParityMetric = try row.word("figure")
                return FigureSums(
                    whole: ParityFigure(
                        metric,
                        samples: try row.int("samples"),
                        differences: try row.int("differences")
                    ),
                    recent: ParityFigure(
                        metric,
                        samples: try row.int("recent_samples"),
                        differences: try row.int("recent_differences")
                    )
                )
            }
        }
    }

    /// Returns the calls that wait for an upstream.
    ///
    /// - Throws: `StoreError`.
    package func waitingCalls(for upstream: CredentialID, in tenant: TenantID) async throws(StoreError) -> WaitingCalls
    {
        try await asStore { () throws(PostgresError) -> WaitingCalls in
            let statement = MigrationSQL.backlog(.id(tenant), .id(upstream))
            var calls = WaitingCalls()
            guard let row = try await engine.run(statement, tenant: nil).first else { return calls }
            calls.count = try row.int("waiting")
            calls.oldest = .seconds(max(0, try row.double("oldest")))
            calls.isFull = try row.bool("is_full")
            return calls
        }
    }

    /// Returns the number of devices of a dialect that were seen within 30 days and that the gateway cannot push to directly, at most `withoutTransportLimit`.
    ///
    /// - Throws: `StoreError`.
    package func withoutTransport(_ scope: AppScope, in tenant: TenantID) async throws(StoreError) -> Int {
        try await asStore { () throws(PostgresError) -> Int in
            let limit = PostgresValue.int(Self.withoutTransportLimit)
            let statement = MigrationSQL.withoutTransport(.id(tenant), .id(scope.app), .id(scope.vendor), limit)
            return try await engine.run(statement, tenant: nil).only().int("n")
        }
    }

    /// Returns the number of imports of an app's devices in a dialect that ended since a time, of the opt-outs in their files, and of the rows that state
    /// whether a user wants pushes, or a consent.
    ///
    /// - Throws: `StoreError`.
    package func imports(
        _ scope: AppScope,
        in tenant: TenantID,
        since: Timestamp
    ) async throws(StoreError) -> (imports: Int, optOuts: Int, consents: Int) {
        try await asStore { () throws(PostgresError) -> (imports: Int, optOuts: Int, consents: Int) in
            let subject = PostgresValue.string(AuditRecord.devices(of: scope))
            let row = try await engine.run(MigrationSQL.imports(.id(tenant), subject, .time(since)), tenant: nil).only()
            return (
                imports: try row.int("imports"), optOuts: try row.int("opt_outs"), consents: try row.int("consents")
            )
        }
    }
}
