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
    /// 2 s. Builds for tests share two cores with all processes of the test, and get more.
    private static let optOutSeconds = ProcessInfo.processInfo.environment["GATEWAY_PROGRAMS"] == nil ? 10 : 2

    @Test(arguments: vendors) func anAppLeavesItsVendor(_ vendor: String) async throws {
        try await run(
            vendor,
            [
                "--devices", "\(Self.devices)", "--seed", "\(Self.seed)", "--opt-out-seconds", "\(Self.optOutSeconds)",
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

    /// Kills and restarts the gateway whenever the client asks for it, until the client has ended.
    private func follow(_ client: ChildProcess, _ world: World, _ restart: String) async throws {
        while client.isRunning {
            if FileManager.default.fileExists(atPath: restart) {
                try await world.killGateway()
                try await world.startGateway()
                try FileManager.default.removeItem(atPath: restart)
            }
            try await Task.sleep(for: .milliseconds(20))
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
