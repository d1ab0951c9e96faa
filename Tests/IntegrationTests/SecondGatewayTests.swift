import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// A second gateway as the vendor of an app: everything that one gateway does with a vendor's server must be right for its own wires too, byte for byte
/// (docs/routing.md). The two share nothing but loopback: each has its own database, keys and simulator.
@Suite(.timeLimit(.minutes(10))) struct SecondGatewayTests {
    /// An app of iPNS at two gateways, the second of which is the upstream `old` of the first.
    private struct Pair {
        let own: World
        let vendor: World

        /// Calls an operation of the app.
        static func call(_ world: World, _ operation: String, _ fields: JSON, key: String? = nil) async throws
            -> HTTPCaller.Answer
        {
            var body = fields.object ?? JSONObject()
            body["APP_ID"] = "hr.mobile"
            return try await world.http.call("POST", "/ipns/\(operation)", .object(body), bearer: key)
        }

        static func phone(_ device: String, _ user: String, _ token: String) -> JSON {
            ["USER_CN": .string(user), "DEVICE_ID": .string(device), "PUSH_TOKEN": .string(token), "PUSH_TYPE": "ios"]
        }

        func register(_ phone: JSON, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let answer = try await Self.call(own, "appRegist", phone)
            #expect(answer.json?["RT"] == "0000", "\(answer.text)", sourceLocation: sourceLocation)
        }

        /// Whether the vendor knows the device, which no call at the first gateway shows.
        func knows(_ device: String) async throws -> Bool {
            let found = """
                SELECT count(*)::text AS value FROM gateway.identity WHERE key = '\(device)' AND state = 'active'
                """
            return try await vendor.value(found) == "1"
        }

        /// The deliveries that a message has at the vendor, by the state that is shown.
        func funnel(_ number: String) async throws -> JSON? {
            try await vendor.native("GET", "/v1/messages/\(number)").json?["funnel"]
        }

        func pushes(of world: World, to token: String) async throws -> Int {
            let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)&limit=10")
            return answer.json?["requests"]?.array?.count ?? 0
        }
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", 0x2ED0 + number) }

    private func with(_ body: (Pair) async throws -> Void) async throws {
        let allowing = ["--upstream-allow", "127.0.0.0/8"]
        try await World.with(serveArguments: allowing) { own in
            try #require(try await own.apply().status == 0)
            try await own.bindIPNS()
            try await World.with(serveArguments: allowing) { vendor in
                try #require(try await vendor.apply().status == 0)
                try await vendor.bindIPNS()
                let upstream: JSON = [
                    "kind": "upstream-ipns", "url": .string(vendor.http.base), "apiKey": .string(vendor.apiKey),
                ]
                try await own.place(upstream, ["calls": [["action": "proxy", "upstream": "old"]]])
                try await body(Pair(own: own, vendor: vendor))
            }
        }
    }

    @Test func aGatewayIsAVendorOfAnother() async throws {
        try await with { pair in
            let (own, vendor) = (pair.own, pair.vendor)
            try await proxies(pair)

            // A message that the vendor has sent; from now on the devices are registered here, and the vendor learns of them.
            let earlier = try await send(pair, "before", key: vendor.apiKey)
            try await own.rule(
                [
                    "calls": [
                        ["kinds": ["receipt"], "action": "followMessage", "upstream": "old"],
                        ["kinds": ["device"], "action": "serveAndForward", "upstream": "old"],
                        ["action": "serve"],
                    ], "deliveries": [["paths": ["old", "apns"]]],
                ],
                after: 1
            )
            let receipt: JSON = ["DEVICE_ID": "phone-1", "MSG_ID": .string(earlier)]
            #expect(try await Pair.call(own, "recvReport", receipt).json?["RT"] == "0000")
            try await eventually("the receipt of the vendor's message is at the vendor") {
                try await pair.funnel(earlier)?["received"] == 1
            }
            try await pair.register(Pair.phone("phone-2", "lee", Self.token(2)))
            try await eventually("the vendor knows the device") { try await pair.knows("phone-2") }

            // A device that only the first gateway knows is pushed by it, the others by the vendor.
            try await own.importDevices("ipns", [("phone-3", Self.token(3), "park")])
            let message = try await own.send("after", to: ["users": ["kim", "lee", "park"]])
            try await eventually("the deliveries are written") {
                try await own.deliveries(of: message) == ["sent upstream:old", "sent upstream:old", "sent apns"]
            }
            for number in [1, 2] { _ = try await vendor.payload(of: Self.token(number), count: number == 1 ? 2 : 1) }
            _ = try await own.payload(of: Self.token(3))
            #expect(try await pair.pushes(of: own, to: Self.token(1)) == 0)
            #expect(try await pair.pushes(of: own, to: Self.token(2)) == 0)
            #expect(try await pair.pushes(of: vendor, to: Self.token(3)) == 0)
        }
    }

    /// The phone of `kim` registers, is sent to and reports, while each call is the vendor's.
    private func proxies(_ pair: Pair) async throws {
        let (own, vendor) = (pair.own, pair.vendor)
        let phone = Pair.phone("phone-1", "kim", Self.token(1))
        try await pair.register(phone)
        #expect(try await pair.knows("phone-1"))
        // The answer through the first gateway is that of the vendor.
        let reading: JSON = ["DEVICE_ID": "phone-1"]
        for (operation, fields) in [("appRegist", phone), ("getConfig", reading), ("getConfig", ["DEVICE_ID": "no"])] {
            let (direct, proxied) = (
                try await Pair.call(vendor, operation, fields), try await Pair.call(own, operation, fields)
            )
            #expect(direct.bytes == proxied.bytes && direct.status == proxied.status, "\(operation)")
            #expect(direct.headers.first(name: "content-type") == proxied.headers.first(name: "content-type"))
        }
        // The keys of the first gateway are worth nothing at the second.
        let body: JSON = ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["kim"], "ALERT": "no"]
        #expect(try await Pair.call(own, "send", body, key: own.apiKey).json?["RT"] == "9999")
        let number = try await send(pair, "proxied", key: vendor.apiKey)
        let payload = try await vendor.payload(of: Self.token(1))
        #expect(JSONWriter.text(payload).contains("proxied"))
        #expect(try await pair.pushes(of: own, to: Self.token(1)) == 0)
        let read: JSON = ["DEVICE_ID": "phone-1", "USER_CN": "kim", "REQ_ID": .string(number)]
        #expect(try await Pair.call(own, "readReport", read).json?["RT"] == "0000")
        #expect(try await pair.funnel(number)?["read"] == 1)
        // The message and the device are known here too.
        try await eventually("the message is observed") {
            try await own.native("GET", "/v1/messages/\(number)").json?["state"] == "observed"
        }
        try await eventually("the delivery is read here") {
            let shown = try await own.native("GET", "/v1/messages/\(number)")
            return shown.json?["funnel"]?["read"] == 1
        }
    }

    /// Sends to `kim` through the first gateway, with a key of the vendor.
    private func send(
        _ pair: Pair,
        _ text: String,
        key: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let body: JSON = ["PUSH_ID_TYPE": "@01", "PUSH_ID": ["kim"], "ALERT": .string(text), "SEND_TYPE": "I"]
        let answer = try await Pair.call(pair.own, "send", body, key: key)
        return try #require(answer.json?["MESSAGE_ID"]?.string, "\(answer.text)", sourceLocation: sourceLocation)
    }

    // Two gateways that are each other's vendor would pass a call on for ever.
    @Test func aCallThatComesBackIsRefused() async throws {
        try await with { pair in
            let back: JSON = [
                "kind": "upstream-ipns", "url": .string(pair.own.http.base), "apiKey": .string(pair.own.apiKey),
            ]
            try await pair.vendor.place(back, ["calls": [["action": "proxy", "upstream": "old"]]])
            let answer = try await Pair.call(pair.own, "appRegist", Pair.phone("phone-1", "kim", Self.token(1)))
            #expect(answer.status == 200 && answer.json?["RT_MSG"] == "INVALID PARAMETER: Via", "\(answer.text)")
            for world in [pair.own, pair.vendor] {
                let calls = try await AdminPage.metrics(world.adminAddress)
                let sums = ["2xx", "loop"].map { calls.sum("upstream_calls_total", "outcome=\"\($0)\"") }
                #expect(sums == (world === pair.own ? [1, 1] : [1, 0]))
                let known = "SELECT count(*)::text AS value FROM gateway.identity WHERE key = 'phone-1'"
                #expect(try await world.value(known) == "0")
            }
        }
    }
}
