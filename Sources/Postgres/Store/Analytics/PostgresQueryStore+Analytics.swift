package import Model
import PostgresClient

extension PostgresQueryStore {
    /// The timing of an app. Nil: the tenant does not have the app.
    ///
    /// - Throws: `StoreError`.
    package func timing(of app: AppID, in tenant: TenantID) async throws(StoreError) -> AppTiming? {
        try await asStore { () throws(PostgresError) in
            let rows = try await call.run(FunnelSQL.appDefaults(.id(tenant), .id(app)), tenant: tenant.rawValue)
            return try rows.first.map { (row) throws(PostgresError) in TimingCoding.read(try row.object("defaults")) }
        }
    }

    /// The end of the time whose counts are merged into days of their app's time zone; nil: there are none.
    ///
    /// - Throws: `StoreError`.
    package func mergedCounts(of tenant: TenantID) async throws(StoreError) -> Timestamp? {
        try await asStore { () throws(PostgresError) in
            let rows = try await call.run(FunnelSQL.merged(.id(tenant)), tenant: tenant.rawValue)
            return try rows.first.flatMap { (row) throws(PostgresError) in
                try row.optionalInt("rolled").map { QuarterRange(from: Int32(clamping: $0), to: .max).start }
            }
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
    ///   - tenant: whose deliveries.
    /// - Returns: rows with deliveries, in no order; nil if they are more than `funnelRowLimit`.
    /// - Throws: `StoreError`.
    package func funnel(
        of parts: [FunnelPart],
        _ filter: FunnelFilter,
        by groupings: Set<FunnelGrouping>,
        in tenant: TenantID
    ) async throws(StoreError) -> [CountedDeliveries]? {
        guard let first = parts.first, let last = parts.last else { return [] }
        let range = QuarterRange(from: first.range.from, to: last.range.to)
        // The targets of a transport follow from the outcomes of all.
        let needsTransports = groupings.contains(.transport) || !filter.transports.isEmpty
        var whole = filter
        whole.transports = []
        let statement = FunnelSQL.funnel.with(
            Self.parameters(tenant, range, whole, needsTransports ? groupings.union([.transport]) : groupings)
                + [.int32s(parts.map(\.range.from)), .int(Self.funnelRowLimit + 1)]
        )
        let rows = try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                CountedDeliveries(
                    part: try row.int("part") - 1,
                    group: try Self.group(row),
                    deviceVendor: try Self.deviceVendor(row),
                    counts: try Self.counts(row)
                )
            }
        }
        guard rows.count <= Self.funnelRowLimit else { return nil }
        guard needsTransports else { return rows }
        return CountedDeliveries.byTransport(rows).filter { row in
            filter.transports.isEmpty || filter.transports.contains(row.group.values[.transport] ?? "")
        }.map { row in
            var row = row
            if !groupings.contains(.transport) { row.group.values[.transport] = nil }
            return row
        }
    }

    /// Counts lost deliveries by stage, reason and group. Outcomes without a reason are not included.
    ///
    /// - Throws: `StoreError`.
    package func losses(
        in range: QuarterRange,
        _ filter: FunnelFilter,
        by groupings: Set<FunnelGrouping>,
        of tenant: TenantID
    ) async throws(StoreError) -> [FunnelLoss] {
        let parameters = Self.parameters(tenant, range, filter, groupings)
        let statement = FunnelSQL.losses.with(parameters + [.bool(groupings.contains(.deviceVendor))])
        return try await asStore { () throws(PostgresError) in
            try await call.run(statement, tenant: tenant.rawValue).rows { (row) throws(PostgresError) in
                var group = try Self.group(row)
                if groupings.contains(.deviceVendor) { group.values[.deviceVendor] = try Self.deviceVendor(row) }
                return FunnelLoss(
                    stage: FunnelStage(rawValue: try row.text("stage")) ?? .unsendable,
                    reason: try row.text("reason"),
                    group: group,
                    count: try row.int64("count")
                )
            }
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
        StageCounts([
            .targets: try row.int64("targets"), .suppressed: try row.int64("suppressed"),
            .canceled: try row.int64("canceled"), .expired: try row.int64("expired"),
            .expiredTried: try row.int64("expired_tried"), .unsendable: try row.int64("unsendable"),
            .accepted: try row.int64("accepted"), .uncertain: try row.int64("uncertain"),
            .rejected: try row.int64("rejected"), .received: try row.int64("received"), .read: try row.int64("read"),
        ])
    }
}
