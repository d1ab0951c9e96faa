import ArgumentParser
import CommandSupport
import EngineStore
import Foundation
import Gateway
import Model
import Store

/// `analytics recount`: counts compared with deliveries.
struct RecountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recount",
        abstract: "Compare the counts with the deliveries day by day, and correct them, while the gateway runs.",
        discussion: """
            Each day of a tenant is one transaction, so an interrupted recount can simply be repeated. Days from which the retention has begun to \
            remove messages or deliveries, and days whose quarter hours were merged (after 92 days), are refused. Exit status 1: a dry run has found differences.
            """
    )

    @Option(help: "The first UTC day, such as 2026-11-20. Default: six days ago.") var from: String?
    @Option(help: "The last UTC day. Default: today.") var to: String?
    @Option(help: "Only this tenant. Default: all.") var tenant: String?
    @Flag(help: "Show the differences and change nothing.") var dryRun = false
    @Flag(help: "Print the differences as JSON.") var json = false
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let found = try await common.withDatabase(isAudited: !dryRun) { _, database in
            let recount = PostgresRecount(engine: database.engine)
            let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970))
            let days = try days(now)
            let tenants = try await recount.tenants(tenant.map { TenantID($0) }, at: now)
            guard !tenants.isEmpty else { throw CommandFailure("analytics recount: unknown tenant") }
            for tenant in tenants where tenant.firstDay > days.lowerBound {
                throw CommandFailure(
                    "analytics recount: --from must be \(Self.text(tenant.firstDay)) or later for the tenant \(tenant.id): "
                        + "earlier days are being removed by its retention, or are kept as whole days only",
                    isUsage: true
                )
            }
            var found: [(TenantID, CountDifference)] = []
            var bar = ProgressBar()
            let total = tenants.count * days.count
            for (index, tenant) in tenants.enumerated() {
                for (place, day) in days.enumerated() {
                    let differences =
                        dryRun
                        ? try await recount.compare(day: day, of: tenant.id)
                        : try await recount.correct(day: day, of: tenant.id, by: common.actor)
                    guard let differences else {
                        throw CommandFailure(
                            "analytics recount: meanwhile \(Self.text(day)) of the tenant \(tenant.id) is being removed by its retention, or is kept "
                                + "as a whole day only; the days before it are done"
                        )
                    }
                    found += differences.map { (tenant.id, $0) }
                    let done = index * days.count + place + 1
                    bar.show(done: done, of: total, rows: found.count, isLast: done == total)
                }
            }
            return found
        }
        show(found)
        if dryRun, !found.isEmpty { throw ExitCode.failure }
    }

    /// The days of the options, since 1970.
    private func days(_ now: Timestamp) throws -> ClosedRange<Int32> {
        func day(_ text: String?, _ option: String, _ standard: Int32) throws -> Int32 {
            guard let text else { return standard }
            guard let time = Timestamp(rfc3339: "\(text)T00:00:00Z") else {
                throw CommandFailure("analytics recount: \(option) must be a day such as 2026-11-20", isUsage: true)
            }
            return Int32(clamping: time.seconds / 86_400)
        }
        let today = Int32(clamping: now.seconds / 86_400)
        let last = try day(to, "--to", today)
        let first = try day(from, "--from", min(today, last) - 6)
        guard first <= last, last - first < 400 else {
            throw CommandFailure("analytics recount: --to must be 0 to 399 days after --from", isUsage: true)
        }
        return first...last
    }

    private static func text(_ day: Int32) -> String { Timestamp(seconds: Int64(day) * 86_400).rfc3339Date }

    private func show(_ found: [(TenantID, CountDifference)]) {
        if json {
            Console.print(.array(found.map { .object(Self.shape($0, $1)) }))
            return
        }
        guard !found.isEmpty else { return Console.print("the counts equal the deliveries") }
        for (tenant, difference) in found {
            let place = [
                difference.start.rfc3339, tenant.rawValue, difference.app.rawValue, difference.vendor.rawValue,
                difference.transport.isEmpty ? FunnelFilter.noTransport : difference.transport,
                difference.message.map { "message \($0)" } ?? "",
            ].filter { !$0.isEmpty }.joined(separator: " ")
            let sign = difference.missing > 0 ? "+" : ""
            Console.print("\(place): \(difference.key) \(sign)\(difference.missing)")
        }
        Console.print(dryRun ? "nothing was changed" : "corrected")
    }

    private static func shape(_ tenant: TenantID, _ difference: CountDifference) -> JSONObject {
        JSONObject([
            ("tenant", .string(tenant.rawValue)), ("start", .string(difference.start.rfc3339)),
            ("app", .string(difference.app.rawValue)), ("vendor", .string(difference.vendor.rawValue)),
            ("deviceVendor", .string(difference.deviceVendor)), ("transport", .string(difference.transport)),
            ("message", difference.message.map { .string($0.description) } ?? .null),
            ("count", .string(difference.key)), ("missing", .int(difference.missing)),
        ])
    }
}
