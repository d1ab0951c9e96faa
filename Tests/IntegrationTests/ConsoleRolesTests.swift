import CommandSupport
import Foundation
import Model
import PageParts
import TestKit
import Testing

@testable import WebConsole

/// The web console of a real gateway with two tenants, called by programs: who may open and send what, and requests
/// that no browser makes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ConsoleRolesTests {
    private static let scopes = "admin,send,devices,read,content"

    /// Runs `body` with a gateway of two tenants and the environment of the scripts.
    private func withTenants(
        _ body: (PythonClient, String, [String: String]) async throws -> Void
    ) async throws {
        try await World.withConsole(
            // Webhooks of the tests lead to a closed port of this machine.
            ["--webhook-allow", "127.0.0.0/8"],
            provision: { world in
                try #require(try await world.apply().status == 0)
                try await world.apply("tenants-of-two.yaml", keys: "", apps: try Self.rival(world))
            },
            python: { try PythonClient($0) }
        ) { world, base, python in
            try await body(python, base, try await environment(world, base))
        }
    }

    /// The second tenant of the provisioning file, with the credential of the first.
    private static func rival(_ world: World) throws -> String {
        let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0 == "    credentials:" })
        let last = try #require(lines.firstIndex { $0 == "    apps:" })
        let app = [
            "    apps:", "      - id: kiosk", "        platforms:",
            "          ios: { topic: \(StageMaterial.topic), production: apple }", "        bindings:",
            "          rationalowl: { accountId: rival-account, serviceId: rival-service }", "",
        ]
        return (["", "  - id: rival"] + lines[first..<last].map(String.init) + app).joined(separator: "\n")
    }

    private func environment(_ world: World, _ base: String) async throws -> [String: String] {
        var keys: [String: String] = [:]
        for tenant in ["acme", "rival"] {
            let made = try await world.command([
                "key", "create", "--tenant", tenant, "--name", "console", "--scopes", Self.scopes,
            ])
            let key = made.log.split(separator: "\n").map(String.init).first { $0.hasPrefix("pgw_") }
            let secret = try #require(key, "\(made.log)")
            try await eventually("the key is known") {
                try await world.http.call("GET", "/v1/keys", bearer: secret).status == 200
            }
            keys[tenant] = secret
        }
        var links = JSONObject()
        let places = [
            "owner": ["--tenant", "acme"], "rival-owner": ["--tenant", "rival"], "platform": ["--role", "platform"],
        ]
        for (name, place) in places {
            let made = try await world.command(["account", "invite", name, "--url", base] + place)
            let line = made.log.split(separator: "\n").map(String.init).first { $0.hasPrefix(base) }
            links[name] = .string(try #require(line, "\(made.log)"))
        }
        var forms = JSONObject()
        for page in Pages.all { forms[page.path] = .array(page.forms.map { .string($0.name) }) }
        return [
            "GATEWAY_API": world.http.base, "GATEWAY_KEY": keys["acme"] ?? "", "RIVAL_KEY": keys["rival"] ?? "",
            "CONSOLE_LINKS": JSONWriter.text(.object(links)), "CONSOLE_FORMS": JSONWriter.text(.object(forms)),
            "APNS_KEY": world.material.path("AuthKey_\(StageMaterial.keyID).p8"), "PYTHONDONTWRITEBYTECODE": "1",
        ]
    }

    /// Runs a script, which prints a JSON object at its end.
    private func run(
        _ script: String,
        _ python: PythonClient,
        _ arguments: [String],
        _ environment: [String: String]
    ) async throws -> JSON {
        let result = try await python.run(
            script: "console/\(script)",
            arguments,
            environment: environment,
            within: .seconds(240)
        )
        #expect(result.status == 0, "\(script): \(result.log)")
        return try JSONParser.parse(result.log.split(separator: "\n").last.map(String.init) ?? "")
    }

    /// The table of `rights.py` against the lists of the console, its pages and its answers; then what no page sends.
    @Test func everyFormIsOpenToItsRolesOnlyAndNothingBreaksTheConsole() async throws {
        try await withTenants { python, base, environment in
            let crawled = try await run("roles", python, [base], environment)
            #expect((crawled["requests"]?.int ?? 0) > 1500, "\(crawled)")
            let fuzzed = try await run("fuzz", python, [base, "\(Fuzz.seed)"], environment)
            #expect((fuzzed["requests"]?.int ?? 0) > 200 && (fuzzed["forms"]?.int ?? 0) > 30, "\(fuzzed)")
        }
    }
}
