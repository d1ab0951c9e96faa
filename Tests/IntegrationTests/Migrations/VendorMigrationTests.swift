import Foundation
import Testing

/// Apps leave their vendors, by `push-gateway migration` alone, while phones and back ends use them (`Clients/migrations/README.md`).
@Suite(.serialized, .timeLimit(.minutes(60))) struct VendorMigrationTests {
    /// 40 phones, so that each vendor takes less than a minute on a machine of its own. `MIGRATION_DEVICES=2000` selects the long run.
    private static let devices = Soak.size("MIGRATION_DEVICES") ?? 40
    private static let seed = Soak.size("MIGRATION_SEED") ?? 1
    /// The processes that are killed: some of `gateway`, `database` and `stub`, separated by commas, or `none`. Nil: those of `victims(for:)`.
    private static let kills = ProcessInfo.processInfo.environment["MIGRATION_KILLS"]

    /// The gateway, and its database or the vendor: the seed decides for which vendors the one or the other, so that both are killed in each run of all vendors.
    /// The second kill costs the time in which a process starts again.
    private static func victims(for vendor: String) -> String {
        if let kills { return kills }
        let place = VendorJourney.vendors.firstIndex(of: vendor) ?? 0
        return (seed &+ place).isMultiple(of: 2) ? "gateway,database" : "gateway,stub"
    }

    /// An opt-out is at the vendor within 2 s in each run, also where debug builds share two cores with other tests. The client counts that time in turns: while it
    /// waits, it asks the gateway again and again for something else, and each of these turns counts as 0.1 s at most (`Turns` in `fleet.py`). A slow machine
    /// has slow turns, so that it does not count. If the opt-out alone waits, such as for a retry, the turns stay short and count in full.
    private static let optOutSeconds = 2
    /// The limit by the clock: the same for release builds. Debug builds get more; the limit finds a gateway that answers nothing for a while.
    private static let optOutClockSeconds = ProcessInfo.processInfo.environment["GATEWAY_PROGRAMS"] == nil ? 10 : 2

    /// The limit of each vendor's run in seconds. Nil, the default: none, because all test suites share the machine. `scripts/soak migration 40` states a
    /// minute, and runs nothing else at that time.
    private static let seconds = Soak.size("MIGRATION_SECONDS")

    /// The vendors whose runs share the machine. Short runs mostly wait for rules, counts and gates, so that three run at the same time; one with a limit of its
    /// time runs alone.
    static let batches: [[String]] = {
        let size = devices <= 100 && seconds == nil ? 3 : 1
        let vendors = VendorJourney.vendors
        return stride(from: 0, to: vendors.count, by: size).map { Array(vendors[$0..<min($0 + size, vendors.count)]) }
    }()

    @Test(arguments: batches) func anAppLeavesItsVendor(_ batch: [String]) async {
        let limit = Self.seconds.map { ["--seconds", "\($0)"] } ?? []
        await run(batch) { vendor in
            [
                "--devices", "\(Self.devices)", "--seed", "\(Self.seed)", "--kills", Self.victims(for: vendor),
                "--opt-out-seconds", "\(Self.optOutSeconds)", "--opt-out-clock-seconds", "\(Self.optOutClockSeconds)",
            ] + limit
        }
    }

    // docs/migration.md: the provisioning and the commands of all vendors and of this one, to the end of the migration, with short steps. A gate without data holds
    // `advance`. `guide.py` states what is substituted.
    @Test(arguments: batches) func everyCommandOfTheGuideRuns(_ batch: [String]) async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = folder.deletingLastPathComponent().deletingLastPathComponent()
        let guide = root.appendingPathComponent("docs/migration.md").path
        try #require(FileManager.default.fileExists(atPath: guide))
        await run(batch) { _ in ["--guide", guide] }
    }

    /// Each run goes to its end, whatever happens to the others.
    private func run(_ batch: [String], _ arguments: @escaping @Sendable (String) -> [String]) async {
        await withTaskGroup(of: Void.self) { group in
            for vendor in batch {
                group.addTask {
                    let own = arguments(vendor)
                    do {
                        let (status, log) = try await VendorJourney.run(vendor, own, name: "migration")
                        #expect(status == 0, "\(vendor) \(own): \(log.suffix(4000))")
                    } catch {
                        Issue.record(error, "\(vendor)")
                    }
                }
            }
        }
    }
}
