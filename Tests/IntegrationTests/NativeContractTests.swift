import CommandSupport
import Foundation
import Model
import Testing

@testable import NativeHTTP

/// The native API against its own description, with third-party tools: an OpenAPI validator, JSON Schema, and a
/// generated client.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeContractTests {
    /// Runs `body` against a gateway. If the machine lacks a requirement, the test is skipped with the reason.
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
        if let skipped { try Test.cancel("\(skipped)") }
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

    // Uses `openapi-spec-validator` and `jsonschema` from PyPI.
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
                    "GATEWAY_SIMULATOR": world.control.base,
                ]
            )
            #expect(result.status == 0, "\(result.log)")
            #expect(result.log.contains("\(NativeOperations.all.count) operations"), "\(result.log)")
        }
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
            var requests: Int64 = 0
            for (scopes, examples) in [("admin", 10), ("read", 0), ("send:app/shop", 0)] {
                let result = try await python.run(
                    script: "native_fuzz",
                    [world.http.base, "\(examples)"],
                    environment: ["GATEWAY_KEY": try await key(world, scopes)]
                )
                #expect(result.status == 0, "\(scopes): \(result.log)")
                let report = try JSONParser.parse(String(result.log.split(separator: "\n").first ?? ""))
                requests += report["requests"]?.int ?? 0
            }
            #expect(requests >= 5000, "\(requests)")
        }
    }
}
