import Adapters
import AnswerShapes
import EngineStore
import GatewayHTTP
import Hummingbird
import Model
import Store

extension NativeAPI {
    func showFunnel(_ call: NativeCall<AnalyticsOperations.FunnelInput>) async throws(Problem) -> Response {
        let isCompared = try call.compare != nil
        let question = try await question(call, comparing: isCompared)
        // Both ranges are parts of one question, and so of one snapshot.
        let earlier = isCompared ? [FunnelPart(range: question.range.previous, day: "")] : []
        let parts = earlier + [FunnelPart(range: question.range, day: "")]
        let groups = try await groups(question, parts, call.tenant)
        let counted = Self.split(question, groups, part: parts.count - 1)
        var previous: AnalyticsOperations.Previous?
        if let range = earlier.first?.range {
            let before = Self.split(question, groups, part: 0)
            previous = AnalyticsOperations.Previous(range: range, total: before.total, splits: before.splits)
        }
        let answer = AnalyticsOperations.Counted(
            question: question,
            total: counted.total,
            splits: counted.splits,
            previous: previous
        )
        guard question.format == .csv else { return .json(AnalyticsOperations.counted.json(answer)) }
        let groupings = AnalyticsShapes.ordered(question.groupings)
        func rows(_ range: QuarterRange, _ total: FunnelCounts, _ splits: [AnalyticsShapes.Split]) -> [[String]] {
            let whole = AnalyticsShapes.Split(group: FunnelGroup(), counts: total)
            return (groupings.isEmpty ? [whole] : splits).map { split in
                [range.start.rfc3339, range.end.rfc3339]
                    + AnalyticsShapes.cells(split.group, question.groupings) + AnalyticsShapes.cells(split.counts)
            }
        }
        return AnalyticsShapes.csv(
            ["from", "to"] + groupings.map(\.rawValue) + AnalyticsShapes.columns,
            rows(question.range, counted.total, counted.splits)
                + (previous.map { rows($0.range, $0.total, $0.splits) } ?? []),
            AnalyticsShapes.notes(question.zone, question.merged)
        )
    }

    /// The counts of one part as a whole and by group.
    private static func split(
        _ question: FunnelQuestion,
        _ groups: [FunnelGroup: [Int: FunnelCounts]],
        part: Int
    ) -> (total: FunnelCounts, splits: [AnalyticsShapes.Split]) {
        let splits = groups.keys.sorted().compactMap { group in
            groups[group]?[part].map { AnalyticsShapes.Split(group: group, counts: $0) }
        }
        let total = splits.reduce(FunnelCounts()) { $0 + $1.counts }
        return (total, question.groupings.isEmpty ? [] : splits)
    }

    /// The counts by group and part.
    private func groups(
        _ question: FunnelQuestion,
        _ parts: [FunnelPart],
        _ tenant: TenantID
    ) async throws(Problem) -> [FunnelGroup: [Int: FunnelCounts]] {
        let needed = previews.vendors.receiptSettings
        let rows = try await asked { () async throws(StoreError) in
            let settings = ReceiptSettings(
                dialects: Array(needed.keys),
                apps: needed.isEmpty ? [] : try await stores.operators.apps(withSettings: needed, in: tenant)
            )
            return try await queries.funnel(of: parts, question.filter, by: question.groupings, settings, in: tenant)
        }
        guard let rows else { throw Self.tooManyGroups }
        return sums(rows, question)
    }

    private static let tooManyGroups = Problem.invalid(
        "by",
        "makes too many groups: choose a longer interval, a shorter range or fewer groups"
    )

    private func sums(
        _ rows: [CountedDeliveries],
        _ question: FunnelQuestion
    ) -> [FunnelGroup: [Int: FunnelCounts]] {
        var groups: [FunnelGroup: [Int: FunnelCounts]] = [:]
        for row in rows {
            var group = row.group
            if question.groupings.contains(.deviceVendor) { group.values[.deviceVendor] = row.deviceVendor }
            let reporting = previews.vendors.reporting(of: row.deviceVendor)
            groups[group, default: [:]][row.part, default: FunnelCounts()]
                .add(row.counts, row.isConfigured ? reporting : reporting.withoutSetting)
        }
        return groups
    }

