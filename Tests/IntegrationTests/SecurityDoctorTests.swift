import Foundation
import Model
import Testing

@testable import CommandSupport

/// `doctor --security` as a command: its findings, its JSON and its status, which a pipeline reads.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct SecurityDoctorTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func doctor(_ arguments: String...) async throws -> (status: Int32?, log: String) {
        try await world.command(["doctor", "--security"] + arguments)
    }

    private func findings(_ log: String) throws -> [JSON] {
        let line = try #require(log.split(separator: "\n").last { $0.hasPrefix("{") }, "\(log)")
        return try #require(try JSONParser.parse(String(line))["findings"]?.array)
    }

    /// Applies the demo's file with these settings of RationalOwl instead of a source network.
    private func apply(_ settings: String) async throws {
        let world = try world
        let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let closed = #"senderNetworks: [127.0.0.1, "::1"]"#
        try #require(text.contains(closed))
        try text.replacing(closed, with: settings)
            .write(toFile: world.material.path("posture.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("posture.yaml")
        try #require(applied.status == 0, "\(applied.log)")
    }

    @Test func theStatusFollowsTheWorstFinding() async throws {
        try await apply(#"senderNetworks: [127.0.0.1, "::1"]"#)
        let closed = try await doctor()
        #expect(closed.status == 0, "\(closed.log)")
        #expect(closed.log.contains("MEDIUM  acme/shop: minAssurance is claimed") && closed.log.contains("0 high, "))
        #expect(try await doctor("--fail-on", "medium").status == 1)
        #expect(try await doctor("--fail-on", "never").status == 0)

        try await apply("openSends: true")
        let open = try await doctor("--json")
        #expect(open.status == 1, "\(open.log)")
        let worst = try #require(try findings(open.log).first)
        #expect(worst["level"] == "high" && worst["place"] == "acme/shop rationalowl")
        #expect(worst["finding"] == "openSends is true" && worst["remedy"]?.string?.contains("senderNetworks") == true)
        #expect(worst["risk"]?.string?.hasSuffix(".") == true)
        #expect(try await doctor("--fail-on", "never").status == 0)

        try await apply("openSends: false")
        #expect(try await doctor("--json").status == 0, "a setting that is closed again is not named")
    }

    @Test func anUnknownLevelIsRefused() async throws {
        let refused = try await doctor("--fail-on", "critical")
        #expect(refused.status != 0 && refused.status != 1 && refused.log.contains("low, medium, high or never"))
    }

    // Arguments are visible to every user of the machine, so that a password in them is named, with the other places for it.
    @Test func aPasswordInTheArgumentsIsNamed() async throws {
        let url = "postgresql://gateway:do-not-show@127.0.0.1:1/gateway?connect_timeout=2"
        let warned = try await world.command(["doctor", "--database-url", url])
        #expect(warned.log.contains("--database-url contains a password"), "\(warned.log)")
        #expect(warned.log.contains("DATABASE_URL") && warned.log.contains("PGPASSFILE"))
        #expect(!warned.log.contains("do-not-show"), "\(warned.log)")
        let hidden = try await world.command(["doctor"], environment: ["DATABASE_URL": url])
        #expect(!hidden.log.contains("contains a password") && !hidden.log.contains("do-not-show"), "\(hidden.log)")
    }

    @Test func theNodesSettingsComeFromTheEnvironment() async throws {
        let weak = try await world.command(
            ["doctor", "--security", "--json", "--fail-on", "never"],
            environment: ["LISTEN": "0.0.0.0:8080", "LIMITS_CALLS": "off"]
        )
        let found = try findings(weak.log).compactMap { $0["finding"]?.string }
        #expect(found.contains("listen is 0.0.0.0:8080, without TLS") && found.contains("limits.calls is off"))
        #expect(weak.status == 0)
    }
}
