package import Migration
package import MigrationStore
package import Model
package import Store

/// Measures what the gates of a migration compare, from the rows of the store. A figure without data is absent, which is never a success.
package struct MigrationMeter: Sendable {
    /// The migration that is measured, and its step.
    package struct Subject: Sendable, Hashable {
        package var tenant: TenantID
        package var scope: AppScope
        package var upstream: CredentialID
        /// When the step came into force.
        package var since: Timestamp

        package init(tenant: TenantID, scope: AppScope, upstream: CredentialID, since: Timestamp) {
            self.tenant = tenant
            self.scope = scope
            self.upstream = upstream
            self.since = since
        }
    }

    private static let figures: Set<MigrationMetric> = [.observed, .payload, .reach, .responses, .senders, .unknown]
    private static let outcomes: Set<MigrationMetric> = [.failures, .receipts]

    private let store: PostgresMigrationStore
    let queries: PostgresQueryStore
    let audit: PostgresAuditStore

    package init(store: PostgresMigrationStore, queries: PostgresQueryStore, audit: PostgresAuditStore) {
        self.store = store
        self.queries = queries
        self.audit = audit
    }

    /// Measures some metrics.
    ///
    /// - Throws: `StoreError`.
    package func measure(
        _ metrics: Set<MigrationMetric>,
        of subject: Subject,
        now: Timestamp
    ) async throws(StoreError) -> [MigrationMetric: MigrationMeasurement] {
        let window = MigrationWindow(from: subject.since, to: now)
        var found: [MigrationMetric: MigrationMeasurement] = [:]
        if !metrics.isDisjoint(with: Self.figures) { found = try await counted(subject, window) }
        if !metrics.isDisjoint(with: Self.outcomes) {
            found.merge(try await pushes(subject, window)) { first, _ in first }
        }
        for metric in metrics where found[metric] == nil { found[metric] = try await other(metric, subject, window) }
        return found.filter { metrics.contains($0.key) }
    }

    /// The observations of calls that nodes count.
    private func counted(
        _ subject: Subject,
        _ window: MigrationWindow
    ) async throws(StoreError) -> [MigrationMetric: MigrationMeasurement] {
        let figures = try await store.figures(
            of: subject.scope.app,
            in: subject.tenant,
            since: window.since,
            recent: window.recentCalls ?? window.since
        )
        var found: [MigrationMetric: MigrationMeasurement] = [:]
        for figure in figures where figure.whole.samples > 0 {
            let metric = Self.metric(figure.whole.metric)
            var measurement = MigrationMeasurement(Self.value(figure.whole, metric), samples: figure.whole.samples)
            if window.recentCalls != nil, figure.recent.samples > 0 {
                measurement.recent = RecentReading(Self.value(figure.recent, metric), samples: figure.recent.samples)
            }
            found[metric] = measurement
        }
        return found
    }

    /// The share of differences, and its complement where a gate wants agreement.
    private static func value(_ figure: ParityFigure, _ metric: MigrationMetric) -> Double {
        let share = Double(figure.differences) / Double(figure.samples)
        return metric.wantsMore ? 1 - share : share
    }

    private static func metric(_ metric: ParityMetric) -> MigrationMetric {
        switch metric {
        case .observed: .observed
        case .responses: .responses
        case .reach: .reach
        case .payload: .payload
        case .unknown: .unknown
        case .senders: .senders
        }
    }

    /// The figures of pushes to devices of the vendor's dialect, by transport.
    private func pushes(
        _ subject: Subject,
        _ window: MigrationWindow
    ) async throws(StoreError) -> [MigrationMetric: MigrationMeasurement] {
        var parts = [FunnelPart(range: window.quarters, day: "")]
        if window.hasEarlierPushes {
            parts[0].range.to = window.recent.from
            parts.append(FunnelPart(range: window.recent, day: ""))
        }
        let rows = try await queries.funnel(
            of: parts,
            FunnelFilter(apps: [subject.scope.app], deviceVendors: [subject.scope.vendor.rawValue]),
            by: [.transport],
            in: subject.tenant
        )
        guard let rows else { return [:] }
        return PushShares.measurements(rows, recentPart: window.hasEarlierPushes ? 1 : nil)
    }

    private func other(
        _ metric: MigrationMetric,
        _ subject: Subject,
        _ window: MigrationWindow
    ) async throws(StoreError) -> MigrationMeasurement? {
        switch metric {
        case .devices:
            let found = try await audit.comparison(subject.scope, in: subject.tenant)
            return found.flatMap { Self.devices($0.summary) }
        case .backlog:
            let calls = try await store.waitingCalls(for: subject.upstream, in: subject.tenant)
            return MigrationMeasurement(calls.oldest / .seconds(1), samples: 1)
        case .p99: return try await latency(subject, window)
        case .optOuts:
            let found = try await store.imports(subject.scope, in: subject.tenant, since: window.since)
            return found.imports > 0 ? MigrationMeasurement(Double(found.optOuts), samples: found.imports) : nil
        // Measured together with others; absent means no data.
        case .observed, .responses, .reach, .payload, .failures, .receipts, .unknown, .senders: return nil
        }
    }

    /// The share of devices that differ. Its samples are what it is a share of: the devices of both sides, and the rows of the export that cannot be read.
    package static func devices(_ summary: ComparisonSummary) -> MigrationMeasurement? {
        let compared = summary.exported &+ summary.rejected &+ summary.onlyHere
        return summary.difference.map { MigrationMeasurement($0, samples: compared) }
    }

    /// The 99th percentile of the time to the outcome of pushes of messages in the vendor's interface and the native one: those of other dialects say nothing
    /// about the vendor. Pushes that the vendor made have no such time.
    private func latency(
        _ subject: Subject,
        _ window: MigrationWindow
    ) async throws(StoreError) -> MigrationMeasurement? {
        guard let whole = try await latencies(subject, window.quarters),
            let reading = Self.slowest(whole)
        else { return nil }
        var found = MigrationMeasurement(reading.value, samples: reading.samples)
        if window.hasEarlierPushes {
            found.recent = try await latencies(subject, window.recent).flatMap(Self.slowest)
        }
        return found
    }

    private func latencies(
        _ subject: Subject,
        _ range: QuarterRange
    ) async throws(StoreError) -> LatencyHistogram? {
        let answer = try await queries.latencies(
            in: range,
            apps: [subject.scope.app],
            vendors: [subject.scope.vendor, .native],
            by: [],
            groupLimit: 16,
            of: subject.tenant
        )
        guard case .groups(let groups) = answer else { return nil }
        return groups.first { $0.kind == .delivery }?.histogram
    }

    /// The 99th percentile. Its margin: as many pushes as chance explains may be slower than it.
    package static func slowest(_ histogram: LatencyHistogram) -> RecentReading? {
        let (share, count) = (0.99, Double(histogram.count))
        guard count > 0, let slowest = histogram.percentile(share) else { return nil }
        let chance = RecentReading.deviations * (share * (1 - share) / count).squareRoot() + 1 / count
        let usual = histogram.percentile(max(0, share - chance)) ?? slowest
        return RecentReading(
            Double(slowest) / 1000,
            samples: Int(clamping: histogram.count),
            margin: Double(slowest - usual) / 1000
        )
    }
}

