import CommandSupport
import Foundation
import HTTPTypes
import MigrationStore
import Model
import NIOHTTP1
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// The native API against its own description, with third-party tools: an OpenAPI validator, JSON Schema, and a
/// generated client.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeContractTests {
    /// Runs `body` against a gateway. If the machine lacks a requirement, the test is skipped with the reason, or fails with it (`World.lacks`).
    private func withWorld(_ body: (World) async throws -> Void) async throws {
        let world = try World()
        var skipped: String?
        do {
            try await world.startSimulator()
            try await world.startGateway()
            try #require(try await world.apply().status == 0)
            try await body(world)
        } catch let skip as PythonClient.Skip {
            skipped = skip.reason
        } catch {
            Issue.record(error)
        }
        await world.close()
        if let skipped { try World.lacks(skipped) }
    }

    private func key(_ world: World, _ scopes: String) async throws -> String {
        let made = try await world.command([
            "key", "create", "--tenant", "acme", "--name", scopes.filter(\.isLetter), "--scopes", scopes,
        ])
        return try #require(
            made.log.split(separator: "\n").map(String.init).first { $0.hasPrefix("pgw_") },
            "\(made.log)"
        )
    }

    /// Operations of which the script sees no success: its world has no binding of Notification Hubs, and no observed sends, without which no migration ends.
    private static let leftOut = ["completeMigration", "issueSharedAccessSignature"]

    // Uses `openapi-spec-validator` and `jsonschema` from PyPI. Fails for an operation that the script does not call with success, except those left out.
    @Test func everyOperationAnswersAsItIsDeclared() async throws {
        try await withWorld { world in
            let python = try await PythonClient(
                world,
                installing: "openapi-spec-validator==0.9.0",
                "jsonschema==4.26.0",
                "rfc3339-validator==0.1.4"
            )
            let result = try await python.run(
                script: "native_contract",
                [world.http.base],
                environment: [
                    "GATEWAY_KEY": try await key(world, "admin"), "GATEWAY_READ_KEY": try await key(world, "read"),
                    "GATEWAY_SIMULATOR": world.control.base, "GATEWAY_LEFT_OUT": Self.leftOut.joined(separator: " "),
                ]
            )
            #expect(result.status == 0, "\(result.log)")
            #expect(result.log.contains("\(NativeOperations.all.count) operations"), "\(result.log)")
        }
    }

    // With the script, so that every operation has a test. The stage checks the answers.
    @Test func theOperationsThatTheScriptLeavesOutAnswerToo() async throws {
        try await NativeStage.on { stage in
            try await rollOut(stage)
            for id in Self.leftOut {
                let operation = try #require(NativeOperations.all.first { $0.id == id })
                let path = operation.path.replacing("{app}", with: "shop").replacing("{migration}", with: "leave")
                let method = HTTPMethod(rawValue: operation.method.rawValue)
                let answer = try await stage.native(method, path, operation.example)
                #expect((200..<300).contains(answer.status), "\(id): \(answer.status) \(answer.text)")
            }
            #expect(try await stage.native(.GET, "/v1/migrations/leave").json?["status"] == "completed")
        }
    }

    /// Stores a migration whose pushes have all moved: its next step is the end.
    private func rollOut(_ stage: NativeStage) async throws {
        let upstream: JSON = ["kind": "upstream-rationalowl", "url": "https://vendor.example"]
        let made = try await stage.native(.PUT, "/v1/credentials/old", upstream)
        try #require(made.status == 201, "\(made.text)")
        let migration = NewMigration(
            id: "leave",
            app: "shop",
            upstream: "old",
            plan: [
                "migration": ["id": "leave", "app": "shop", "from": "old"],
                "steps": [["stage": "serve"], ["stage": "hold"], ["stage": "complete"]],
            ],
            state: ["status": "rolledOut", "step": 1]
        )
        let store = PostgresMigrationStore(engine: stage.database.engine)
        #expect(try await store.put(migration, in: NativeStage.tenant, by: .key("test")) == .stored)
    }

    // Uses `openapi-python-client` from PyPI. It omits the two operations whose bodies are files: an image and a list
    // of devices.
    @Test func aGeneratedClientRegistersSendsAndReadsDeliveries() async throws {
        try await withWorld { world in
            let python = try await PythonClient(world, installing: "openapi-python-client==0.29.1")
            let result = try await python.run(
                script: "native_generated",
                [world.http.base, world.material.path("generated")],
                environment: ["GATEWAY_KEY": world.apiKey]
            )
            try #require(result.status == 0, "\(result.log)")
            let report = try JSONParser.parse(result.log)
            #expect(report["operations"]?.int == Int64(NativeOperations.all.count - 2), "\(result.log)")
            #expect(report["state"] == "sent", "\(result.log)")
        }
    }

    // Uses `schemathesis` from PyPI, with all its checks: at least 5,000 requests over every operation, with an administrator's key, one that only reads, and one
    // that only sends to an app.
    @Test func generatedRequestsFindNoDifferenceToTheDescription() async throws {
        try await withWorld { world in
            let python = try await PythonClient(world, installing: "schemathesis==4.32.5")
            let base = world.http.base
            let administering = try await Self.fuzz(python, base, "admin", try await key(world, "admin"), examples: 10)
            // One of these keys only reads, and the other one is refused nearly everything, so that they are not in each other's way.
            let (reader, sender) = (try await key(world, "read"), try await key(world, "send:app/shop"))
            async let reading = Self.fuzz(python, base, "read", reader, examples: 0)
            async let sending = Self.fuzz(python, base, "send", sender, examples: 0)
            let requests = try await administering + reading + sending
            #expect(requests >= 5000, "\(requests)")
            // Control: an answer that its description does not allow is a finding.
            let wrong = try await python.run(
                script: "native_fuzz_control",
                [],
                environment: ["GATEWAY_KEY": "none"],
                log: "fuzz-control.log"
            )
            #expect(wrong.status == 1 && wrong.log.contains("Response violates schema"), "\(wrong.log)")
        }
    }

    /// Lets schemathesis call every operation with a key, and returns the number of its requests. `name`: that of the key.
    private static func fuzz(
        _ python: PythonClient,
        _ base: String,
        _ name: String,
        _ key: String,
        examples: Int
    ) async throws -> Int64 {
        let result = try await python.run(
            script: "native_fuzz",
            [base, "\(examples)"],
            environment: ["GATEWAY_KEY": key],
            within: .seconds(300),
            log: "fuzz-\(name).log"
        )
        #expect(result.status == 0, "\(name): \(result.log)")
        let report = try JSONParser.parse(String(result.log.split(separator: "\n").first ?? ""))
        #expect(report["operations"]?.int == Int64(NativeOperations.all.count), "\(name): \(result.log)")
        return report["requests"]?.int ?? 0
    }
}
