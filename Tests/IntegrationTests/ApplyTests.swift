import Crypto
import Foundation
import Model
import Testing

@testable import Gateway

/// Provisioning against running processes.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ApplyTests {
    // A running gateway applies changes within a second (docs/operations.md#provisioning), rotated keys and removed API keys included; a bad file changes nothing.
    @Test func runningGatewayFollowsTheFile() async throws {
        let world = try World()
        do {
            try await world.startSimulator()
            try await world.startGateway()
            try #require(try await world.apply().status == 0)
            _ = try await world.register(2)
            #expect(try await send(world) == 1)

            try await badFileChangesNothing(world)
            try await rotatedKeyIsUsed(world)
            try await removedKeyIsRefused(world)
        } catch {
            Issue.record(error)
        }
        await world.close()
    }

    private func send(_ world: World) async throws -> Int64 {
        let answer = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["keys": ["device-0"]], "body": "hello"]
        )
        try #require(answer.status == 202, "\(answer.text)")
        return try await world.funnel(of: try #require(answer.json?["id"]?.string))["sent"]?.int ?? -1
    }

    private func badFileChangesNothing(_ world: World) async throws {
        let good = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        for (bad, hint) in [
            (good.replacingOccurrences(of: "apps:", with: "aps:"), "aps"),
            (good.replacingOccurrences(of: "production: apple", with: "production: pear"), "pear"),
            (good.replacingOccurrences(of: "AuthKey_\(DemoMaterial.keyID).p8", with: "apns-public.pem"), "p8"),
        ] {
            try bad.write(toFile: world.material.path("bad.yaml"), atomically: true, encoding: .utf8)
            let result = try await world.apply("bad.yaml")
            #expect(result.status == 1)
            #expect(result.log.contains(hint), "\(result.log)")
        }
        #expect(try await send(world) == 1)
    }

    private func rotatedKeyIsUsed(_ world: World) async throws {
        let key = P256.Signing.PrivateKey()
        try key.pemRepresentation.write(toFile: world.material.path("rotated.p8"), atomically: true, encoding: .utf8)
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        try yaml.replacingOccurrences(of: "AuthKey_\(DemoMaterial.keyID).p8", with: "rotated.p8")
            .write(toFile: world.material.path("rotated.yaml"), atomically: true, encoding: .utf8)
        try #require(try await world.apply("rotated.yaml").status == 0)
        // The simulator does not know the new key: its refusal proves that the gateway signs with it.
        try await Task.sleep(for: .milliseconds(1200))
        let answer = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["keys": ["device-1"]], "body": "rotated"]
        )
        let id = try #require(answer.json?["id"]?.string)
        var refused = false
        for _ in 0..<200 where !refused {
            refused = (try await world.stats()["rejected"]?["InvalidProviderToken"]?.int ?? 0) > 0
            try await Task.sleep(for: .milliseconds(25))
        }
        #expect(refused)
        // Back to the known key: what waited for the credential goes out.
        try #require(try await world.apply().status == 0)
        #expect(try await world.funnel(of: id)["sent"]?.int == 1)
    }

    private func removedKeyIsRefused(_ world: World) async throws {
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        try yaml.replacingOccurrences(of: "name: backend", with: "name: other").replacingOccurrences(
            of: "DEMO_API_KEY",
            with: "OTHER_KEY"
        )
        .write(toFile: world.material.path("removed.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("removed.yaml", environment: ["OTHER_KEY": "another-secret-of-some-length"])
        try #require(applied.status == 0, "\(applied.log)")
        var status = 0
        for _ in 0..<100 where status != 401 {
            status = try await world.native("GET", "/v1/devices").status
            if status != 401 { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(status == 401)
    }
}
