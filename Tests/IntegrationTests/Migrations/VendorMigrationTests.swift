import CommandSupport
import Crypto
import Foundation
import Model
import Testing

/// Apps leave their vendors, by `push-gateway migration` alone, while phones and back ends use them (`Clients/migrations/README.md`). The vendors are stubs that share no
/// code with the gateway and push with a key of their own, and the push service's list of accepted pushes decides.
@Suite(.serialized, .timeLimit(.minutes(60))) struct VendorMigrationTests {
    static let vendors = ["upmc", "ipns", "rationalowl", "braze", "notificationhubs"]
    /// 40 phones, so that each vendor takes less than a minute. `MIGRATION_DEVICES=2000` selects the long run.
    private static let devices = Soak.size("MIGRATION_DEVICES") ?? 40
    private static let seed = Soak.size("MIGRATION_SEED") ?? 1
    /// The processes that are killed: some of `gateway`, `database` and `stub`, separated by commas, or `none`.
    private static let kills = ProcessInfo.processInfo.environment["MIGRATION_KILLS"] ?? "gateway"
    /// 2 s. Builds for tests share two cores with all processes of the test, and get more.
    private static let optOutSeconds = ProcessInfo.processInfo.environment["GATEWAY_PROGRAMS"] == nil ? 10 : 2

    @Test(arguments: vendors) func anAppLeavesItsVendor(_ vendor: String) async throws {
        try await run(
            vendor,
            [
                "--devices", "\(Self.devices)", "--seed", "\(Self.seed)", "--kills", Self.kills, "--opt-out-seconds",
                "\(Self.optOutSeconds)",
            ]
        )
    }

    // docs/migration.md: the commands of all vendors and those of this one. A gate without data holds `advance` and `complete`.
    @Test(arguments: vendors) func everyCommandOfTheGuideRuns(_ vendor: String) async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = folder.deletingLastPathComponent().deletingLastPathComponent()
        let guide = root.appendingPathComponent("docs/migration.md").path
        try #require(FileManager.default.fileExists(atPath: guide))
        try await run(vendor, ["--guide", guide])
    }

    private func run(_ vendor: String, _ arguments: [String]) async throws {
        let world = try World(
            simulatorArguments: ["--mode", "script", "--keep-requests", "20000"],
            serveArguments: ["--upstream-allow", "127.0.0.0/8", "--migration-interval", "1", "--lease-seconds", "2"]
        )
        try await closing {
            await world.close()
        } after: {
            let key = try giveTheVendorAKey(world.material)
            try await world.startSimulator()
            try await world.startGateway()
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            let restart = world.material.path("restart")
            let log = world.material.path("migration.log")
            let client = try PythonClient(world).start(
                script: "migrations/__main__",
                [
                    vendor, "--directory", world.directory, "--program", World.programs + "/push-gateway",
                    "--restart", restart, "--topic", StageMaterial.topic, "--stub-key", key,
                ] + arguments,
                logFile: log,
                environment: ["PUSH_GATEWAY_KEY": world.apiKey]
            )
            do {
                try await follow(client, world, restart)
            } catch {
                _ = await client.stop()
                throw error
            }
            let status = await client.stop()
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            print("migration from \(vendor):\n\(text)")
            #expect(status == 0, "\(text.suffix(4000))")
        }
    }

    /// Kills the gateway or its database whenever the client asks for it, until the client has ended.
    private func follow(_ client: ChildProcess, _ world: World, _ restart: String) async throws {
        while client.isRunning {
            if let victim = try? String(contentsOfFile: restart, encoding: .utf8) {
                if victim == "database" {
                    try await killDatabase(world)
                } else {
                    try await world.killGateway()
                    try await world.startGateway()
                }
                try FileManager.default.removeItem(atPath: restart)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The gateway starts its database again.
    private func killDatabase(_ world: World) async throws {
        let postmaster = try world.postgresPID()
        Glibc.kill(postmaster, SIGKILL)
        try await eventually("the database is back") {
            guard let now = try? world.postgresPID(), now != postmaster else { return false }
            return (try? await AdminPage.readiness(world.adminAddress))?.status == 200
        }
    }

    /// The vendor's own APNs key, which the push service knows too. Returns its file.
    private func giveTheVendorAKey(_ material: StageMaterial) throws -> String {
        let key = P256.Signing.PrivateKey()
        let file = material.path("stub.p8")
        try key.pemRepresentation.write(toFile: file, atomically: true, encoding: .utf8)
        try key.publicKey.pemRepresentation.write(
            toFile: material.path("stub-public.pem"),
            atomically: true,
            encoding: .utf8
        )
        let path = material.path("simulator-keys.json")
        let known = try JSONParser.parse(String(contentsOfFile: path, encoding: .utf8))
        let own: JSON = [
            "teamId": "STUBTEAM01", "keyId": "STUBKEY001", "publicKeyFile": "stub-public.pem",
            "topics": [.string(StageMaterial.topic)],
        ]
        let all = JSON.array((known.array ?? []) + [own])
        try JSONWriter.text(all).write(toFile: path, atomically: true, encoding: .utf8)
        return file
    }
}
