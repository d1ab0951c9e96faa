import Foundation
import Model
import Testing

@testable import CommandSupport

/// A vendor whose calls the gateway proxies and observes, with rules from a provisioning file (docs/routing.md#observation). The vendor is the stub in Python, which
/// shares no code with the gateway.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ObservedVendorTests {
    private static let application = "com.example.observed"
    private static let host = "push.observed.example"

    /// The demo's file with the vendor as an upstream, and an app with these rules of calls.
    private func write(_ world: World, _ file: String, _ vendor: VendorStub, _ calls: String) async throws {
        let base = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
        let upstream = "    credentials:\n      - { id: old, kind: upstream-upmc, url: \"\(vendor.url)\" }\n"
        let app = """

                  - id: observed
                    platforms:
                      ios: { topic: \(StageMaterial.topic), production: apple }
                    bindings:
                      upmc:
                        applicationId: \(Self.application)
                        version: "5.1"
                        host: \(Self.host)
                        settings: { senderNetworks: [127.0.0.1, "::1"] }
                    routes: { calls: [\(calls)] }
            """
        try (base.replacing("    credentials:\n", with: upstream) + app + "\n")
            .write(toFile: world.material.path(file), atomically: true, encoding: .utf8)
        let applied = try await world.apply(file)
        try #require(applied.status == 0, "\(applied.log)")
    }

    private func count(_ name: String, _ vendor: VendorStub) async throws -> Int64 {
        try await vendor.control.call("GET", "/_stub/counts").json?[name]?.int ?? 0
    }

    @Test func devicesAndMessagesOfAVendorAreKnownAndReceiptsFollowTheirMessages() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            let vendor = try await VendorStub.start(["upmc", "--set", "app=\(Self.application)"], world)
            try await closing(vendor.stop) {
                try #require(try await world.apply().status == 0)
                try await write(world, "proxied.yaml", vendor, "{ action: proxy, upstream: old }")
                var caller = UPMCCaller(base: world.http.base)
                caller.application = Self.application
                caller.host = Self.host
                let phone = UPMCCaller.Phone(user: "hong")
                // Until the rules are in force on the node, the gateway itself would answer.
                try await eventually("the vendor answers") {
                    _ = try? await caller.call("rcv_get_service", phone.fields)
                    return try await count("calls", vendor) > 0
                }
                // A page that no dialect knows, on the vendor's host, and on another one.
                let calls = try await count("calls", vendor)
                _ = try await world.http.call("GET", "/manual/index.html", headers: ["host": Self.host])
                #expect(try await count("calls", vendor) == calls + 1)
                #expect(try await world.http.call("GET", "/manual/index.html").status == 404)
                #expect(try await count("calls", vendor) == calls + 1)
                try await caller.register(phone)
                let devices = """
                    SELECT count(*)::text AS value FROM gateway.identity
                    WHERE app_id = 'observed' AND user_id = 'hong' AND state = 'active' AND key = 'APNS:\(phone.device)'
                    """
                try await eventually("the device is known") { try await world.value(devices) == "1" }

                let number = try await caller.send(to: ["hong"], ["SERVICECODE": "ALL"])
                try await eventually("the message is known") {
                    try await world.native("GET", "/v1/messages/\(number)").json?["state"] == "observed"
                }
                let delivery = """
                    SELECT coalesce(max(d.state || ' ' || d.transport), 'none') AS value FROM gateway.delivery d
                    WHERE d.app_id = 'observed' AND d.user_id = 'hong'
                    """
                #expect(try await world.value(delivery) == "sent observed:upmc")

                let follow = "{ kinds: [receipt], action: followMessage, upstream: old }"
                let rules = "\(follow), { action: proxy, upstream: old }"
                try await write(world, "followed.yaml", vendor, rules)
                let before = try await count("receipts", vendor)
                let answer = try await caller.read(phone, number, badge: -1)
                #expect(answer.code == "0000")
                try await eventually("the delivery is read") {
                    try await world.value(delivery) == "read observed:upmc"
                }
                let path = "/v1/analytics/funnel?app=observed&transport=observed:upmc&by=transport"
                let funnel = try await world.native("GET", path)
                #expect(funnel.json?["total"]?["accepted"]?.int == 1, "\(funnel.text)")
                #expect(funnel.json?["groups"]?.array?.first?["group"]?["transport"] == "observed:upmc")
                try await eventually("the vendor has the receipt") {
                    try await count("receipts", vendor) > before
                }
            }
        }
    }
}
