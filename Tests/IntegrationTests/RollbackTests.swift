import CommandSupport
import Foundation
import Logging
import Model
import TestKit
import Testing

@testable import DatabaseSchema
@testable import EmbeddedPostgres
@testable import Gateway
@testable import PostgresClient

/// A program of the previous version on a schema that a newer program has migrated, with real processes on an
/// external database.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct RollbackTests {
    /// The program with other schema files, in its own folder.
    private struct Release {
        let folder: String
        let version: Int
        var program: String { folder + "/push-gateway" }
        var schema: String { folder + "/push-gateway_DatabaseSchema.resources" }

        /// Copies a program and its schema files.
        init(copyOf program: String, schema source: String, to folder: String) throws {
            self.folder = folder
            version = try SchemaFiles.load(from: source).version
            let files = FileManager.default
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try files.copyItem(atPath: program, toPath: folder + "/push-gateway")
            try files.copyItem(atPath: source, toPath: folder + "/push-gateway_DatabaseSchema.resources")
        }

        /// The next release, with one more migration.
        func next(in folder: String, oldest: Int, _ statements: String) throws -> Release {
            let next = try Release(copyOf: program, schema: schema, to: folder)
            let number = String(version + 10_001).dropFirst()
            try "-- Oldest program: \(oldest)\n\(statements)"
                .write(toFile: "\(next.schema)/migrations/\(number)_next.sql", atomically: true, encoding: .utf8)
            return try Release(reading: next.folder)
        }

        private init(reading folder: String) throws {
            self.folder = folder
            version = try SchemaFiles.load(from: folder + "/push-gateway_DatabaseSchema.resources").version
        }

        func edit(_ file: String, _ change: (String) -> String) throws {
            let path = "\(schema)/\(file)"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let changed = change(text)
            try #require(changed != text, "\(file) is not written as this test expects")
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    /// Version N: a column, an index and a backfill, another body of `append_counts`, which every acceptance calls, and
    /// an additional parameter of `accept_message`.
    private static let migration = """
        ALTER TABLE gateway.device ADD COLUMN color text;
        DROP FUNCTION IF EXISTS gateway.accept_message;
        --@ backfill
        UPDATE gateway.device AS t SET color = 'red'
        WHERE color IS NULL;
        --@ index
        CREATE INDEX device_color ON gateway.device (tenant_id, color);
        """

    private func newer(than older: Release, in folder: String) throws -> Release {
        let release = try older.next(in: folder, oldest: older.version, Self.migration)
        try release.edit("routines/append_counts.sql") { text in
            text.replacing(
                /(?m)^BEGIN$/,
                with: """
                    BEGIN
                        UPDATE gateway.device SET color = 'green' WHERE tenant_id = p_tenant AND color IS DISTINCT FROM 'green';
                    """,
                maxReplacements: 1
            )
        }
        try release.edit("routines/accept_message.sql") { text in
            text.replacing(
                /\)\nRETURNS TABLE/,
                with: ",\n    p_color text DEFAULT 'green')\nRETURNS TABLE",
                maxReplacements: 1
            )
        }
        return release
    }

    private func colors(_ admin: PostgresConnection) async throws -> Set<String> {
        let statement = Statement("SELECT DISTINCT coalesce(color, 'none') AS color FROM gateway.device")
        let rows = try await admin.run(Transaction(tenant: nil, [statement])).first ?? .empty
        return Set(try rows.map { (row) throws(PostgresError) in try row.text("color") })
    }

    /// Registers a new device and sends to everyone. Returns the number of devices that the message was sent to.
    private func use(_ world: World, _ title: String) async throws -> Int64? {
        let registered = try await world.native(
            "POST",
            "/v1/devices",
            [
                "app": "shop", "platform": "ios", "environment": "production", "key": .string(title),
                "token": .string(SystemIdentifiers().randomHex(byteCount: 32)),
            ]
        )
        try #require(registered.status == 201, "\(registered.text)")
        let id = try await world.sendToEveryone(title)
        let funnel = try await world.funnel(of: id)
        return funnel["sent"]?.int
    }

    /// The accepted deliveries of all messages, by the funnel.
    private func accepted(_ world: World) async throws -> Int64? {
        try await world.native("GET", "/v1/analytics/funnel?app=shop").json?["total"]?["accepted"]?.int
    }

    @Test func aProgramRestartsOnTheSchemaOfItsSuccessor() async throws {
        let directory = "\(ScratchFolder.root)/pgw-rollback-" + SystemIdentifiers().randomHex(byteCount: 5)
        let cluster = try await EmbeddedCluster.start(directory: directory + "/postgres", logger: Logger(label: "test"))
        let world = try World(databaseURL: cluster.superuserConnectionString)
        do {
            let present = World.programs + "/push-gateway"
            let older = try Release(
                copyOf: present,
                schema: World.programs + "/push-gateway_DatabaseSchema.resources",
                to: directory + "/older"
            )
            let newer = try newer(than: older, in: directory + "/newer")
            let breaking = try newer.next(in: directory + "/breaking", oldest: newer.version, "SELECT 1;")
            try await rollBack(world, cluster, older, newer, breaking)
        } catch {
            Issue.record(error)
        }
        await world.close()
        try await cluster.stop()
        try FileManager.default.removeItem(atPath: directory)
    }

    private func rollBack(
        _ world: World,
        _ cluster: EmbeddedCluster,
        _ older: Release,
        _ newer: Release,
        _ breaking: Release
    ) async throws {
        // N−1 serves.
        world.gatewayProgram = older.program
        try await world.startSimulator()
        let created = try await world.command(["database", "migrate"])
        try #require(created.status == 0, "\(created.log)")
        try world.makeMasterKey()
        let applied = try await world.apply()
        try #require(applied.status == 0, "\(applied.log)")
        try await world.startGateway()
        #expect(try await use(world, "before") == 1)

        // N refuses to serve from the schema of N−1, and migrates while N−1 serves.
        world.gatewayProgram = newer.program
        let early = try await world.command(["status"])
        #expect(early.status == 1 && early.log.contains("database migrate"), "\(early.log)")
        let migrated = try await world.command(["database", "migrate"])
        try #require(migrated.status == 0, "\(migrated.log)")
        let admin = try await PostgresConnection.connect(
            PostgresConfiguration(cluster.superuserConnectionString),
            logger: Logger(label: "test")
        )
        #expect(try await colors(admin) == ["red"])
        #expect(try await accepted(world) == 1, "the upgrade keeps the counts")
        #expect(try await use(world, "migrated") == 2)
        #expect(try await colors(admin) == ["green"], "the body of N is not in use")

        // N−1 restarts, serves, and leaves the newer routines as they are.
        #expect(await world.gateway?.stop() == 0)
        world.gatewayProgram = older.program
        let again = try await world.command(["database", "migrate"])
        #expect(again.status == 0, "\(again.log)")
        try await world.startGateway()
        #expect(try await use(world, "rolled back") == 3)
        #expect(try await accepted(world) == 1 + 2 + 3, "both versions count alike")
        #expect(try await colors(admin) == ["green"])

        // N again.
        #expect(await world.gateway?.stop() == 0)
        world.gatewayProgram = newer.program
        try await world.startGateway()
        #expect(try await use(world, "forward again") == 4)
        #expect(try await accepted(world) == 1 + 2 + 3 + 4)
        #expect(await world.gateway?.stop() == 0)

        // A schema that no longer serves N−1 says so.
        world.gatewayProgram = breaking.program
        let broken = try await world.command(["database", "migrate"])
        try #require(broken.status == 0, "\(broken.log)")
        world.gatewayProgram = older.program
        let refused = try await world.command(["status"])
        #expect(refused.status == 1 && refused.log.contains("use a newer program"), "\(refused.log)")
        await admin.close()
    }
}
