package import Model
import PostgresClient
import Store

/// A count that nodes add up for the gates of migrations.
package enum ObservedFigure: String, Sendable, Hashable, CaseIterable {
    /// Proxied calls; hits: those that the gateway understood.
    case observed
    /// Observed sends; hits: those that the gateway would admit.
    case senders
    /// Receipts that follow their messages; hits: those about messages that the gateway does not know.
    case unknown
}

/// Counts of one app in one interval.
package struct FigureCount: Sendable, Hashable {
    package var app: AppID
    package var figure: ObservedFigure
    /// The beginning of the interval.
    package var at: Timestamp
    package var samples: Int64
    package var hits: Int64

    package init(app: AppID, figure: ObservedFigure, at: Timestamp, samples: Int64, hits: Int64) {
        self.app = app
        self.figure = figure
        self.at = at
        self.samples = samples
        self.hits = hits
    }
}

/// A number of observations, and how many of them have a property.
package struct CountedShare: Sendable, Hashable {
    package var samples: Int
    package var hits: Int

    package init(samples: Int, hits: Int) {
        self.samples = samples
        self.hits = hits
    }

    /// The share; not a number without samples.
    package var value: Double { samples > 0 ? Double(hits) / Double(samples) : .nan }
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
            .strings(counts.map(\.figure.rawValue)),
            .times(counts.map(\.at)),
            .int64s(counts.map(\.samples)),
            .int64s(counts.map(\.hits))
        )
        try await asStore { () throws(PostgresError) in _ = try await engine.run(statement, tenant: nil) }
    }

    /// Returns the counts of an app in the intervals that began at `since` or later.
    ///
    /// - Throws: `StoreError`.
    package func figures(
        of app: AppID,
        in tenant: TenantID,
        since: Timestamp
    ) async throws(StoreError) -> [ObservedFigure: CountedShare] {
        let rows = try await asStore { () throws(PostgresError) -> [(ObservedFigure, CountedShare)] in
            let statement = MigrationSQL.figures(.id(tenant), .id(app), .time(since))
            return try await engine.run(statement, tenant: nil).rows {
                (row) throws(PostgresError) -> (ObservedFigure, CountedShare) in
                let figure: ObservedFigure = try row.word("figure")
                return (figure, CountedShare(samples: try row.int("samples"), hits: try row.int("hits")))
            }
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
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

    /// Returns the targets of messages that an upstream sent since a time, and those of them that the gateway could push to. The newest messages stand for all.
    ///
    /// - Throws: `StoreError`.
    package func reach(
        of app: AppID,
        through upstream: CredentialID,
        in tenant: TenantID,
        since: Timestamp
    ) async throws(StoreError) -> CountedShare {
        try await asStore { () throws(PostgresError) -> CountedShare in
            let first = PostgresValue.id(MessageID.first(at: since))
            let row = try await engine.run(MigrationSQL.reach(.id(tenant), .id(app), first, .id(upstream)), tenant: nil)
                .only()
            return CountedShare(samples: try row.int("samples"), hits: try row.int("hits"))
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

    /// Returns the number of imports of an app's devices in a dialect that ended since a time, and of the opt-outs in their files.
    ///
    /// - Throws: `StoreError`.
    package func imports(
        _ scope: AppScope,
        in tenant: TenantID,
        since: Timestamp
    ) async throws(StoreError) -> (imports: Int, optOuts: Int) {
        try await asStore { () throws(PostgresError) -> (imports: Int, optOuts: Int) in
            let subject = PostgresValue.string(AuditRecord.devices(of: scope))
            let row = try await engine.run(MigrationSQL.imports(.id(tenant), subject, .time(since)), tenant: nil).only()
            return (imports: try row.int("imports"), optOuts: try row.int("opt_outs"))
        }
    }

    /// Returns what comparisons of the two sides' answers and payloads have counted since a time, by the name of the metric; hits are differences. Empty in a
    /// database that does not count them.
    ///
    /// - Throws: `StoreError`.
    package func parity(
        of app: AppID,
        in tenant: TenantID,
        since: Timestamp
    ) async throws(StoreError) -> [String: CountedShare] {
        let rows = try await asStore { () throws(PostgresError) -> [(String, CountedShare)] in
            guard try await engine.run(MigrationSQL.hasParity(), tenant: nil).only().bool("is_known") else { return [] }
            let statement = MigrationSQL.parity(.id(tenant), .id(app), .time(since))
            return try await engine.run(statement, tenant: nil).rows {
                (row) throws(PostgresError) -> (String, CountedShare) in
                let share = CountedShare(samples: try row.int("samples"), hits: try row.int("differences"))
                return (try row.text("metric"), share)
            }
        }
        return Dictionary(rows) { first, second in
            CountedShare(samples: first.samples + second.samples, hits: first.hits + second.hits)
        }
    }
}