    func showTimeseries(_ call: NativeCall<AnalyticsOperations.SeriesInput>) async throws(Problem) -> Response {
        let question = try await question(call)
        let interval = try call.interval
        let parts = try await parts(of: question, by: interval, call.tenant)
        var groups = try await groups(question, parts, call.tenant)
        if question.groupings.isEmpty, groups.isEmpty { groups[FunnelGroup()] = [:] }
        guard groups.count * parts.count <= AnalyticsOperations.pointLimit else {
            throw .invalid(
                "by",
                "makes \(groups.count) series of \(parts.count) parts; an answer has at most \(AnalyticsOperations.pointLimit) points: "
                    + "choose a longer interval, a shorter range or fewer groups"
            )
        }
        let lines = groups.keys.sorted().map { group in
            AnalyticsOperations.Line(
                group: group,
                points: parts.indices.map { part in
                    .init(part: parts[part], counts: groups[group]?[part] ?? FunnelCounts())
                }
            )
        }
        guard question.format == .csv else {
            let series = AnalyticsOperations.Series(question: question, interval: interval, lines: lines)
            return .json(AnalyticsOperations.series.json(series))
        }
        let groupings = AnalyticsShapes.ordered(question.groupings)
        return AnalyticsShapes.csv(
            ["start", "day"] + groupings.map(\.rawValue) + AnalyticsShapes.columns,
            lines.flatMap { line in
                line.points.map { point in
                    [point.part.range.start.rfc3339, point.part.day]
                        + AnalyticsShapes.cells(line.group, question.groupings) + AnalyticsShapes.cells(point.counts)
                }
            },
            AnalyticsShapes.notes(question.zone, question.merged)
        )
    }

    private func parts(
        of question: FunnelQuestion,
        by interval: FunnelInterval,
        _ tenant: TenantID
    ) async throws(Problem) -> [FunnelPart] {
        let quarters = Int(question.range.to) - Int(question.range.from)
        let limit = AnalyticsOperations.partLimit
        // Before the database counts them.
        let least = interval == .quarterHour ? quarters : interval == .hour ? quarters / 4 : 0
        let parts =
            least > limit
            ? []
            : try await asked { () async throws(StoreError) in
                try await queries.parts(of: question.range, by: interval, in: question.zone, for: tenant)
            }
        guard !parts.isEmpty, parts.count <= limit else {
            throw .invalid("interval", "makes more than \(limit) parts: choose a longer one, or a shorter range")
        }
        return parts
    }

    func showLosses(_ call: NativeCall<AnalyticsOperations.LossesInput>) async throws(Problem) -> Response {
        let question = try await question(call)
        let found = try await asked { () async throws(StoreError) in
            try await queries.losses(
                in: question.range,
                question.filter,
                by: question.groupings,
                stages: AnalyticsOperations.lossStages,
                limit: AnalyticsOperations.lossLimit + 1,
                of: call.tenant
            )
        }
        guard let found else { throw Self.tooManyGroups }
        let groups = sums(found.counts, question).mapValues { $0[0] ?? FunnelCounts() }
        var losses = found.losses + unexplained(found.explained, groups)
        losses.sort { first, second in
            if first.count != second.count { return first.count > second.count }
            return (first.stage.rawValue, first.reason, first.group)
                < (second.stage.rawValue, second.reason, second.group)
        }
        let answer = AnalyticsOperations.Losses(
            question: question,
            targets: groups.values.reduce(0) { $0 + $1.stages[.targets] },
            losses: Array(losses.prefix(AnalyticsOperations.lossLimit)),
            isWhole: losses.count <= AnalyticsOperations.lossLimit
        )
        guard question.format == .csv else { return .json(AnalyticsOperations.lossList.json(answer)) }
        let groupings = AnalyticsShapes.ordered(question.groupings)
        return AnalyticsShapes.csv(
            ["stage", "reason"] + groupings.map(\.rawValue) + ["count"],
            answer.losses.map { loss in
                [loss.stage.rawValue, loss.reason] + AnalyticsShapes.cells(loss.group, question.groupings)
                    + ["\(loss.count)"]
            },
            AnalyticsShapes.notes(question.zone, question.merged)
        )
    }

    /// The lost deliveries that have no reason: those of a canceled message, for example.
    private func unexplained(_ sums: [FunnelLoss], _ groups: [FunnelGroup: FunnelCounts]) -> [FunnelLoss] {
        var explained: [FunnelGroup: [FunnelStage: Int64]] = [:]
        for loss in sums { explained[loss.group, default: [:]][loss.stage, default: 0] += loss.count }
        return groups.flatMap { group, counts in
            AnalyticsOperations.lossStages.compactMap { stage in
                let count = counts.stages[stage] - (explained[group]?[stage] ?? 0)
                return count > 0 ? FunnelLoss(stage: stage, reason: "", group: group, count: count) : nil
            }
        }
    }

    func showVendors(_ call: NativeCall<NoInput>) async throws(Problem) -> Response {
        .json(AnalyticsOperations.vendorList(Array(previews.vendors.byVendor.values)))
    }
}
