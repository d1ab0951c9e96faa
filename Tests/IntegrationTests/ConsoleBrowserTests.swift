import CommandSupport
import Foundation
import Gateway
import Model
import PageParts
import Testing

@testable import WebConsole

/// The web console of a real gateway, driven by Debian's Chromium: Playwright and axe-core of the Python package index. Without them the test is skipped
/// with the reason; with `REQUIRE_BROWSER=1` it fails.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct ConsoleBrowserTests {
    private static let browser = "/usr/bin/chromium"
    /// The accounts that the scripts use, with their roles.
    private static let accounts = ["owner": "owner", "operator": "operator", "author": "author"]

    /// Runs `body` with a gateway, its console's address, and Python with the packages.
    private func withConsole(_ body: (World, String, PythonClient) async throws -> Void) async throws {
        guard FileManager.default.isExecutableFile(atPath: Self.browser) else {
            return try World.lacks("\(Self.browser) is not installed: scripts/setup --tests")
        }
        try await World.withConsole(
            ["--retry-scale", "0.0005"],
            provision: provision,
            python: { try await PythonClient($0, installing: "playwright==1.65.2", "axe-playwright-python==0.1.8") },
            body
        )
    }

    /// Applies the demo's file, and then with what the phases need in addition: a key that administers, and the
    /// credential `stale`, whose key ID APNs does not know.
    private func provision(_ world: World) async throws {
        try #require(try await world.apply().status == 0)
        try world.writeKeys([(name: "admin", secret: "pgw_" + SystemIdentifiers().randomHex(byteCount: 24))])
        let text = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let start = try #require(text.firstRange(of: "    credentials:\n"))
        let end = try #require(text.firstRange(of: "    apps:\n"))
        let stale = text[start.upperBound..<end.lowerBound].replacing("id: apple,", with: "id: stale,")
            .replacing("keyId: \(StageMaterial.keyID)", with: "keyId: DEMOKEY002")
        let admin = "      - { name: admin, secretFile: admin.key, scopes: [admin, send, devices, read, content] }\n"
        let file = text.replacing("    apiKeys:\n", with: "    apiKeys:\n" + admin)
            .replacing("    apps:\n", with: stale + "    apps:\n")
        try file.write(toFile: world.material.path("console.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply("console.yaml")
        try #require(applied.status == 0, "\(applied.log)")
    }

    /// Where the pictures are kept: `GATEWAY_ARTIFACTS`, or the world's folder, which is removed.
    private func artifacts(_ world: World) -> String {
        ProcessInfo.processInfo.environment["GATEWAY_ARTIFACTS"].map { $0 + "/console" }
            ?? world.material.path("console")
    }

    private func link(_ world: World, _ name: String, _ role: String, _ base: String) async throws -> JSON {
        let made = try await world.command([
            "account", "invite", name, "--tenant", "acme", "--role", role, "--url", base,
        ])
        let line = made.log.split(separator: "\n").first { $0.hasPrefix("http") }
        return .string(String(try #require(line, "\(made.log)")))
    }

    /// Runs phases of `run.py` in one browser, because a start of the browser and its driver takes seconds. Returns the JSON object of each phase by its name.
    private func run(
        _ phases: [String],
        _ world: World,
        _ base: String,
        _ python: PythonClient,
        links: JSONObject = [:],
        within limit: Duration
    ) async throws -> [String: JSON] {
        let pages = JSON.array(Pages.all.map { .string($0.path) })
        let result = try await python.run(
            script: "console/run",
            [phases.joined(separator: ","), base, artifacts(world)],
            environment: [
                "CONSOLE_LINKS": JSONWriter.text(.object(links)), "CONSOLE_PAGES": JSONWriter.text(pages),
                "GATEWAY_API": world.http.base, "GATEWAY_KEY": world.apiKey,
                "GATEWAY_ADMIN_KEY": String(contentsOfFile: world.material.path("admin.key"), encoding: .utf8),
                "SIMULATOR": world.control.base, "PYTHONDONTWRITEBYTECODE": "1",
            ],
            within: limit
        )
        #expect(result.status == 0, "\(result.log)")
        var ended: [String: JSON] = [:]
        for line in result.log.split(separator: "\n") where line.hasPrefix("{") {
            let counts = try? JSONParser.parse(String(line))
            if let phase = counts?["phase"]?.string { ended[phase] = counts }
            print("console: \(line)")
        }
        #expect(ended.keys.sorted() == phases.sorted(), "\(result.log)")
        return ended
    }

    /// The flows of support and operations are played after the crawl: their objects have English names. `operate` is the last of them: the gateway gives up
    /// the messages that it requeues a minute after `send` has planted them.
    private static let untilLockout = [
        "people", "send", "crawl", "diagnose", "credentials", "routes", "migration", "keyboard", "behaviour",
        "operate", "lockout",
    ]
    private static let unlocked = ["unlocked", "typed"]

    @Test func peopleSignInComposeAndSendAndEveryPageIsAccessible() async throws {
        try await withConsole { world, base, python in
            var links = JSONObject()
            for (name, role) in Self.accounts.sorted(by: { $0.key < $1.key }) {
                links[name] = try await link(world, name, role, base)
            }
            let first = try await run(Self.untilLockout, world, base, python, links: links, within: .seconds(1300))
            #expect(first["people"]?["accounts"]?.int == Int64(Self.accounts.count))
            // Each page in two languages, two themes and two widths; with `CONSOLE_CHECKS=all` in three widths.
            let count = Int64(Pages.all.count)
            let views: Int64 = ProcessInfo.processInfo.environment["CONSOLE_CHECKS"] == "all" ? 12 : 8
            let crawl = first["crawl"]
            #expect((crawl?["pages"]?.int ?? 0) >= count && (crawl?["axe"]?.int ?? 0) >= views * count, "\(first)")
            #expect((first["diagnose"]?["causes"]?.int ?? 0) >= 10, "\(first)")
            #expect((first["credentials"]?["wrong"]?.int ?? 0) >= 10, "\(first)")
            #expect(try await world.command(["account", "unlock", "author"]).status == 0)
            let second = try await run(Self.unlocked, world, base, python, within: .seconds(300))
            #expect((second["typed"]?["forms"]?.int ?? 0) >= 20, "\(second)")
        }
    }
}
