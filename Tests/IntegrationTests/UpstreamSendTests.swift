import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// Sends that leave through a vendor's real service, for which a stub stands (docs/routing.md#upstream-sending).
@Suite(.timeLimit(.minutes(10))) struct UpstreamSendTests {
    /// docs/routing.md#rollouts: user-1 is at 27.5 %, user-2 at 77.7 %.
    private static let rollout: JSON = ["percent": 50, "by": "user", "salt": "spring"]

    private static let rules: JSON = [
        "calls": [
            ["kinds": ["send"], "rollout": rollout, "action": "serve"],
            ["kinds": ["send"], "action": "proxy", "upstream": "old"],
        ],
        "deliveries": [["rollout": rollout, "paths": ["apns"]], ["paths": ["old"]]],
    ]

    /// The body of a send. Its blanks, and the order of its members, are not those that the gateway writes.
    private func body(_ users: [String], _ text: String) -> String {
        let names = users.map { "\"\($0)\"" }.joined(separator: " , ")
        return "{ \"messages\" : {\"apple_push\":{ \"alert\":\"\(text)\" }},\n  \"external_user_ids\":[\(names)] }\n"
    }

    private func send(_ users: [String], _ text: String, _ braze: BrazeCaller) async throws -> BrazeCaller.Answer {
        try await braze.call("/messages/send", body(users, text))
    }

    /// `message show --device` prints these parts of the delivery that left through the upstream.
    private func prints(_ parts: [String], _ message: String, _ world: World) async throws {
        let device = try await world.value(
            "SELECT d.device_id::text AS value FROM gateway.delivery d WHERE d.transport = 'upstream:old'"
        )
        let shown = try await world.command(["message", "show", message, "--tenant", "acme", "--device", device])
        for part in parts + ["upstream:old"] { #expect(shown.log.contains(part), "\(part): \(shown.log)") }
    }

    @Test func aSendToMixedUsersIsDividedBetweenBothSides() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindBraze()
            let braze = BrazeCaller(world: world)
            let vendor = try await VendorStub.start(["braze"], world)
            try await closing(vendor.stop) {
                try await braze.importDevices([(1, "user-1"), (2, "user-2"), (3, "user-2")])
                let key = BrazeCaller.key
                try await world.place(
                    ["kind": "upstream-braze", "url": .string(vendor.url), "restKey": .string(key)],
                    Self.rules
                )
                // Inside and outside: the gateway accepts it, and the rules for deliveries divide it.
                let mixed = try await send(["user-1", "user-2"], "mixed", braze)
                #expect(mixed.status == 201, "\(mixed.text)")
                _ = try await braze.push(1)
                try await eventually("the vendor is called") {
                    try await vendor.calls(to: "/messages/send").count == 1
                }
                let call = try #require(try await vendor.calls(to: "/messages/send").first)
                #expect(VendorStub.body(of: call)?["external_user_ids"] == ["user-2"])
                #expect(VendorStub.body(of: call)?["messages"]?["apple_push"]?["alert"] == "mixed")
                // One call for each user: the second device is the vendor's.
                try await eventually("all deliveries are written") {
                    try await braze.deliveries(of: mixed) == "sent,sent,suppressed sameUser"
                }
                let transports = try await world.value(
                    """
                    SELECT coalesce(string_agg(d.user_id || ' ' || d.transport, ',' ORDER BY d.user_id), '') AS value
                    FROM gateway.delivery d WHERE d.state = 'sent'
                    """
                )
                #expect(transports == "user-1 apns,user-2 upstream:old")
                let recorded = try await world.value(
                    """
                    SELECT string_agg(c.state || ' ' || (c.reference IS NOT NULL), ',') AS value
                    FROM gateway.upstream_call c
                    """
                )
                #expect(recorded == "answered true")
                let target = try await world.value(
                    "SELECT d.target_id::text AS value FROM gateway.delivery d WHERE d.transport = 'upstream:old'"
                )
                let message = try await world.value(
                    "SELECT d.message_id::text AS value FROM gateway.delivery d WHERE d.transport = 'upstream:old'"
                )
                let shown = try await world.native("GET", "/v1/messages/\(message)/deliveries/\(target)")
                let trace = shown.json?["explanation"]?["upstream"]
                #expect(trace?["credential"] == "old" && trace?["answered"] == true, "\(shown.text)")
                #expect(trace?["reference"]?.string?.isEmpty == false)
                let rules = shown.json?["explanation"]?["rules"]
                #expect(rules?["version"] == 1 && rules?["rule"] == 1 && rules?["paths"] == ["old"], "\(shown.text)")
                #expect(rules?["bucket"] == 3_338_875_603)
                // All outside: the call itself goes to the vendor, byte for byte.
                let outside = try await send(["user-2"], "outside", braze)
                #expect(outside.status == 201)
                let calls = try await vendor.calls(to: "/messages/send")
                #expect(calls.count == 2)
                let last = try #require(calls.last)
                #expect(last["method"] == "POST" && last["target"] == "/messages/send")
                #expect(VendorStub.text(of: last) == body(["user-2"], "outside"))
                // All inside: the gateway alone.
                #expect(try await send(["user-1"], "inside", braze).status == 201)
                _ = try await braze.push(1, count: 2)
                #expect(try await vendor.calls(to: "/messages/send").count == 2)
                for device in [2, 3] { #expect(try await braze.pushes(device).isEmpty) }
                // Later rules do not change how it was routed.
                try await world.rule(["deliveries": [["paths": ["apns"]]]], after: 1)
                let later = try await world.native("GET", "/v1/messages/\(message)/deliveries/\(target)")
                #expect(later.json?["explanation"]?["rules"] == rules, "\(later.text)")
                let reference = try #require(trace?["reference"]?.string)
                try await prints(["version 1, deliveries[1], bucket 3338875603: old", reference], message, world)
            }
        }
    }

    // The vendor knows one of two users: it says so in its answer, and the other one is pushed.
    @Test func aUserWhomTheVendorDoesNotKnowIsPushed() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.applyUPMC()
            let gateway = UPMCCaller(base: world.http.base)
            let vendor = try await VendorStub.start(["upmc", "--set", "app=\(gateway.application)"], world)
            try await closing(vendor.stop) {
                let (known, unknown) = (UPMCCaller.Phone(user: "kim"), UPMCCaller.Phone(user: "lee"))
                for phone in [known, unknown] { try await gateway.register(phone) }
                try await UPMCCaller(base: vendor.url).register(known)
                try await world.place(
                    ["kind": "upstream-upmc", "url": .string(vendor.url)],
                    ["deliveries": [["paths": ["old", "apns"]]]],
                    app: gateway.app()
                )
                _ = try await gateway.send(to: ["kim", "lee"])
                _ = try await world.payload(of: unknown.token)
                try await eventually("both deliveries are written") {
                    let transports = try await world.value(
                        """
                        SELECT coalesce(
                            string_agg(d.user_id || ' ' || d.transport, ',' ORDER BY d.user_id), ''
                        ) AS value
                        FROM gateway.delivery d WHERE d.state = 'sent'
                        """
                    )
                    return transports == "kim upstream:old,lee apns"
                }
                let place = try await world.value(
                    """
                    SELECT d.message_id::text || '/deliveries/' || d.target_id::text AS value
                    FROM gateway.delivery d WHERE d.transport = 'apns'
                    """
                )
                let shown = try await world.native("GET", "/v1/messages/\(place)")
                let tried: JSON = [["path": "old", "outcome": "NOTEXISTCUIDS"], ["path": "apns", "outcome": "sent"]]
                #expect(shown.json?["explanation"]?["tried"] == tried, "\(shown.text)")
                #expect(shown.json?["reduced"] == .null)
                #expect(try await vendor.calls(to: "/upmc/rcv_register_message").count == 1)
                #expect(try await vendor.pushedTokens() == [known.token.lowercased()])
            }
        }
    }
}
