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

    /// The stub of a vendor, with its control calls.
    private struct VendorStub {
        let url: String
        let control: HTTPCaller

        func calls(to path: String) async throws -> [JSON] {
            let all = try await control.call("GET", "/_stub/calls").json?["calls"]?.array ?? []
            return all.filter { $0["target"]?.string?.hasPrefix(path) ?? false }
        }

        /// The tokens to which the vendor pushes.
        func pushedTokens() async throws -> [String] {
            let all = try await control.call("GET", "/_stub/pushes").json?["pushes"]?.array ?? []
            return all.compactMap { $0["token"]?.string?.lowercased() }
        }

        /// The body of a recorded call.
        static func body(of call: JSON) -> JSON? {
            call["body"]?.string.flatMap { Data(base64Encoded: $0) }.flatMap { try? JSONParser.parse(Array($0)) }
        }
    }

    private func start(_ arguments: [String], _ world: World) async throws -> (VendorStub, ChildProcess) {
        let log = world.material.path("vendor.log")
        let process = try PythonClient(world).start(
            script: "vendorstubs/__main__",
            arguments + ["--port", "0"],
            logFile: log
        )
        var ready: JSON?
        try await eventually("the stub is ready") {
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            ready = text.split(separator: "\n").lazy.compactMap { try? JSONParser.parse(String($0)) }
                .first { $0["control"] != nil }
            return ready != nil
        }
        let url = try #require(ready?["url"]?.string)
        let port = try #require(ready?["control"]?.int)
        return (VendorStub(url: url, control: HTTPCaller(base: "http://127.0.0.1:\(port)")), process)
    }

    /// Provisions the upstream, and the rules for the app.
    private func place(
        _ credential: JSON,
        behind world: World,
        app: String = "shop",
        _ rules: JSON = UpstreamSendTests.rules
    ) async throws {
        _ = try await world.value(
            """
            WITH u AS (UPDATE gateway.api_key SET scopes = scopes || '{admin}' RETURNING 1)
            SELECT count(*)::text AS value FROM u
            """
        )
        try await eventually("the key has the scope") {
            try await world.native("PUT", "/v1/credentials/old", credential).status == 201
        }
        try await eventually("the upstream is opened") { try world.gatewayLog().contains("upstream opened") }
        let put = try await world.http.call(
            "PUT",
            "/v1/apps/\(app)/routes",
            rules,
            headers: ["If-Match": "\"0\""],
            bearer: world.apiKey
        )
        try #require(put.status == 200 || put.status == 201, "\(put.text)")
        // All calls follow new rules within a second.
        try await Task.sleep(for: .milliseconds(1500))
    }

    private func send(_ users: [String], _ text: String, _ braze: BrazeCaller) async throws -> BrazeCaller.Answer {
        let body: JSON = [
            "external_user_ids": .array(users.map { .string($0) }),
            "messages": ["apple_push": ["alert": .string(text)]],
        ]
        return try await braze.call("/messages/send", JSONWriter.text(body))
    }

    @Test func aSendToMixedUsersIsDividedBetweenBothSides() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindBraze()
            let braze = BrazeCaller(world: world)
            let (vendor, process) = try await start(["braze"], world)
            try await closing {
                await vendor.control.close()
                _ = await process.stop()
            } after: {
                try await braze.importDevices([(1, "user-1"), (2, "user-2"), (3, "user-2")])
                let key = BrazeCaller.key
                try await place(
                    ["kind": "upstream-braze", "url": .string(vendor.url), "restKey": .string(key)],
                    behind: world
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
                let body = calls.last.flatMap { VendorStub.body(of: $0) }
                #expect(body?["messages"]?["apple_push"]?["alert"] == "outside")
                // All inside: the gateway alone.
                #expect(try await send(["user-1"], "inside", braze).status == 201)
                _ = try await braze.push(1, count: 2)
                #expect(try await vendor.calls(to: "/messages/send").count == 2)
                for device in [2, 3] { #expect(try await braze.pushes(device).isEmpty) }
            }
        }
    }

    // The vendor knows one of two users: it says so in its answer, and the other one is pushed.
    @Test func aUserWhomTheVendorDoesNotKnowIsPushed() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.applyUPMC()
            let gateway = UPMCCaller(base: world.http.base)
            let (vendor, process) = try await start(["upmc", "--set", "app=\(gateway.application)"], world)
            try await closing {
                await vendor.control.close()
                _ = await process.stop()
            } after: {
                let (known, unknown) = (UPMCCaller.Phone(user: "kim"), UPMCCaller.Phone(user: "lee"))
                for phone in [known, unknown] { try await gateway.register(phone) }
                try await UPMCCaller(base: vendor.url).register(known)
                try await place(
                    ["kind": "upstream-upmc", "url": .string(vendor.url)],
                    behind: world,
                    app: gateway.app(),
                    ["deliveries": [["paths": ["old", "apns"]]]]
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
                #expect(try await vendor.calls(to: "/upmc/rcv_register_message").count == 1)
                #expect(try await vendor.pushedTokens() == [known.token.lowercased()])
            }
        }
    }
}
