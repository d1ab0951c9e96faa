package import Model
import PostgresClient

extension PostgresQueryStore {
    /// 200,000 histograms of one question: the quarter hours of 92 days of five apps, with one vendor and every kind. About 20 MB here.
    package static let latencyRowLimit = 200_000
    /// The answer to a question about latencies.
    package enum LatencyAnswer: Sendable {
        /// In no order.
        case groups([GroupLatencies])
        /// The latencies are in more than `latencyRowLimit` rows.
        case tooManyRows
        /// They make more groups than the question allows. A group that is being added up has 2 KB.
        case tooManyGroups
    }

    /// 10,000 sketches of one question: about 40 MB here. An app has 2,400 in 400 days.
    package static let sketchRowLimit = 10_000

    /// From when on and up to when the figures below are counted. Ask before the figures, which may then contain more.
    ///
    /// - Throws: `StoreError`.
    package func countedSpan(of tenant: TenantID) async throws(StoreError) -> CountedSpan {
        try await asStore { () throws(PostgresError) in
            let transaction = Transaction(tenant: tenant.rawValue, [ReadingSQL.quiet(.id(tenant))]) {
                (results) throws(PostgresError) in
                Step([ReadingSQL.span(.id(tenant), .time(try results.result(0).only().optionalTime("now")))])
            }
            guard let row = try await call.run(transaction).result(1).first else { return CountedSpan() }
            return CountedSpan(since: try row.time("since"), until: try row.time("until"))
        }
    }

    /// The latencies of messages due in a range, by kind and group.
    ///
    /// - Parameters:
    ///   - range: the quarter hours.
    ///   - apps: empty: all.
    ///   - vendors: the dialects of senders; empty: all.
    ///   - groupings: the properties of groups.
    ///   - groupLimit: the number of pairs of a kind and a group above which the question is refused.
    ///   - tenant: whose latencies.
    /// - Returns: the latencies, or that the question has too many groups or rows.
    /// - Throws: `StoreError`.
    package func latencies(
        in range: QuarterRange,
        apps: [AppID],
        vendors: [Vendor],
        by groupings: Set<FunnelGrouping>,
        groupLimit: Int,
        of tenant: TenantID
    ) async throws(StoreError) -> LatencyAnswer {
        let statement = ReadingSQL.latencies(
            .id(tenant),
            .int32(range.from),
            .int32(range.to),
            apps.isEmpty ? .null : .strings(apps.map(\.rawValue)),
            vendors.isEmpty ? .null : .strings(vendors.map(\.rawValue)),
            .bool(groupings.contains(.app)),
            .bool(groupings.contains(.vendor)),
            .int(Self.latencyRowLimit + 1)
        )
        return try await asStore { () throws(PostgresError) -> LatencyAnswer in
            let rows = try await call.run(statement, tenant: tenant.rawValue)
            guard rows.count <= Self.latencyRowLimit else { return .tooManyRows }
            // As the texts of the rows: a group costs more to make than a row to add.
            struct Key: Hashable {
                var kind: String
                var app: String?
                var vendor: String?
            }
            var sums: [Key: LatencySum] = [:]
            for row in rows {
                let key = Key(
                    kind: try row.text("kind"),
                    app: try row.optionalText("app_id"),
                    vendor: try row.optionalText("vendor")
                )
                guard sums[key, default: LatencySum()].add(encoded: try row.bytes("histogram")) else {
                    throw PostgresError(.other, reason: "a stored histogram is malformed")
                }
                guard sums.count <= groupLimit else { return .tooManyGroups }
            }
            var groups: [GroupLatencies] = []
            for (key, sum) in sums {
                // A kind of a newer program is left out.
                guard let kind = LatencyKind(rawValue: key.kind) else { continue }
                var group = FunnelGroup()
                group.values[.app] = key.app
                group.values[.vendor] = key.vendor
                groups.append(GroupLatencies(kind: kind, group: group, histogram: sum.histogram))
            }
            return .groups(groups)
        }
    }

    /// Distinct devices and users, devices gained and lost, and receipts without a delivery, by app and day of the app's time zone.
    ///
    /// - Parameters:
    ///   - days: days since 1970.
    ///   - apps: empty: all.
    ///   - tenant: whose devices.
    /// - Returns: in no order; nil if they are in more than `sketchRowLimit` rows.
    /// - Throws: `StoreError`.
    package func deviceFigures(
        of days: ClosedRange<Int32>,
        apps: [AppID],
        in tenant: TenantID
    ) async throws(StoreError) -> [DayFigures]? {
        let parameters: [PostgresValue] = [
            .id(tenant), .int32(days.lowerBound), .int32(days.upperBound),
            apps.isEmpty ? .null : .strings(apps.map(\.rawValue)), .int(Self.sketchRowLimit + 1),
        ]
        return try await asStore { () throws(PostgresError) -> [DayFigures]? in
            let statements = [ReadingSQL.sketches, ReadingSQL.changes, ReadingSQL.orphans].map { $0.with(parameters) }
            let results = try await call.run(Transaction(tenant: tenant.rawValue, statements))
            let (sketches, changes, orphans) = (try results.result(0), try results.result(1), try results.result(2))
            guard max(sketches.count, changes.count, orphans.count) <= Self.sketchRowLimit else { return nil }
            struct Key: Hashable {
                var app: AppID
                var day: Int32
            }
            func key(_ row: Row) throws(PostgresError) -> Key {
                Key(app: try row.id("app_id"), day: Int32(clamping: try row.int("day")))
            }
            var found: [Key: DeviceFigures] = [:]
            for row in sketches {
                guard let subject = DistinctSubject(rawValue: try row.text("subject")),
                    let stage = DistinctStage(rawValue: try row.text("stage"))
                else { continue }
                guard let sketch = DistinctSketch(encoded: try row.bytes("sketch")) else {
                    throw PostgresError(.other, reason: "a stored sketch is malformed")
                }
                found[try key(row), default: DeviceFigures()].sketches[.init(subject, stage)] = sketch
            }
            for row in changes {
                found[try key(row), default: DeviceFigures()].changes = DeviceChanges(
                    gained: try row.int64("gained"),
                    lost: try row.int64("lost"),
                    invalidated: try row.int64("invalidated")
                )
            }
            for row in orphans {
                let counts = try row.object("orphans").pairs.map { ($0.key, $0.value.int ?? 0) }
                found[try key(row), default: DeviceFigures()].orphans = Dictionary(counts) { $0 &+ $1 }
            }
            return found.map { DayFigures(app: $0.key.app, day: $0.key.day, figures: $0.value) }
        }
    }
}
