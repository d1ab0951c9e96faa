package import Migration
package import Model
import Store

/// The figures of the gates `devices` and `receipts` outside of a migration, for each dialect of an app (docs/routing.md#parity).
package struct ParityReadings: Sendable {
    /// The last comparison of an export with the devices of a dialect.
    package struct Devices: Sendable {
        package var dialect: Vendor
        package var at: Timestamp
        package var age: Duration
        package var summary: ComparisonSummary

        package init(dialect: Vendor, at: Timestamp, age: Duration, summary: ComparisonSummary) {
            self.dialect = dialect
            self.at = at
            self.age = age
            self.summary = summary
        }

        /// Whether gates use it.
        package var isUsable: Bool { age < ComparisonSummary.usableFor }
    }

    /// The pushes of both sides to the devices of a dialect.
    package struct Receipts: Sendable {
        package var dialect: Vendor
        package var shares: PushShares

        /// Nil: no push of the vendor was received, so that there is nothing to compare with.
        package var measurement: MigrationMeasurement? { shares.measurements[.receipts] }
    }

    package var devices: [Devices]
    package var receipts: [Receipts]

    package init(devices: [Devices], receipts: [Receipts]) {
        self.devices = devices
        self.receipts = receipts
    }

    /// The dialects whose devices got pushes from both sides: one side alone is not compared.
    ///
    /// - Parameter rows: counts by transport.
    /// - Returns: one for each of these dialects, by name.
    package static func receipts(_ rows: [CountedDeliveries]) -> [Receipts] {
        let found = Dictionary(grouping: rows, by: \.deviceVendor).compactMap { (dialect, rows) -> Receipts? in
            let shares = PushShares(rows)
            guard dialect != FunnelFilter.unknownDialect, shares.moved.delivered > 0, shares.others.delivered > 0 else {
                return nil
            }
            return Receipts(dialect: Vendor(rawValue: dialect), shares: shares)
        }
        return found.sorted { $0.dialect.rawValue < $1.dialect.rawValue }
    }
}

extension MigrationMeter {
    /// 400 days. An older comparison says nothing about the devices of today.
    private static let comparisonsShownFor = Duration.seconds(400 * 86_400)

    /// Reads what parity states without observed calls. The pushes are those of messages due since a time, at most of the last seven days.
    ///
    /// - Parameters:
    ///   - app: whose devices.
    ///   - dialects: those whose comparisons are looked for.
    ///   - tenant: the owner of the app.
    ///   - since: the beginning.
    ///   - now: the end.
    /// - Returns: the figures that have data.
    /// - Throws: `StoreError`.
    package func readings(
        of app: AppID,
        dialects: [Vendor],
        in tenant: TenantID,
        since: Timestamp,
        now: Timestamp
    ) async throws(StoreError) -> ParityReadings {
        var devices: [ParityReadings.Devices] = []
        for dialect in dialects {
            let scope = AppScope(app: app, vendor: dialect)
            let last = try await audit.comparison(scope, in: tenant, within: Self.comparisonsShownFor)
            guard let last else { continue }
            let age = Duration.milliseconds(max(0, now.milliseconds - last.at.milliseconds))
            devices.append(
                ParityReadings.Devices(dialect: dialect, at: last.at, age: age, summary: last.summary)
            )
        }
        let rows = try await queries.funnel(
            of: [FunnelPart(range: MigrationWindow(from: since, to: now).quarters, day: "")],
            FunnelFilter(apps: [app]),
            by: [.transport],
            in: tenant
        )
        return ParityReadings(devices: devices, receipts: ParityReadings.receipts(rows ?? []))
    }
}
