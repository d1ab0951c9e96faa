import Foundation
import Model
import Testing

@testable import CommandSupport

/// The maximum age of the secrets of API keys (`keys.age.days`), over real processes.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld(serveArguments: ["--keys-age-days", "30"]))
struct KeyAgeTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func status(_ key: String) async throws -> Int {
        try await world.http.call("GET", "/v1/apps", bearer: key).status
    }

    /// Moves the times of a key into the past.
    private func age(_ name: String, _ days: Int) async throws {
        let past = "now() - interval '\(days) days'"
        _ = try await world.value(
            """
            UPDATE gateway.api_key SET created_at = \(past), secret_at = CASE WHEN secret_at IS NOT NULL THEN \(past) END
            WHERE name = '\(name)' RETURNING name AS value
            """
        )
    }

    private func secret(_ log: String) throws -> String {
        try #require(log.split(separator: "\n").map(String.init).first { $0.hasPrefix("pgw_") }, "\(log)")
    }

    // A key of the file: a new secret in the file makes it young again, and the previous one stays old.
    @Test func aSecretOfTheFileIsRefusedWhenItIsTooOld() async throws {
        let world = try world
        #expect(try await status(world.apiKey) == 200)
        let made = try await world.command([
            "key", "create", "--tenant", "acme", "--name", "later", "--scopes", "read",
        ])
        let later = try secret(made.log)
        #expect(try await status(later) == 200)
        try await age("backend", 29)
        try await age("later", 31)
        // A node keeps what it has read of each key equally long, and has read this one after the other: when its answer is new, so is the other's.
        try await eventually("the node has looked at the keys again") { try await status(later) == 401 }
        #expect(try await status(world.apiKey) == 200)
        try await age("backend", 31)
        try await eventually("the old secret is refused") { try await status(world.apiKey) == 401 }

        let next = "another-3b9c1d7e5f2a48608c4d6e1f0a7b9c23"
        let path = world.material.path("tenants.yaml")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let changed = text.replacing(
            "secretEnv: DEMO_API_KEY",
            with: "secretEnv: NEXT_KEY, previousSecretEnv: DEMO_API_KEY"
        )
        try #require(changed != text)
        try changed.write(toFile: world.material.path("next.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("next.yaml", environment: ["NEXT_KEY": next])
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the new secret is accepted") { try await status(next) == 200 }
        #expect(try await status(world.apiKey) == 401, "the previous secret is as old as before")
        // Applying the file again changes no time.
        let again = try await world.apply("next.yaml", environment: ["NEXT_KEY": next])
        #expect(again.status == 0)
        #expect(try await status(next) == 200)
    }

    @Test func aRotatedKeyIsYoungAgain() async throws {
        let world = try world
        let made = try await world.command([
            "key", "create", "--tenant", "acme", "--name", "crm", "--scopes", "read",
        ])
        let first = try secret(made.log)
        #expect(try await status(first) == 200)
        try await age("crm", 45)
        try await eventually("the old secret is refused") { try await status(first) == 401 }
        let rotated = try await world.command(["key", "rotate", "crm", "--tenant", "acme"])
        let second = try secret(rotated.log)
        #expect(try await status(second) == 200)
        #expect(try await status(first) == 401, "the overlap of a rotation does not make the old secret younger")
        let posture = try await world.command(
            ["doctor", "--security", "--json", "--fail-on", "never"],
            environment: ["KEYS_AGE_DAYS": "10"]
        )
        #expect(!posture.log.contains("its secret is 45 days old"), "\(posture.log)")
        #expect(posture.log.contains("its previous secret is 45 days old, and keys.age.days is 10"), "\(posture.log)")
    }
}
