import CommandSupport
import Foundation
import Logging
import Model
import TestKit
import Testing

@testable import EmbeddedPostgres
@testable import Gateway
@testable import PostgresClient

/// `database backup` and `database restore`, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BackupTests {
    /// A copy of a running gateway in a new data directory with the same master key has the same tenant, devices and
    /// messages, and can send.
    @Test func aBackupBecomesTheSameGatewayElsewhere() async throws {
        let world = try World()
        let successor = try World()
        try await closing {
            await successor.close()
            await world.close()
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            #expect(try await world.apply().status == 0)
            let devices = try await world.register(3)
            let id = try await world.sendToEveryone("before the backup")
            let before = try await world.funnel(of: id)
            #expect(before["sent"]?.int == 3)
            let generation = try await world.eventGeneration()
            let file = world.material.path("gateway.backup")
            let made = try await world.command(["database", "backup", "--out", file])
            try #require(made.status == 0, "\(made.log)")
            #expect(made.log.contains("master key"))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try Data(contentsOf: URL(filePath: file)).prefix(8) == Data("PGWBAK01".utf8))
            // A second one does not overwrite the first.
            #expect(try await world.command(["database", "backup", "--out", file]).status == 1)
            let plain = file + ".plain"
            let unencrypted = try await world.command(["database", "backup", "--out", plain, "--plain"])
            try #require(unencrypted.status == 0, "\(unencrypted.log)")
            #expect(unencrypted.log.contains("is not encrypted"), "\(unencrypted.log)")
            #expect(try Data(contentsOf: URL(filePath: plain)).prefix(5) == Data("PGDMP".utf8))
            #expect(await world.gateway?.stop() == 0)

            try await Self.expectRefusals(of: file, plain, by: successor, key: world.material.path("data/master.key"))
            let restored = try await successor.command(["database", "restore", file])
            try #require(restored.status == 0, "\(restored.log)")
            try await Self.expectNoNewKey(successor)
            try await successor.startGateway()
            let kept = try await successor.http.call("GET", "/v1/messages/\(id)", nil, bearer: world.apiKey)
            #expect(kept.json?["funnel"] == before, "\(kept.text)")
            let list = try await successor.http.call("GET", "/v1/devices?app=shop", nil, bearer: world.apiKey)
            #expect(list.status == 200)
            #expect(devices.count == 3)
            // Readers must learn that events after the backup are lost.
            let path = "/v1/events?after=1&generation=\(generation)"
            let stale = try await successor.http.call("GET", path, nil, bearer: world.apiKey)
            #expect(stale.status == 410 && stale.json?["code"] == "PG-1014", "\(stale.text)")
            // The credential opens under the copied key: a push goes out.
            let sent = try await successor.http.call(
                "POST",
                "/v1/messages",
                ["app": "shop", "to": ["everyone": true], "title": "a", "body": "after the restore"],
                bearer: world.apiKey
            )
            let next = try #require(sent.json?["id"]?.string, "\(sent.text)")
            try await eventually("all three are sent", within: .seconds(60), every: .milliseconds(100)) {
                try await successor.http.call("GET", "/v1/messages/\(next)", nil, bearer: world.apiKey)
                    .json?["funnel"]?["sent"]?.int == 3
            }
            // Restoring replaces nothing.
            #expect(await successor.gateway?.stop() == 0)
            let again = try await successor.command(["database", "restore", file])
            #expect(again.status == 1)
            #expect(again.log.contains("replaces nothing"), "\(again.log)")
        }
    }

    /// Without the key that the restored database names, the gateway does not start, and makes no other key in its place.
    private static func expectNoNewKey(_ successor: World) async throws {
        let own = successor.material.path("data/master.key")
        try FileManager.default.moveItem(atPath: own, toPath: own + ".kept")
        let refused = try await successor.command(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        #expect(refused.status != 0 && refused.log.contains("no master key file"), "\(refused.log)")
        #expect(!FileManager.default.fileExists(atPath: own))
        try FileManager.default.moveItem(atPath: own + ".kept", toPath: own)
    }

    /// Restores files that are damaged, without the master key and with another one, and leaves the data directory with `key` and an empty database.
    private static func expectRefusals(
        of file: String,
        _ plain: String,
        by world: World,
        key: String
    ) async throws {
        func refusal(_ file: String, _ flags: [String] = []) async throws -> String {
            let done = try await world.command(["database", "restore", file] + flags)
            #expect(done.status == 1, "\(done.log)")
            return done.log
        }
        // A copy that was cut short is noticed in the middle, and the database is as empty as before.
        let content = try Data(contentsOf: URL(filePath: plain))
        try content.dropLast(600).write(to: URL(filePath: plain + ".cut"))
        #expect(try await refusal(plain + ".cut", ["--plain"]).contains("nothing was kept"))

        // Whoever can replace the file decides about its first bytes: only the command says that it is not encrypted.
        let replaced = try await refusal(plain)
        #expect(replaced.contains("is not an encrypted backup") && replaced.contains("add --plain"), "\(replaced)")
        #expect(!replaced.contains("restoring"), "\(replaced)")
        #expect(try await refusal(file, ["--plain"]).contains("leave out --plain"))

        #expect(try await refusal(file).contains("copy the master key"))
        try world.makeMasterKey()
        #expect(try await refusal(file).contains("is encrypted with master key"))
        let own = world.material.path("data/master.key")
        try FileManager.default.removeItem(atPath: own)
        try FileManager.default.copyItem(atPath: key, toPath: own)

        // Encrypted files are read to their end before anything is changed.
        var whole = try Data(contentsOf: URL(filePath: file))
        try whole.dropLast(600).write(to: URL(filePath: file + ".cut"))
        #expect(try await refusal(file + ".cut").contains("damaged or incomplete"))
        whole[whole.count - 20] ^= 1
        try whole.write(to: URL(filePath: file + ".changed"))
        let changed = try await refusal(file + ".changed")
        #expect(changed.contains("is damaged") && !changed.contains("restoring"), "\(changed)")
    }

    /// The audit of a restored gateway verifies with the same master key up to its last checkpoint, and changes made after the restore are found.
    @Test func theCheckpointOfTheAuditSurvivesARestore() async throws {
        let world = try World()
        let successor = try World()
        try await closing {
            await successor.close()
            await world.close()
        } after: {
            try await world.startSimulator()
            // A gateway signs when it starts, and then once a minute: the tenant is there before.
            try world.makeMasterKey()
            try await ClusterTemplate.shared.copy(into: world.material.path("data"))
            #expect(try await world.apply().status == 0)
            try await world.startGateway()
            let signed = try await first("a checkpoint") {
                let text = try await world.value(
                    "SELECT coalesce(max(position), 0)::text AS value FROM gateway.audit_checkpoint WHERE tenant_id = 'acme'"
                )
                return Int(text).flatMap { $0 > 0 ? $0 : nil }
            }
            let file = world.material.path("gateway.backup")
            let made = try await world.command(["database", "backup", "--out", file, "--by", "kim"])
            try #require(made.status == 0, "\(made.log)")
            #expect(await world.gateway?.stop() == 0)

            try FileManager.default.createDirectory(
                atPath: successor.material.path("data"),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(
                atPath: world.material.path("data/master.key"),
                toPath: successor.material.path("data/master.key")
            )
            let restored = try await successor.command(["database", "restore", file, "--by", "lee"])
            try #require(restored.status == 0, "\(restored.log)")
            let whole = try await Self.verified(successor)
            #expect(whole.status == 0, "\(whole.log)")
            #expect(whole.audit["signedUpTo"]?.int == Int64(signed), "\(whole.log)")
            #expect(whole.audit["faultCount"] == 0)
            let shown = try await successor.command(["audit", "--tenant", "acme", "--json"])
            let last = (Self.json(shown.log)?.array ?? []).suffix(2)
            #expect(last.map { $0["action"]?.string } == ["backup", "restore"], "\(shown.log)")
            #expect(last.allSatisfy { $0["data"]?["file"] == "gateway.backup" && $0["subject"] == "database" })
            #expect(last.compactMap { $0["actor"]?.string?.split(separator: " ").last } == ["kim", "lee"])

            // Each change is undone before the next one.
            let swap = """
                UPDATE gateway.audit SET position = -position WHERE tenant_id = 'acme' AND position IN (2, 3);
                UPDATE gateway.audit SET position = 5 + position WHERE tenant_id = 'acme' AND position IN (-2, -3);
                """
            let changes: [(String, String, String)] = [
                (
                    "UPDATE gateway.audit SET actor = 'x' || actor WHERE tenant_id = 'acme' AND position = 2",
                    "UPDATE gateway.audit SET actor = substr(actor, 2) WHERE tenant_id = 'acme' AND position = 2",
                    "was changed"
                ),
                (
                    """
                    CREATE TABLE public.kept AS SELECT * FROM gateway.audit WHERE tenant_id = 'acme' AND position = 3;
                    DELETE FROM gateway.audit WHERE tenant_id = 'acme' AND position = 3
                    """, "INSERT INTO gateway.audit SELECT * FROM public.kept; DROP TABLE public.kept", "is missing"
                ), (swap, swap, "was changed"),
            ]
            for (change, undo, finding) in changes {
                try await Self.asOwner(successor, change)
                let found = try await Self.verified(successor)
                #expect(found.status == 1 && found.log.contains(finding), "\(change): \(found.log)")
                try await Self.asOwner(successor, undo)
                #expect(try await Self.verified(successor).status == 0, "\(undo)")
            }
        }
    }

    /// The result of `audit verify`, and that of the demo's tenant.
    private static func verified(_ world: World) async throws -> (status: Int32?, log: String, audit: JSON) {
        let run = try await world.command(["audit", "verify", "--json"])
        let tenants = Self.json(run.log)?["tenants"]?.array ?? []
        return (run.status, run.log, tenants.first { $0["tenant"] == "acme" } ?? .null)
    }

    /// The JSON that a command printed, after the messages of its start.
    private static func json(_ log: String) -> JSON? {
        guard let start = log.split(separator: "\n").first(where: { $0.hasPrefix("[") || $0.hasPrefix("{") }) else {
            return nil
        }
        return try? JSONParser.parse(Array(log[start.startIndex...].utf8))
    }

    /// Runs a script as the administrator of the embedded database.
    private static func asOwner(_ world: World, _ script: String) async throws {
        try await world.withDatabase { database in
            let admin = try await PostgresConnection.connect(
                PostgresConfiguration(database.adminConnectionString),
                logger: Logger(label: "test")
            )
            try await admin.script(script)
            await admin.close()
        }
    }

    @Test func whatIsNoBackupChangesNothing() async throws {
        let world = try World()
        try await closing {
            await world.close()
        } after: {
            let file = world.material.path("junk")
            try Data("no backup".utf8).write(to: URL(filePath: file))
            let junk = try await world.command(["database", "restore", file])
            #expect(junk.status == 1)
            #expect(junk.log.contains("is not an encrypted backup"), "\(junk.log)")
            let plain = try await world.command(["database", "restore", file, "--plain"])
            #expect(plain.status == 1)
            #expect(plain.log.contains("is not a backup"), "\(plain.log)")
            #expect(try await world.command(["database", "restore", file + ".absent"]).log.contains("cannot be read"))
            // The cluster that was made for it is empty, and there is nothing of ours to back up.
            let nothing = try await world.command(["database", "backup", "--out", file + ".out"])
            #expect(nothing.status == 1)
            #expect(nothing.log.contains("no gateway schema"), "\(nothing.log)")
            #expect(!FileManager.default.fileExists(atPath: file + ".out"))
            #expect(!FileManager.default.fileExists(atPath: file + ".out.partial"))
        }
    }

    @Test func aDataDirectoryWithoutADatabaseIsNotMadeByABackup() async throws {
        let world = try World()
        let answer = try await world.command(["database", "backup", "--out", world.material.path("x")])
        #expect(answer.status == 1)
        #expect(answer.log.contains("no database in"), "\(answer.log)")
        #expect(!FileManager.default.fileExists(atPath: world.material.path("data/postgres")))
        await world.close()
    }

    /// From the embedded cluster to an external server, with unusual characters in the name of the database.
    @Test func theEmbeddedDatabaseMovesToAServer() async throws {
        let directory = "\(ScratchFolder.root)/pgw-server-" + SystemIdentifiers().randomHex(byteCount: 5)
        let server = try await EmbeddedCluster.start(directory: directory, logger: Logger(label: "test"))
        let admin = try await PostgresConnection.connect(
            PostgresConfiguration(server.adminConnectionString(database: "template1")),
            logger: Logger(label: "test")
        )
        try await admin.script("CREATE DATABASE \"it's here\"")
        let url = server.adminConnectionString(database: "it's here")
        let world = try World()
        let moved = try World(databaseURL: url)
        try await closing {
            await moved.close()
            await world.close()
            try await server.stop()
            try FileManager.default.removeItem(atPath: directory)
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            #expect(try await world.apply().status == 0)
            _ = try await world.register(2)
            let id = try await world.sendToEveryone("one")
            #expect(try await world.funnel(of: id)["sent"]?.int == 2)
            #expect(await world.gateway?.stop() == 0)
            let file = world.material.path("gateway.backup")
            let made = try await world.command(["database", "backup", "--out", file, "--plain"])
            try #require(made.status == 0, "\(made.log)")
            try moved.makeMasterKey()
            let other = try await moved.command(["database", "restore", file, "--plain"])
            try #require(other.status == 0, "\(other.log)")
            #expect(other.log.contains("is not the key that sealed its secrets"), "\(other.log)")
            #expect(!other.log.contains("migration"), "\(other.log)")
            let show = try await moved.command(["message", "show", id, "--tenant", "acme"])
            #expect(show.status == 0 && show.log.contains("done"), "\(show.log)")
            let plan = try await moved.command(["database", "distribute"])
            #expect(plan.status == 0)
            #expect(plan.log.contains("create_distributed_table('gateway.app', 'tenant_id')"))
        }
    }
}
