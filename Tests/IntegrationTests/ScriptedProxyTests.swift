import CommandSupport
import Foundation
import Model
import Testing

/// The documented flow of each vendor's apps and back ends, played by a script directly and through a gateway that proxies every call: the answers are equal, byte for
/// byte (docs/routing.md#proxying). Stubs and scripts share no code with the gateway, and a fresh stub with the same seed and clock gives the same answers to the same
/// calls.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ScriptedProxyTests {
    /// A vendor with the provisioning that its script needs.
    struct Script: Sendable, CustomTestStringConvertible {
        let vendor: String
        /// The binding and the credential without address, as members of YAML.
        let binding: String
        let credential: String
        /// The calls that the gateway answers itself: they name an unknown app, or prove nothing where the gateway signs again.
        let answeredHere: [String]
        /// Calls that name no app are proxied by the rules of their host. A hub's calls name the hub, and their signatures the host.
        var hasHost = true

        var testDescription: String { vendor }
    }

    private static let host = "push.vendor.example"
    private static let time = "2026-01-01T00:00:00Z"
    /// The keys of the stub of Notification Hubs.
    private static let hubKeys = [
        "NH_FULL": "ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHktMDEyMzQ1Njc=",
        "NH_LISTEN": "ZmFrZS1saXN0ZW4ta2V5LWZvci10ZXN0cy1vbmx5LTAxMjM=",
    ]

    static let scripts = [
        Script(
            vendor: "rationalowl",
            binding: "accountId: a1b2c3d4-1111-4222-8333-444455556666, serviceId: 0123456789abcdef0123456789abcdef",
            credential: "",
            answeredHere: ["installs for another account", "names another service"]
        ),
        Script(
            vendor: "upmc",
            binding: #"applicationId: com.example.app, version: "5.1""#,
            credential: "",
            answeredHere: ["names no app"]
        ),
        Script(
            vendor: "ipns",
            binding: "appId: hr.mobile",
            credential: "",
            answeredHere: ["registers at another app"]
        ),
        Script(
            vendor: "braze",
            binding: "sdkKey: \(BrazeCaller.sdkKey), restKeyEnv: OLD_KEY",
            credential: ", restKeyEnv: OLD_KEY",
            answeredHere: ["shows a wrong key"]
        ),
        Script(
            vendor: "notificationhubs",
            binding: """
                hub: hub1, settings: { listenMayTag: true }, keys: [ \
                { name: DefaultFullSharedAccessSignature, valueEnv: NH_FULL, rights: [listen, send, manage] }, \
                { name: DefaultListenSharedAccessSignature, valueEnv: NH_LISTEN, rights: [listen] } ]
                """,
            credential: ", hub: hub1, keyName: DefaultFullSharedAccessSignature, keyEnv: NH_FULL",
            answeredHere: [
                "shows no signature", "shows a wrong signature", "shows an expired signature",
                "sends with the listen key", "calls another hub",
            ],
            hasHost: false
        ),
    ]

    @Test(arguments: scripts) func proxiedAnswersAreThoseOfTheVendor(_ script: Script) async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            let (port, direct) = try await play(script, world)
            try await provision(script, world, port)
            // The stub has the same address again: answers of Notification Hubs contain it.
            let (_, proxied) = try await play(script, world, port: port, through: world.http.base)
            #expect(direct.count > 30 && proxied.count == direct.count)
            for (one, other) in zip(direct, proxied) {
                let name = one["name"]?.string ?? ""
                try #require(other["name"]?.string == name)
                #expect(one["response"] == other["response"], "\(name): \(JSONWriter.text(other))")
            }
        }
    }

    /// Plays the script against a fresh stub, and returns the stub's port and a line for each call. `base`: the address of the gateway; nil: that of the stub.
    private func play(
        _ script: Script,
        _ world: World,
        port: Int = 0,
        through base: String? = nil
    ) async throws -> (port: Int, lines: [JSON]) {
        let same = ["--seed", "7", "--time", Self.time, "--set", "callsPerSecond=0"]
        let vendor = try await VendorStub.start([script.vendor] + same, world, port: port)
        var lines: [JSON] = []
        try await closing(vendor.stop) {
            if script.vendor == "braze" {
                let campaign: JSON = [
                    "campaign_id": "9a8b7c6d-0000-4000-8000-000000000001",
                    "apple_push": ["alert": "Hi {{api_trigger_properties.${name}}}"],
                ]
                let made = try await vendor.control.call("POST", "/_stub/campaigns", campaign)
                try #require(made.status == 200, "\(made.text)")
            }
            let out = world.material.path(base == nil ? "direct.jsonl" : "proxied.jsonl")
            var arguments = [script.vendor, "--base", base ?? vendor.url, "--time", Self.time, "--out", out]
            arguments += script.answeredHere.flatMap { ["--skip", $0] }
            if base != nil, script.hasHost { arguments += ["--host", Self.host] }
            let played = try await PythonClient(world).run(
                script: "vendorstubs/clients/__main__",
                arguments,
                environment: [:]
            )
            try #require(played.status == 0, "\(played.log)")
            lines = try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n")
                .map { try JSONParser.parse(String($0)) }
        }
        return (try #require(URL(string: vendor.url)?.port), lines)
    }

    /// An app with the vendor's binding whose calls are all proxied, and returns when the rules are in force.
    private func provision(_ script: Script, _ world: World, _ port: Int) async throws {
        let base = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let kind = "id: old, kind: upstream-\(script.vendor)"
        let upstream = #"      - { \#(kind), url: "http://127.0.0.1:\#(port)"\#(script.credential) }"#
        let host = script.hasHost ? ", host: \(Self.host)" : ""
        let app = """

                  - id: moving
                    platforms:
                      ios: { topic: \(StageMaterial.topic), production: apple }
                    bindings:
                      \(script.vendor): { \(script.binding)\(host) }
                    routes: { calls: [{ action: proxy, upstream: old }] }

            """
        try (base.replacing("    credentials:\n", with: "    credentials:\n\(upstream)\n") + app)
            .write(toFile: world.material.path("moving.yaml"), atomically: true, encoding: .utf8)
        let applied = try await world.apply(
            "moving.yaml",
            environment: Self.hubKeys.merging(["OLD_KEY": BrazeCaller.key]) { own, _ in own }
        )
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the upstream is opened") { try world.gatewayLog().contains("upstream opened") }
        // A call that asks for the rules would move the stub's clock.
        try await world.readProvisioningAgain()
    }
}
