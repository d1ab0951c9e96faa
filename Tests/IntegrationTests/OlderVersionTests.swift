import CommandSupport
import EmbeddedPostgres
import Foundation
import Model
import Testing

@testable import Gateway

/// The older program, in one folder with its schema files.
private let olderProgram = ProcessInfo.processInfo.environment["OLDER_PROGRAM"]

/// This version and an older one on one database, as real processes. `scripts/soak versions COMMIT` builds the older program and runs this test.
@Suite(.serialized, .timeLimit(.minutes(20)), .enabled(if: olderProgram != nil))
struct OlderVersionTests {
    /// One of the two nodes. Both have the same master key, and a data directory of their own.
    private final class Node {
        let name: String
        private let program: String
        private let world: World
        private let databaseURL: String
        private var process: ChildProcess?
        private var http: HTTPCaller?

        init(_ name: String, program: String, _ world: World, _ databaseURL: String) {
            self.name = name
            self.program = program
            self.world = world
            self.databaseURL = databaseURL
        }

        private var place: [String] {
            [
                "--data-dir", world.material.path("data-\(name)"), "--database-url", databaseURL,
                "--master-key-file", world.material.path("data/master.key"),
            ]
        }

        func start() async throws {
            let file = world.material.path("\(name).json")
            try? FileManager.default.removeItem(atPath: file)
            let process = try ChildProcess(
                "push-gateway serve (\(name))",
                program: program,
                arguments: [
                    "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--address-file", file,
                ] + place,
                logFile: world.material.path("\(name)-\(UInt32.random(in: 0...9999)).log"),
                environment: World.unlimited
            )
            self.process = process
            let addresses = try await readAddressFile(file, of: process)
            let address = try #require(addresses["http"]?.string)
            http = HTTPCaller(base: "http://\(address)")
        }

        /// Ends the node, which must drain and leave with status 0.
        func stop(sourceLocation: SourceLocation = #_sourceLocation) async {
            await http?.close()
            http = nil
            guard let running = process else { return }
            process = nil
            let status = await running.stop()
            #expect(status == 0, "\(name)", sourceLocation: sourceLocation)
        }

        /// Ends the node in any case, at the end of the test.
        func end() async {
            await http?.close()
            _ = await process?.stop()
            http = nil
            process = nil
        }

        func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> HTTPCaller.Answer {
            let caller = try #require(http, "\(name) does not run")
            return try await caller.call(method, path, body, bearer: world.apiKey)
        }
    }

    /// Registers a device and sends it a message by `node`. Returns the id of the message.
    private func accept(_ node: Node, _ title: String) async throws -> String {
        let key = "\(node.name)-\(title)"
        let device = try await node.call(
            "POST",
            "/v1/devices",
            [
                "app": "shop", "platform": "ios", "environment": "production", "key": .string(key),
                "token": .string(SystemIdentifiers().randomHex(byteCount: 32)),
            ]
        )
        try #require(device.status == 201, "\(node.name), \(title): \(device.text)")
        let sent = try await node.call(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["keys": [.string(key)]], "body": .string(title)]
        )
        try #require(sent.status == 202, "\(node.name), \(title): \(sent.text)")
        return try #require(sent.json?["id"]?.string)
    }

    /// Waits until `node` shows that the message was sent to its device.
    private func expectSent(_ id: String, by node: Node, _ title: String) async throws {
        try await eventually("\(node.name) shows that the message '\(title)' was sent") {
            let shown = try await node.call("GET", "/v1/messages/\(id)")
            return shown.json?["state"] == "done" && shown.json?["funnel"]?["sent"]?.int == 1
        }
    }

    @Test func twoVersionsServeOneDatabase() async throws {
        let program = try #require(olderProgram)
        try await World.onExternalDatabase(simulatorArguments: ["--mode", "accept"]) { world, cluster, _ in
            let url = cluster.superuserConnectionString
            let older = Node("older", program: program, world, url)
            let newer = Node("newer", program: World.programs + "/push-gateway", world, url)
            try await closing {
                await older.end()
                await newer.end()
            } after: {
                try await serve(world, older, newer, program)
            }
        }
    }

    private func serve(_ world: World, _ older: Node, _ newer: Node, _ olderProgram: String) async throws {
        // The older version made the database and serves it while the newer one migrates.
        let present = world.gatewayProgram
        try await world.startSimulator()
        try world.makeMasterKey()
        world.gatewayProgram = olderProgram
        let created = try await world.command(["database", "migrate"])
        try #require(created.status == 0, "\(created.log)")
        try await older.start()
        world.gatewayProgram = present
        let migrated = try await world.command(["database", "migrate"])
        try #require(migrated.status == 0, "\(migrated.log)")
        // A provisioning file of today may have settings that the older version does not know.
        let applied = try await world.apply()
        try #require(applied.status == 0, "\(applied.log)")
        try await newer.start()

        // Both accept, and each shows what the other one has accepted.
        for (one, other) in [(older, newer), (newer, older)] {
            try await expectSent(try await accept(one, "both"), by: other, "both")
        }
        // Each of them delivers alone, and restarts.
        for (one, other) in [(older, newer), (newer, older)] {
            await other.stop()
            try await expectSent(try await accept(one, "alone"), by: one, "alone")
            try await other.start()
            try await expectSent(try await accept(other, "restarted"), by: one, "restarted")
        }
        try await expectCounted(world, newer, messages: 6)
        await older.stop()
        await newer.stop()
    }

    /// Each version counts what it accepts and delivers in the same counts, and they are those of the deliveries.
    private func expectCounted(_ world: World, _ newer: Node, messages: Int64) async throws {
        let funnel = try await newer.call("GET", "/v1/analytics/funnel?app=shop")
        let total = funnel.json?["total"]
        for name in ["targets", "accepted", "sent"] {
            #expect(total?[name]?.int == messages, "\(name): \(funnel.text)")
        }
        #expect(total?["pending"]?.int == 0, "\(funnel.text)")
        let recount = try await world.command(["analytics", "recount", "--dry-run"])
        #expect(recount.status == 0, "\(recount.log)")
    }
}