/// The pushes of both sides, and their outcomes. Pure.
package struct PushShares: Sendable, Hashable {
    /// The pushes of one side.
    package struct Side: Sendable, Hashable {
        package var delivered: Int64 = 0
        package var received: Int64 = 0
        package var failed: Int64 = 0

        mutating func add(_ counts: StageCounts) {
            delivered &+= counts.sum([.accepted, .uncertain])
            received &+= counts[.received]
            failed &+= counts[.rejected]
        }
    }

    /// Those that the gateway made itself.
    package var moved = Side()
    /// Those that the vendor made, for the gateway or for a caller.
    package var others = Side()

    package init() {}

    /// - Parameter rows: counts by transport.
    package init(_ rows: [CountedDeliveries]) {
        for row in rows {
            guard let transport = row.group.values[.transport] else { continue }
            if transport.isEmpty || transport == FunnelFilter.noTransport {
                // Nothing was sent. A push that the gateway could not make is a failure; all others of these were not to be made.
                moved.failed &+= row.counts[.unsendable]
            } else if transport.contains(":") {
                // `upstream:CREDENTIAL` and `observed:DIALECT`.
                others.add(row.counts)
            } else {
                moved.add(row.counts)
            }
        }
    }

    /// `failures` of the gateway's pushes, and `receipts`: the rate of receipts of the moved ones, divided by that of the others. The rollout is a random split, so that
    /// both would be equal.
    package var measurements: [MigrationMetric: MigrationMeasurement] {
        var found: [MigrationMetric: MigrationMeasurement] = [:]
        let ended = moved.delivered &+ moved.failed
        if ended > 0 {
            found[.failures] = MigrationMeasurement(Double(moved.failed) / Double(ended), samples: Int(clamping: ended))
        }
        if moved.delivered > 0, others.delivered > 0 {
            let rate = Double(moved.received) / Double(moved.delivered)
            let other = Double(others.received) / Double(others.delivered)
            // No receipt of the vendor's pushes: there is nothing to compare with.
            if other > 0 {
                let samples = Int(clamping: min(moved.delivered, others.delivered))
                found[.receipts] = MigrationMeasurement(rate / other, samples: samples)
            }
        }
        return found
    }

    /// The figures of a step.
    ///
    /// - Parameters:
    ///   - rows: counts by transport.
    ///   - part: the part of them that has the last quarter hours; nil: the step has no earlier ones.
    /// - Returns: the figures that have data.
    package static func measurements(
        _ rows: [CountedDeliveries],
        recentPart part: Int?
    ) -> [MigrationMetric: MigrationMeasurement] {
        var found = PushShares(rows).measurements
        // Receipts come later than their pushes, and those of the two sides at different times: the quotient of a short time shows the times.
        if let part, let late = PushShares(rows.filter({ $0.part == part })).measurements[.failures] {
            found[.failures]?.recent = RecentReading(late.value, samples: late.samples)
        }
        return found
    }
}
