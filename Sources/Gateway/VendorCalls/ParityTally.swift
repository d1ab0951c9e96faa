import Commands
import GatewayHTTP
import Logging
import Model
import NIOConcurrencyHelpers
import Observability
import ObservationStore

/// The observations of this node about upstreams that are not stored yet (docs/routing.md#parity). They are stored in groups, one transaction per tenant, so that no call
/// updates a row.
final class ParityTally: Sendable {
    /// 2 s: a migration sees a failure soon after it.
    static let interval = Duration.seconds(2)
    /// 10,000 groups wait while the database does not answer: of 10,000 apps one, or of 300 apps all metrics of some hours.
    static let groupLimit = 10_000
    /// 16 fields, and 1 KiB of each masked body, in one sample.
    static let fieldLimit = 16
    static let bodyLimitBytes = 1024

    struct Group: Hashable {
        var tenant: TenantID
        var app: AppID
        var metric: ParityMetric
        var hour: Int32
        var dialect: Vendor
    }

    struct Count {
        var samples = 0
        var differences = 0
        var shown: [JSONObject] = []
    }

    /// 20 reads per second are compared: each costs a look-up that the caller does not need.
    static let readsPerSecond = 20

    private struct Reads {
        var second: Int64 = 0
        var count = 0
    }

    private let reads = NIOLockedValueBox(Reads())
    private let groups = NIOLockedValueBox<[Group: Count]>([:])
    private let handler: CommandHandler
    /// The same observations by short intervals, for the gates of migrations. Nil: nothing is counted for them.
    private let recent: FigureCounts?
    private let logger: Logger

    init(handler: CommandHandler, recent: FigureCounts? = nil, logger: Logger) {
        self.handler = handler
        self.recent = recent
        self.logger = logger
    }

    /// Adds observations about a call of `binding`. The masked difference `sample` is made only if there is room to show it.
    func add(
        _ figure: ParityFigure,
        of binding: BoundCall,
        _ dialect: Vendor,
        at time: Timestamp,
        sample: () -> JSONObject? = { nil }
    ) {
        guard figure.samples > 0 else { return }
        if binding.routes?.counts(dialect) != false { recent?.add(figure, of: binding, at: time) }
        let group = Group(
            tenant: binding.tenant,
            app: binding.app,
            metric: figure.metric,
            hour: Int32(clamping: time.seconds / 3600),
            dialect: dialect
        )
        let hasRoom = groups.withLockedValue { groups -> Bool in
            guard groups[group] != nil || groups.count < Self.groupLimit else { return false }
            groups[group, default: Count()].samples += figure.samples
            groups[group, default: Count()].differences += figure.differences
            return figure.differences > 0 && groups[group, default: Count()].shown.count < ParitySample.limit
        }
        MetricName.parity.count(
            [("vendor", "\(dialect)"), ("metric", figure.metric.rawValue), ("outcome", "agrees")],
            by: max(0, figure.samples - figure.differences)
        )
        guard figure.differences > 0 else { return }
        MetricName.parity.count(
            [("vendor", "\(dialect)"), ("metric", figure.metric.rawValue), ("outcome", "differs")],
            by: figure.differences
        )
        guard hasRoom, var shown = sample() else { return }
        shown["at"] = .string(time.rfc3339)
        groups.withLockedValue { groups in
            guard groups[group] != nil else { return }
            groups[group, default: Count()].shown.append(shown)
        }
    }

    /// Whether one more read of this second may be compared.
    func takesRead(at time: Timestamp) -> Bool {
        reads.withLockedValue { reads in
            if reads.second != time.seconds { reads = Reads(second: time.seconds) }
            guard reads.count < Self.readsPerSecond else { return false }
            reads.count += 1
            return true
        }
    }

    /// Takes the groups that wait, by tenant.
    func take() -> [TenantID: [AddParity.Row]] {
        let taken = groups.withLockedValue { groups -> [Group: Count] in
            let all = groups
            groups = [:]
            return all
        }
        var rows: [TenantID: [AddParity.Row]] = [:]
        for (group, count) in taken {
            let row = AddParity.Row(
                app: group.app,
                metric: group.metric,
                hour: group.hour,
                dialect: group.dialect,
                samples: count.samples,
                differences: count.differences,
                shown: count.shown
            )
            rows[group.tenant, default: []].append(row)
        }
        return rows
    }

    /// Stores the groups that wait. A group that cannot be stored now waits for the next time.
    func store() async {
        for (tenant, rows) in take() {
            do {
                _ = try await handler.run(ParityRules.add(rows), in: tenant)
            } catch {
                putBack(rows, of: tenant)
                logger.debug(
                    "figures of parity are not stored yet; the next run tries again",
                    metadata: [LogKey.tenant: "\(tenant)", LogKey.error: "\(error)"]
                )
            }
        }
    }

    private func putBack(_ rows: [AddParity.Row], of tenant: TenantID) {
        groups.withLockedValue { groups in
            for row in rows {
                let group = Group(
                    tenant: tenant,
                    app: row.app,
                    metric: row.metric,
                    hour: row.hour,
                    dialect: row.dialect
                )
                guard groups[group] != nil || groups.count < Self.groupLimit else { continue }
                groups[group, default: Count()].samples += row.samples
                groups[group, default: Count()].differences += row.differences
                let room = max(0, ParitySample.limit - groups[group, default: Count()].shown.count)
                groups[group, default: Count()].shown += row.shown.prefix(room)
            }
        }
    }

    /// Stores the groups that wait again and again, until the task is cancelled.
    func keepStoring(every interval: Duration = ParityTally.interval) async {
        while (try? await Task.sleep(for: interval)) != nil { await store() }
    }
}
