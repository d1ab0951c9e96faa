import CommandSupport
import Crypto
import Foundation
import Logging
import Model
import Testing

@testable import Gateway
@testable import PostgresClient

/// A run of `Clients/migrations` with a simulator and a gateway of its own, whose processes are killed when the client asks for it. The vendor is a stub that shares no
/// code with the gateway and pushes with a key of its own, and the push service's list of accepted pushes decides.
enum VendorJourney {
    static let vendors = ["upmc", "ipns", "rationalowl", "braze", "notificationhubs"]

    /// Runs the client to its end, and prints its output.
    ///
    /// - Parameters:
    ///   - vendor: the vendor that the app uses at first.
    ///   - arguments: further arguments of the client.
    ///   - name: of the run, for the output.
    ///   - prepare: changes what the client finds.
    /// - Returns: its status and output.
    /// - Throws: when a process cannot be started or started again; the error of `prepare`.
    static func run(
        _ vendor: String,
        _ arguments: [String],
        name: String,
        preparing prepare: (World) async throws -> Void = { _ in }
    ) async throws -> (status: Int32?, log: String) {
        let world = try World(
            simulatorArguments: ["--mode", "script", "--keep-requests", "20000"],
            serveArguments: ["--upstream-allow", "127.0.0.0/8", "--migration-interval", "1", "--lease-seconds", "2"]
        )
        var ended: (status: Int32?, log: String) = (nil, "")
        try await closing {
            await world.close()
        } after: {
            let key = try giveTheVendorAKey(world.material)
            try await world.startSimulator()
            try await world.startGateway()
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await prepare(world)
            let restart = world.material.path("restart")
            let log = world.material.path("journey.log")
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
            ended.status = await client.stop()
            ended.log = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            print("\(name), \(vendor):\n\(ended.log)")
        }
        return ended
    }

    /// Kills the gateway or its database whenever the client asks for it, until the client has ended.
    private static func follow(_ client: ChildProcess, _ world: World, _ restart: String) async throws {
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
    private static func killDatabase(_ world: World) async throws {
        let postmaster = try world.postgresPID()
        Glibc.kill(postmaster, SIGKILL)
        try await eventually("the database is back") {
            guard let now = try? world.postgresPID(), now != postmaster else { return false }
            return (try? await AdminPage.readiness(world.adminAddress))?.status == 200
        }
    }

    /// The vendor's own APNs key, which the push service knows too. Returns its file.
    private static func giveTheVendorAKey(_ material: StageMaterial) throws -> String {
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

extension World {
    /// Changes a routine of the gateway's own database, to show that the changed part is needed.
    ///
    /// - Parameters:
    ///   - routine: its name.
    ///   - part: the text that is replaced.
    ///   - other: the new text.
    /// - Throws: an `ExpectationFailedError` if the routine does not contain the text; the error of the database.
    func change(_ routine: String, _ part: String, to other: String) async throws {
        let file = "\(Self.programs)/push-gateway_DatabaseSchema.resources/routines/\(routine).sql"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let changed = text.replacing(part, with: other)
        try #require(changed != text, "\(routine) is not written as this test expects")
        try await withDatabase { database in
            let admin = try await PostgresConnection.connect(
                PostgresConfiguration(database.adminConnectionString),
                logger: Logger(label: "test")
            )
            try await admin.script(changed)
            await admin.close()
        }
    }
}
