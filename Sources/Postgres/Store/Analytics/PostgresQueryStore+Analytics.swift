package import Model
import PostgresClient

extension PostgresQueryStore {
    /// The timing of apps. Those that the tenant does not have are missing.
    ///
    /// - Throws: `StoreError`.
    package func timing(of apps: [AppID], in tenant: TenantID) async throws(StoreError) -> [AppID: AppTiming] {
        try await asStore { () throws(PostgresError) in
            let statement = FunnelSQL.appDefaults(.id(tenant), .strings(apps.map(\.rawValue)))
            var found: [AppID: AppTiming] = [:]
            for row in try await call.run(statement, tenant: tenant.rawValue) {
                found[try row.id("app_id")] = TimingCoding.read(try row.object("defaults"))
            }
            return found
        }
    }

    /// Splits a range on the clock of a zone. One part per quarter hour is computed without the database.
    ///
    /// - Throws: `StoreError`.
    package func parts(
        of range: QuarterRange,
        by interval: FunnelInterval,
        in zone: TimeZoneName,
        for tenant: TenantID
    ) async throws(StoreError) -> [FunnelPart] {
        let statement = FunnelSQL.parts(
            .int32(range.from),
            .int32(range.to),
            .string(interval == .quarterHour ? "hour" : interval.rawValue),
            .string(zone.text)
        )
        let rows = try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                (first: Int32(clamping: try row.int("quarter")), day: try row.text("day"))
            }
        }
        return rows.indices.flatMap { index -> [FunnelPart] in
            let end = index + 1 < rows.count ? rows[index + 1].first : range.to
            guard interval == .quarterHour else {
                return [FunnelPart(range: QuarterRange(from: rows[index].first, to: end), day: rows[index].day)]
            }
            return (rows[index].first..<max(end, rows[index].first)).map {
                FunnelPart(range: QuarterRange(from: $0, to: $0 + 1), day: rows[index].day)
            }
        }
    }

    /// 50,000 rows of one question: about 50 MB here.
    package static let funnelRowLimit = 50_000

    /// Counts deliveries by part, group and dialect of the device.
    ///
    /// - Parameters:
    ///   - parts: ascending and adjacent; at least one.
    ///   - filter: the deliveries to count.
    ///   - groupings: the properties by which they are split.
    ///   - settings: the apps whose devices can report receipts.
    ///   - tenant: whose deliveries.
    /// - Returns: rows with deliveries, in no order; nil if they are more than `funnelRowLimit`.
    /// - Throws: `StoreError`.
    package func funnel(
        of parts: [FunnelPart],
        _ filter: FunnelFilter,
        by groupings: Set<FunnelGrouping>,
        _ settings: ReceiptSettings = ReceiptSettings(),
        in tenant: TenantID
    ) async throws(StoreError) -> [CountedDeliveries]? {
        guard !parts.isEmpty else { return [] }
        return try await asStore { () throws(PostgresError) in
            let statement = Self.funnelStatement(parts, filter, groupings, settings, tenant)
            return try Self.funnel(try await call.run(statement, tenant: tenant.rawValue), filter, groupings)
        }
    }

    /// The targets of a transport follow from the outcomes of all.
    private static func needsTransports(_ filter: FunnelFilter, _ groupings: Set<FunnelGrouping>) -> Bool {
        groupings.contains(.transport) || !filter.transports.isEmpty
    }

    private static func funnelStatement(
        _ parts: [FunnelPart],
        _ filter: FunnelFilter,
        _ groupings: Set<FunnelGrouping>,
        _ settings: ReceiptSettings,
        _ tenant: TenantID
    ) -> Statement {
        let range = QuarterRange(from: parts.first?.range.from ?? 0, to: parts.last?.range.to ?? 0)
        var whole = filter
        whole.transports = []
        let needed = needsTransports(filter, groupings) ? groupings.union([.transport]) : groupings
        return FunnelSQL.funnel.with(
            parameters(tenant, range, whole, needed) + [
                .int32s(parts.map(\.range.from)), .int(funnelRowLimit + 1),
                .strings(settings.dialects.map(\.rawValue)), .strings(settings.apps),
            ]
        )
    }

    /// Nil: there are too many rows.
    private static func funnel(
        _ result: ResultSet,
        _ filter: FunnelFilter,
        _ groupings: Set<FunnelGrouping>
    ) throws(PostgresError) -> [CountedDeliveries]? {
        guard result.count <= funnelRowLimit else { return nil }
        let rows = try result.rows { (row) throws(PostgresError) in
            CountedDeliveries(
                part: try row.int("part") - 1,
                group: try group(row),
                deviceVendor: try deviceVendor(row),
                isConfigured: try row.bool("is_configured"),
                counts: try counts(row)
            )
        }
        guard needsTransports(filter, groupings) else { return rows }
        return CountedDeliveries.byTransport(rows).filter { row in
            filter.transports.isEmpty || filter.transports.contains(row.group.values[.transport] ?? "")
        }.map { row in
            var row = row
            if !groupings.contains(.transport) { row.group.values[.transport] = nil }
            return row
        }
    }

    /// Deliveries and losses. `losses` by stage, reason and group, the largest first; `explained`: all of them by stage and group, without a reason.
    package typealias LossCounts = (counts: [CountedDeliveries], losses: [FunnelLoss], explained: [FunnelLoss])

    /// Counts deliveries as `funnel` does, and at most `limit` losses of these stages, in one snapshot. Outcomes without a reason are not among the losses.
    ///
    /// - Returns: nil if there are more counts than `funnelRowLimit`.
    /// - Throws: `StoreError`.
    package func losses(
        in range: QuarterRange,
        _ filter: FunnelFilter,
        by groupings: Set<FunnelGrouping>,
        stages: [FunnelStage],
        limit: Int,
        of tenant: TenantID
    ) async throws(StoreError) -> LossCounts? {
        let parameters = Self.parameters(tenant, range, filter, groupings) + [.bool(groupings.contains(.deviceVendor))]
        let parts = [FunnelPart(range: range, day: "")]
        let statements = [
            FunnelSQL.snapshot(), Self.funnelStatement(parts, filter, groupings, ReceiptSettings(), tenant),
            FunnelSQL.losses.with(parameters + [.strings(stages.map(\.rawValue)), .int(limit)]),
        ]
        return try await asStore { () throws(PostgresError) -> LossCounts? in
            let results = try await call.run(Transaction(tenant: tenant.rawValue, statements))
            guard let counts = try Self.funnel(try results.result(1), filter, groupings) else { return nil }
            var found: LossCounts = (counts, [], [])
            for row in try results.result(2) {
                var group = try Self.group(row)
                if groupings.contains(.deviceVendor) { group.values[.deviceVendor] = try Self.deviceVendor(row) }
                let stage = FunnelStage(rawValue: try row.text("stage")) ?? .unsendable
                let (reason, count) = (try row.optionalText("reason"), try row.int64("count"))
                let loss = FunnelLoss(stage: stage, reason: reason ?? "", group: group, count: count)
                if reason == nil { found.explained.append(loss) } else { found.losses.append(loss) }
            }
            return found
        }
    }

    private static func parameters(
        _ tenant: TenantID,
        _ range: QuarterRange,
        _ filter: FunnelFilter,
        _ groupings: Set<FunnelGrouping>
    ) -> [PostgresValue] {
        func list(_ values: [String]) -> PostgresValue { values.isEmpty ? .null : .strings(values) }
        return [
            .id(tenant), .int32(range.from), .int32(range.to), list(filter.apps.map(\.rawValue)),
            list(filter.vendors.map(\.rawValue)),
            list(filter.deviceVendors.map { $0 == FunnelFilter.unknownDialect ? "" : $0 }),
            list(filter.transports.map { $0 == FunnelFilter.noTransport ? "" : $0 }),
            .bool(groupings.contains(.app)), .bool(groupings.contains(.vendor)),
            .bool(groupings.contains(.transport)),
        ]
    }

    /// A property by which the counts are not split is null.
    private static func group(_ row: Row) throws(PostgresError) -> FunnelGroup {
        var values: [FunnelGrouping: String] = [:]
        values[.app] = try row.optionalText("app_id")
        values[.vendor] = try row.optionalText("vendor")
        values[.transport] = try row.optionalText("transport").map { $0.isEmpty ? FunnelFilter.noTransport : $0 }
        return FunnelGroup(values)
    }

    private static func deviceVendor(_ row: Row) throws(PostgresError) -> String {
        let name = try row.text("device_vendor")
        return name.isEmpty ? FunnelFilter.unknownDialect : name
    }

    private static func counts(_ row: Row) throws(PostgresError) -> StageCounts {
        var counts = StageCounts()
        for stage in FunnelStage.allCases { counts[stage] = try row.int64(.name(stage.rawValue)) }
        return counts
    }
}
