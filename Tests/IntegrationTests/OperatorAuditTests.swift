import CommandSupport
import Foundation
import Model
import Testing

/// The audit of commands at a shell, with the names of the operators (H5): without it, a bank cannot find out who exported its devices.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld())
struct OperatorAuditTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// The acts that `body` leaves in the audit, oldest first: action, subject and actor.
    private func acts(_ body: (World) async throws -> Void) async throws -> [String] {
        let world = try world
        let last = "SELECT coalesce(max(position), 0)::text AS value FROM gateway.audit WHERE tenant_id = 'acme'"
        let start = try await world.value(last)
        try await body(world)
        let rows = try await world.value(
            """
            SELECT coalesce(string_agg(action || ' ' || subject || ' by ' || actor, ';' ORDER BY position), '') AS value
            FROM gateway.audit WHERE tenant_id = 'acme' AND position > \(start)
            """
        )
        return rows.split(separator: ";").map(String.init)
    }

    private func run(_ world: World, _ arguments: [String]) async throws {
        let done = try await world.command(arguments, environment: ["DEMO_API_KEY": world.apiKey])
        try #require(done.status == 0, "\(arguments): \(done.log)")
    }

    @Test func anExportIsInTheAuditWithItsOperator() async throws {
        let device: JSON = [
            "app": "shop", "platform": "ios", "key": "exported-1", "user": "kim",
            "token": .string(String(repeating: "e4", count: 32)),
        ]
        let made = try await world.native("POST", "/v1/devices", device)
        try #require(made.status == 201, "\(made.text)")
        let acts = try await acts { world in
            try await run(world, ["devices", "export", "--tenant", "acme", "--app", "shop", "--by", "lee"])
            let directory = world.material.path("taken")
            try await run(world, ["tenant", "export", directory, "--tenant", "acme", "--by", "min"])
        }
        let user = getuid()
        #expect(acts == ["export app shop by cli:\(user) lee", "export app shop by cli:\(user) min"])
    }

    @Test func aChangedSettingIsInTheAuditWithItsOperator() async throws {
        let world = try world
        let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let closed = #"senderNetworks: [127.0.0.1, "::1"]"#
        try #require(text.contains(closed))
        let path = world.material.path("opened.yaml")
        try text.replacing(closed, with: "openSends: true").write(toFile: path, atomically: true, encoding: .utf8)
        let acts = try await acts { try await run($0, ["apply", "--file", path, "--by", "ann"]) }
        #expect(!acts.isEmpty && acts.allSatisfy { $0.hasPrefix("write binding rationalowl ") }, "\(acts)")
        #expect(acts.allSatisfy { $0.hasSuffix(" by provisioning ann") }, "\(acts)")
        let changes = try await world.value(
            """
            SELECT data->>'changes' AS value FROM gateway.audit WHERE tenant_id = 'acme' AND actor = 'provisioning ann'
            ORDER BY position DESC LIMIT 1
            """
        )
        #expect(changes.contains("openSends") && changes.contains("senderNetworks"), "before and after: \(changes)")
    }
}
