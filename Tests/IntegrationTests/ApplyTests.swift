import CommandSupport
import Crypto
import Foundation
import Model
import Testing

/// A running gateway applies changes of the provisioning file within a second.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { _ = try await $0.register(2) })
struct ApplyTests {
    private func send(_ world: World) async throws -> Int64 {
        let answer = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["keys": ["device-0"]], "body": "hello"]
        )
        try #require(answer.status == 202, "\(answer.text)")
        return try await world.funnel(of: try #require(answer.json?["id"]?.string))["sent"]?.int ?? -1
    }

    @Test func aBadFileChangesNothing() async throws {
        let world = try SharedWorld.current
        let good = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        for (bad, hint) in [
            (good.replacingOccurrences(of: "apps:", with: "aps:"), "aps"),
            (good.replacingOccurrences(of: "production: apple", with: "production: pear"), "pear"),
            (good.replacingOccurrences(of: "AuthKey_\(StageMaterial.keyID).p8", with: "apns-public.pem"), "p8"),
        ] {
            try bad.write(toFile: world.material.path("bad.yaml"), atomically: true, encoding: .utf8)
            let result = try await world.apply("bad.yaml")
            #expect(result.status == 1)
            #expect(result.log.contains(hint), "\(result.log)")
        }
        #expect(try await send(world) == 1)
    }

    @Test func aRotatedKeyIsUsedAndWhatItDelayedGoesOutWithTheNext() async throws {
        let world = try SharedWorld.current
        let key = P256.Signing.PrivateKey()
        try key.pemRepresentation.write(toFile: world.material.path("rotated.p8"), atomically: true, encoding: .utf8)
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        try yaml.replacingOccurrences(of: "AuthKey_\(StageMaterial.keyID).p8", with: "rotated.p8")
            .write(toFile: world.material.path("rotated.yaml"), atomically: true, encoding: .utf8)
        let opened = try world.gatewayLog().ranges(of: "credential opened").count
        try #require(try await world.apply("rotated.yaml").status == 0)
        try await eventually("the new key is opened", within: .seconds(3)) {
            try world.gatewayLog().ranges(of: "credential opened").count > opened
        }
        // The simulator does not know the new key: its refusal proves that the gateway signs with it.
        let answer = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["keys": ["device-1"]], "body": "rotated"]
        )
        let id = try #require(answer.json?["id"]?.string)
        try await eventually("the new key is refused") {
            try await world.stats()["rejected"]?["InvalidProviderToken"]?.int ?? 0 > 0
        }
        // Back to the known key: what waited for the credential goes out.
        try #require(try await world.apply().status == 0)
        #expect(try await world.funnel(of: id)["sent"]?.int == 1)
    }

    @Test func aRemovedAPIKeyIsRefused() async throws {
        let world = try SharedWorld.current
        let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        try yaml.replacingOccurrences(of: "name: backend", with: "name: other").replacingOccurrences(
            of: "DEMO_API_KEY",
            with: "OTHER_KEY"
        )
        .write(toFile: world.material.path("removed.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("removed.yaml", environment: ["OTHER_KEY": "another-secret-of-some-length"])
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the key is refused") { try await world.native("GET", "/v1/devices").status == 401 }
        try #require(try await world.apply().status == 0)
        try await eventually("the key serves again") { try await world.native("GET", "/v1/devices").status == 200 }
    }
}
