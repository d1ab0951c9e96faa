import AnswerShapes
import GatewayHTTP
import Hummingbird
import Model
import Store

extension NativeAPI {
    func showLatency(_ call: NativeCall<AnalyticsOperations.LatencyInput>) async throws(Problem) -> Response {
        let range = try await range(call)
        let (apps, vendors, groupings) = (try call.app, try call.vendor, Set(try call.by))
        // Before the figures, so that they contain at least what it says.
        let span = try await asked { () async throws(StoreError) in try await queries.countedSpan(of: call.tenant) }
        let found = try await asked { () async throws(StoreError) in
            try await queries.latencies(
                in: range.quarters,
                apps: apps,
                vendors: vendors,
                by: groupings,
                groupLimit: AnalyticsOperations.latencyLimit,
                of: call.tenant
            )
        }
        var latencies: [GroupLatencies]
        switch found {
        case .groups(let groups): latencies = groups
        case .tooManyRows:
            throw .invalid("to", "makes a question about too many latencies: choose a shorter range or fewer apps")
        case .tooManyGroups:
            throw .invalid("by", "makes more than \(AnalyticsOperations.latencyLimit) groups: choose fewer")
        }
        let order = LatencyKind.allCases
        latencies.sort { first, second in
            if first.kind != second.kind {
                return (order.firstIndex(of: first.kind) ?? 0) < (order.firstIndex(of: second.kind) ?? 0)
            }
            return first.group < second.group
        }
        let merged = try await merged(range, apps, latencies: true, of: call.tenant)
        guard try call.format == .csv else {
            let list = AnalyticsOperations.latencyList
            return .json(list.json(.init(range: range, span: span, merged: merged, latencies: latencies)))
        }
        return AnalyticsShapes.csv(
            ["kind"] + AnalyticsShapes.ordered(groupings).map(\.rawValue) + ["count", "negative"]
                + AnalyticsOperations.percentiles.map(\.name),
            latencies.map { line in
                [line.kind.rawValue] + AnalyticsShapes.cells(line.group, groupings)
                    + ["\(line.histogram.count)", "\(line.histogram.negative)"]
                    + AnalyticsOperations.percentiles.map { "\(line.histogram.percentile($0.share) ?? 0)" }
            },
            AnalyticsShapes.notes(range.zone, merged, span)
        )
    }

    func showDeviceFigures(_ call: NativeCall<AnalyticsOperations.DevicesInput>) async throws(Problem) -> Response {
        let range = try await range(call)
        let (apps, isByApp, interval) = (try call.app, try !call.by.isEmpty, try call.interval)
        let span = try await asked { () async throws(StoreError) in try await queries.countedSpan(of: call.tenant) }
        let found = try await asked { () async throws(StoreError) in
            try await queries.deviceFigures(of: range.days, apps: apps, in: call.tenant)
        }
        guard let found else {
            throw .invalid("to", "makes a question about too many days of apps: choose a shorter range or fewer apps")
        }
        let answer = Self.devices(found, range, span, isByApp: isByApp, interval)
        guard try call.format == .csv else { return .json(AnalyticsOperations.deviceList.json(answer)) }
        let columns = AnalyticsOperations.deviceColumns
        let groupings: Set<FunnelGrouping> = isByApp ? [.app] : []
        let rows: [(start: String?, group: FunnelGroup, figures: DeviceFigures)]
        if interval != nil {
            rows = answer.parts.map { ($0.day, $0.group, $0.figures) }
        } else if isByApp {
            rows = answer.groups.map { (nil, $0.group, $0.figures) }
        } else {
            rows = [(nil, FunnelGroup(), answer.total)]
        }
        return AnalyticsShapes.csv(
            (interval == nil ? [] : ["day"]) + (isByApp ? ["app"] : []) + columns.map(\.name),
            rows.map { row in
                (row.start.map { [$0] } ?? []) + AnalyticsShapes.cells(row.group, groupings)
                    + columns.map { "\($0.value(row.figures))" }
            },
            AnalyticsShapes.notes(range.zone, nil, span)
        )
    }

    /// Merges the days of apps into a total, groups and parts.
    private static func devices(
        _ found: [DayFigures],
        _ range: AnalyticsRange,
        _ span: CountedSpan,
        isByApp: Bool,
        _ interval: DayInterval?
    ) -> AnalyticsOperations.Devices {
        struct Part: Hashable {
            var start: Int32
            var group: FunnelGroup
        }
        var total = DeviceFigures()
        var groups: [FunnelGroup: DeviceFigures] = [:]
        var parts: [Part: DeviceFigures] = [:]
        for day in found {
            let group = isByApp ? FunnelGroup([.app: day.app.rawValue]) : FunnelGroup()
            total.merge(day.figures)
            if isByApp { groups[group, default: DeviceFigures()].merge(day.figures) }
            guard let interval else { continue }
            parts[Part(start: interval.start(of: day.day), group: group), default: DeviceFigures()].merge(day.figures)
        }
        return AnalyticsOperations.Devices(
            range: range,
            span: span,
            total: total,
            groups: groups.keys.sorted().map { .init(group: $0, figures: groups[$0] ?? DeviceFigures()) },
            parts: parts.keys.sorted { ($0.start, $0.group) < ($1.start, $1.group) }.map {
                .init(start: $0.start, group: $0.group, figures: parts[$0] ?? DeviceFigures())
            }
        )
    }
}
