import CommandSupport
import DatabaseSchema
import DatabaseSupport
import EmbeddedPostgres
import Foundation
import Logging
import Model
import PostgresClient
import Testing

@testable import Gateway
@testable import GatewayBench

/// I10 for one node on a database that outlives it: what PostgreSQL shows when the node has ended.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DrainTests {
    /// A node in the middle of a campaign.
    private struct Stage {
        let world: World
        let database: PostgresConnection
        /// The node's id.
        let node: String

        /// The number of slices that the node has leased.
        func leasedSlices() async throws -> Int {
            try await database.query(
                "SELECT count(*) AS number FROM gateway.slice WHERE owner = $1 AND state = 'leased'",
                [.text(node)]
            ).only().int("number")
        }

        func signal(_ number: Int32) throws { kill(try #require(world.gateway).processID, number) }

        /// Waits for the answer of `/readyz` that the node is stopping.
        func expectNotReady(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await eventually("readiness is false", every: .milliseconds(5), sourceLocation: sourceLocation) {
                let page = try await AdminPage.readiness(world.adminAddress)
                return page.status == 503 && page.text.contains("the node is stopping")
            }
        }

        /// Expects an orderly end without leases, and that the queue is complete.
        func expectReleased(within limit: Duration, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await world.gateway?.ended(within: limit, sourceLocation: sourceLocation)
            #expect(try await leasedSlices() == 0, sourceLocation: sourceLocation)
            #expect(await world.gateway?.stop() == 0, sourceLocation: sourceLocation)
            let open = try await database.query("SELECT count(*) AS number FROM gateway.slice WHERE state = 'ready'")
            #expect(try open.only().int("number") > 0, "nothing was left to release", sourceLocation: sourceLocation)
        }
    }

    /// Runs `body` when the node has sent 200 of 4,000 pushes.
    private func withCampaign(
        _ simulator: [String],
        _ arguments: [String],
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await World.onExternalDatabase(simulatorArguments: simulator, serveArguments: arguments) {
            world,
            cluster,
            _ in
            try await world.startSimulator()
            let migrated = try await world.command(["database", "migrate"])
            try #require(migrated.status == 0, "\(migrated.log)")
            try world.makeMasterKey()
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await world.startGateway()
            let engine = PostgresPool(
                PostgresConfiguration(cluster.connectionString(role: .engine)),
                logger: Logger(label: "test")
            )
            try await BenchAudience(engine: engine, tenant: "acme", app: "shop").make(4000)
            await engine.close()
            let database = try await PostgresConnection.connect(
                PostgresConfiguration(cluster.superuserConnectionString),
                logger: Logger(label: "test")
            )
            let node = try await database.query("SELECT node_id FROM gateway.node").only().text("node_id")
            _ = try await world.sendToEveryone("during the shutdown")
            let stage = Stage(world: world, database: database, node: node)
            try await eventually("200 are sent") { try await world.pairs().distinct >= 200 }
            try #require(try await stage.leasedSlices() > 0)
            try await body(stage)
            await database.close()
        }
    }

    /// 8 connections of 5 streams: 4,000 pushes take half a minute.
    private static let slow = ["--mode", "script", "--latency-ms", "300", "--max-streams", "5"]

    @Test func aDrainedNodeHasNoLeaseAndIsNotReadyMeanwhile() async throws {
        try await withCampaign(Self.slow, ["--drain-seconds", "5"]) { stage in
            #expect(try await AdminPage.readiness(stage.world.adminAddress).status == 200)
            // The answers of the pushes in flight come after 3 seconds, so that the drain lasts that long.
            try await stage.world.script([["token": "*", "status": 200, "latencyMs": 3000]])
            let before = try await stage.world.accepted()
            try await eventually("slow answers are awaited in place of earlier ones") {
                try await stage.world.accepted() > before
            }
            try stage.signal(SIGTERM)
            try await stage.expectNotReady()
            try await stage.expectReleased(within: .seconds(15))
        }
    }

    // The push service does not answer, and a drain may wait for a minute: a second signal ends that.
    @Test(arguments: [SIGTERM, SIGINT])
    func aSecondSignalEndsTheWaitWithTheSlicesReleased(_ second: Int32) async throws {
        try await withCampaign(Self.slow, ["--drain-seconds", "60"]) { stage in
            try await stage.world.script([["token": "*", "fault": "silence"]])
            let before = try await stage.world.unanswered()
            try await eventually("pushes without an answer are in flight") {
                try await stage.world.unanswered() > before
            }
            try stage.signal(SIGTERM)
            try await stage.expectNotReady()
            // Nothing ends on its own: a push is awaited for 20 seconds.
            #expect(try await stage.leasedSlices() > 0)
            try stage.signal(second)
            try await stage.expectReleased(within: .seconds(8))
        }
    }
}

extension World {
    /// The number of streams that a fault has left without an answer.
    fileprivate func unanswered() async throws -> Int64 { try await stats()["faults"]?["silence"]?.int ?? 0 }
}
