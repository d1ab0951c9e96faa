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
        let made = try await world.command(["key", "create", "--tenant", "acme", "--name", scopes, "--scopes", scopes])
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
}
