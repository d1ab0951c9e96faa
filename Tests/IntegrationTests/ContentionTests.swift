import CommandSupport
import Foundation
import Logging
import Model
import PostgresClient
import Testing

@testable import Gateway
@testable import GatewayBench
@testable import Secrets

/// Three nodes on one database with everything at once: a push service that refuses, a tenant with a rate, polls, receipts, cancellations and pauses.
///
/// This run takes a minute; `scripts/soak contention` sets the seconds of a long run.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct ContentionTests {
    static let seconds = Soak.size("SOAK_CONTENTION_SECONDS") ?? 24
    static let devices = Soak.size("SOAK_CONTENTION_DEVICES") ?? 2500
    /// A push in 40 ms over 24 connections of 50 streams: the gateway is the bottleneck, not the push service.
    private static let simulator = ["--mode", "script", "--latency-ms", "40", "--max-streams", "50"]

    /// Of a hundred pushes, two get 429, two get 503, and one gets 503 with the time after which it may be repeated.
    private static let faults: JSON = [
        ["share": .number("0.02"), "status": 429], ["share": .number("0.02"), "status": 503],
        ["share": .number("0.01"), "status": 503, "retryAfter": 2],
    ]

    /// The pushes of one tenant are at most 100 per second over all nodes. Its app, and the dialect whose devices poll, follow the demo's tenant.
    private static func tenants(_ text: String) throws -> String {
        let metered = text.replacing("tenants:\n", with: "")
            .replacing("  - id: acme", with: "  - id: metered").replacing("name: backend", with: "name: metered")
            .replacing("DEMO_API_KEY", with: "METERED_API_KEY")
            .replacing("{ id: apple, kind", with: "{ id: apple, pushesPerSecond: 100, kind")
        let own = metered.split(separator: "\n", omittingEmptySubsequences: false).filter {
            !$0.contains("rationalowl:")
        }
        try #require(metered != text)
        return text + "\n          ipns: { appId: hr.mobile }\n"
            + own.joined(separator: "\n").replacing("        bindings:", with: "")
    }

    @Test func nothingDeadlocksOrCollapsesUnderFaults() async throws {
        let cluster = try Cluster(nodes: 3, arguments: ["--retry-scale", "0.01"], simulatorArguments: Self.simulator)
        let meteredKey = APIKeys.make(SystemIdentifiers())
        cluster.changeTenants = Self.tenants
        cluster.applyEnvironment = ["METERED_API_KEY": meteredKey]
        try await Soak.with(cluster) { cluster in
            try await cluster.world.makeAudience(Self.devices)
            try await cluster.withDatabase { database in
                try await BenchAudience(engine: database.engine, tenant: "metered", app: "shop").make(2000)
            }
            try await nameStatements(cluster)
            let load = try BackgroundLoad(cluster, devices: Self.devices, meteredKey: meteredKey)
            try await load.start()
            let (messages, ratio) = try await campaigns(cluster, load)
            try await load.stop()
            try await cluster.world.clearScript()
            try await eventually("every slice is done", within: .seconds(180), every: .milliseconds(200)) {
                try await cluster.openSlices() == 0
            }
            let deadlocks = try await deadlocks(cluster)
            print(
                "\(messages.count) campaigns, \(load.summary), \(deadlocks) deadlocks, with faults \(ratio) of the rate without"
            )
            // One was seen in a minute on a slow machine. The pool repeats the transaction. A long run must have none.
            #expect(deadlocks <= (Self.seconds >= 300 ? 0 : 1))
            // A minute has two or three pairs of campaigns, whose ratio varies by a third; ten minutes average that out.
            #expect(ratio >= (Self.seconds >= 300 ? 0.8 : 0.5))
            #expect(load.problems == [])
            let expired = try await cluster.number(
                "SELECT count(*) AS number FROM gateway.delivery WHERE state = 'expired'"
            )
            #expect(expired == 0)
            #expect(try await cluster.world.pairs().repeats == 0)
            try await cluster.expectEqualCounts(of: messages)
        }
    }

    /// Lets the server log the statements of a deadlock. The product keeps statements out of the log, because they may contain secrets.
    private func nameStatements(_ cluster: Cluster) async throws {
        let url = try await cluster.withDatabase { $0.adminConnectionString }
        let admin = try await PostgresConnection.connect(
            PostgresConfiguration(url),
            logger: Logger(label: "contention")
        )
        try await admin.script("ALTER SYSTEM SET log_error_verbosity = 'default'")
        try await admin.script("SELECT pg_reload_conf()")
        await admin.close()
    }

    /// Sends campaigns in pairs, one of them with faults, until the time is over. Returns their ids, and the rate with faults as a share of the rate
    /// without.
    private func campaigns(_ cluster: Cluster, _ load: BackgroundLoad) async throws -> (
        messages: [String], ratio: Double
    ) {
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var messages: [String] = []
        var (calm, faulty) = (Duration.zero, Duration.zero)
        // The first one opens the connections.
        _ = try await time(of: &messages, cluster, load)
        repeat {
            calm += try await time(of: &messages, cluster, load)
            try await cluster.world.script(Self.faults)
            faulty += try await time(of: &messages, cluster, load)
            try await cluster.world.clearScript()
        } while ContinuousClock.now < end
        return (messages, calm / faulty)
    }

    /// Sends one campaign, and returns the time until nine tenths of its deliveries are settled: the others may have to wait.
    private func time(
        of messages: inout [String],
        _ cluster: Cluster,
        _ load: BackgroundLoad
    ) async throws -> Duration {
        let started = ContinuousClock.now
        let id = try await cluster.world.sendToEveryone("campaign \(messages.count)")
        messages.append(id)
        load.follow(id)
        try await eventually("nine tenths of \(id) are settled", within: .seconds(180), every: .milliseconds(100)) {
            let settled = try await cluster.world.native("GET", "/v1/messages/\(id)").json?["funnel"]?["sent"]?.int
            return settled ?? 0 >= Int64(Self.devices * 9 / 10)
        }
        return ContinuousClock.now - started
    }

    /// The deadlocks that PostgreSQL has counted and logged. A session reports its own at the end of a later transaction, at most once per second.
    private func deadlocks(_ cluster: Cluster) async throws -> Int {
        let logged = try cluster.world.reports(of: "deadlock detected")
        let counted = try await cluster.number(
            "SELECT deadlocks AS number FROM pg_stat_database WHERE datname = current_database()"
        )
        for report in logged { print(report) }
        return max(logged.count, counted)
    }
}
