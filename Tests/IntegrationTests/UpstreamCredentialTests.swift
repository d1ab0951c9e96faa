import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// Credentials for vendors' real services: through the API, and through files, commands and `doctor` (docs/routing.md#upstreams).
@Suite(.timeLimit(.minutes(10))) struct UpstreamCredentialTests {
    private static let secret = "the-key-of-the-vendor-4711"

    private func braze(_ changes: JSONObject = [:]) -> JSON {
        var body: JSONObject = [
            "kind": "upstream-braze", "url": "https://rest.fra-01.braze.eu", "restKey": .string(Self.secret),
            "callsPerSecond": 200,
        ]
        for (key, value) in changes.pairs { body[key] = value == .null ? nil : value }
        return .object(body)
    }

    @Test func anUpstreamIsCheckedSealedAndNeverReturned() async throws {
        try await NativeStage.on { stage in
            let made = try await stage.native(.PUT, "/v1/credentials/old", braze())
            #expect(made.status == 201, "\(made.text)")
            for answer in [made, try await stage.native(.GET, "/v1/credentials/old")] {
                #expect(!answer.text.contains(Self.secret), "\(answer.text)")
                #expect(answer.json?["kind"] == "upstream-braze" && answer.json?["usable"] == true)
                #expect(answer.json?["url"] == "https://rest.fra-01.braze.eu" && answer.json?["endpoint"] == .null)
                #expect(answer.json?["callsPerSecond"] == 200 && answer.json?["pushesPerSecond"] == .null)
                #expect(answer.json?["secrets"] == ["restKey"])
            }
            let stored = try await stage.count(
                "gateway.credential WHERE credential_id = 'old' AND position('4711' in encode(sealed, 'escape')) = 0"
            )
            #expect(stored == 1)
            let refused: [(JSON, String)] = [
                (braze(["restKey": .null]), "needs restKey"), (braze(["url": .null]), "url: is missing"),
                (braze(["url": "https://a.example/?x"]), "url: must be an address like https://rest.fra-01.braze.eu"),
                (braze(["trustRoots": "x"]), "trustRoots: contains no certificate"),
                (braze(["kind": "upstream-upmc"]), "restKey: is not a known key"),
                (braze(["kind": "upstream-fcm"]), "kind: "), (braze(["pushesPerSecond": 1]), "pushesPerSecond: is not"),
            ]
            for (body, fault) in refused {
                let answer = try await stage.native(.PUT, "/v1/credentials/wrong", body)
                #expect(answer.status == 422 && answer.text.contains(fault), "\(fault): \(answer.text)")
            }
            let upmc = try await stage.native(
                .PUT,
                "/v1/credentials/upmc",
                ["kind": "upstream-upmc", "url": "http://10.1.2.3/push", "byDevice": false]
            )
            #expect(upmc.status == 201 && upmc.json?["secrets"] == [], "\(upmc.text)")
            // It is not a key of the push service.
            for name in ["old", ""] {
                let app = try await stage.native(
                    .PUT,
                    "/v1/apps/web",
                    ["platforms": ["ios": ["topic": "a.b", "production": .string(name)]]]
                )
                #expect(app.status == 422 && app.text.contains("unknown credential '\(name)'"), "\(app.text)")
            }
            let audit = try await stage.native(.GET, "/v1/audit?limit=1000")
            #expect(audit.text.contains("callsPerSecond") && !audit.text.contains(Self.secret))
            #expect(try await stage.native(.DELETE, "/v1/credentials/old").status == 204)
        }
    }

    @Test func aFilesUpstreamIsListedMaskedAndProbedByDoctor() async throws {
        let receiver = CallbackReceiver(refusing: 0)
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await receiver.serving { port in
                let yaml = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
                let upstream = """
                        credentials:
                          - { id: old, kind: upstream-upmc, url: "http://127.0.0.1:\(port)", callsPerSecond: 7 }
                          - { id: crm, kind: upstream-braze, url: "https://127.0.0.1:\(port)", restKeyEnv: OLD_KEY }

                    """
                try yaml.replacing("    credentials:\n", with: upstream)
                    .write(toFile: world.material.path("upstreams.yaml"), atomically: true, encoding: .utf8)
                let applied = try await world.apply("upstreams.yaml", environment: ["OLD_KEY": Self.secret])
                try #require(applied.status == 0, "\(applied.log)")
                try await eventually("both are opened", within: .seconds(10)) {
                    try world.gatewayLog().ranges(of: "upstream opened").count >= 2
                }
                #expect(try !world.gatewayLog().contains("cannot be opened"))

                let list = try await world.command(["credential", "list"])
                #expect(list.log.contains("upstream-upmc") && list.log.contains("restKey=***"), "\(list.log)")
                #expect(!list.log.contains(Self.secret))
                let json = try await world.command(["credential", "list", "--json"])
                #expect(json.log.contains(#""callsPerSecond":7"#), "\(json.log)")

                let strict = try await world.command(["doctor"])
                #expect(strict.log.contains("127.0.0.1: is called without TLS"), "\(strict.log)")
                #expect(strict.log.contains("is not in the public internet; list its address in upstream.allow"))
                #expect(receiver.attempts == 0)
                let open = try await world.command(["doctor"], environment: ["UPSTREAM_ALLOW": "127.0.0.0/8"])
                #expect(open.log.contains("answers over HTTP/1.1 with status"), "\(open.log)")
                #expect(open.log.contains("no connection: check address"), "TLS to a port without it: \(open.log)")
                #expect(!open.log.contains(Self.secret))
                // Without effect at the vendor. The other upstream is not reached.
                #expect(receiver.methods == ["HEAD"])
            }
        }
    }
}
