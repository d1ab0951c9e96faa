import CommandSupport
import Foundation
import Model
import Testing

/// Messages that leave through the services of iPNS, RationalOwl and Notification Hubs, for which stubs stand (docs/routing.md#upstream-sending).
/// `UpstreamSendTests` has Braze and UPMC.
@Suite(.timeLimit(.minutes(10))) struct UpstreamVendorTests {
    private static func token(_ number: Int) -> String { String(format: "%064x", 0x5EED00 + number) }

    /// Starts the gateway, applies `lines` as further bindings of the app, and runs `body`.
    private func with(_ lines: String, _ body: (World) async throws -> Void) async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            // Writes the file.
            try #require(try await world.apply().status == 0)
            let path = world.material.path("tenants.yaml")
            let file = try String(contentsOfFile: path, encoding: .utf8)
            try (file + lines).write(toFile: path, atomically: true, encoding: .utf8)
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await body(world)
        }
    }

    /// The answered calls of the message, with whether each has the vendor's name of it.
    private func calls(of message: String, _ world: World) async throws -> String {
        try await world.value(
            """
            SELECT coalesce(string_agg(c.state || ' ' || (c.reference IS NOT NULL), ',' ORDER BY c.no), '') AS value
            FROM gateway.upstream_call c WHERE c.message_id = '\(message)'::uuid
            """
        )
    }

    @Test func aDeviceThatIPNSDoesNotKnowIsPushed() async throws {
        try await with("\n          ipns: { appId: hr.mobile }\n") { world in
            let vendor = try await VendorStub.start(["ipns", "--set", "app=hr.mobile"], world)
            try await closing(vendor.stop) {
                let (known, unknown) = (Self.token(1), Self.token(2))
                let phone: JSON = [
                    "APP_ID": "hr.mobile", "USER_CN": "kim", "DEVICE_ID": "d-1", "PUSH_TOKEN": .string(known),
                ]
                let registered = try await HTTPCaller(base: vendor.url).closing { service in
                    try await service.call("POST", "/ipns/appRegist", phone)
                }
                #expect(registered.json?["RT"] == "0000", "\(registered.text)")
                try await world.importDevices("ipns", [("d-1", known, "kim"), ("d-2", unknown, "lee")])
                try await world.place(
                    ["kind": "upstream-ipns", "url": .string(vendor.url), "apiKey": "stub-api-key"],
                    ["deliveries": [["paths": ["old", "apns"]]]]
                )
                let message = try await world.send("hello", to: ["users": ["kim", "lee"]])
                _ = try await world.payload(of: unknown)
                try await eventually("both deliveries are written") {
                    try await world.deliveries(of: message) == ["sent upstream:old", "sent apns"]
                }
                let sent = try await vendor.calls(to: "/ipns/send")
                #expect(sent.count == 1)
                let body = sent.first.flatMap { VendorStub.body(of: $0) }
                #expect(body?["PUSH_ID"] == ["d-1", "d-2"] && body?["ALERT"] == "hello", "\(sent)")
                #expect(try await vendor.pushedTokens() == [known])
                #expect(try await calls(of: message, world) == "answered true")
            }
        }
    }

    // The vendor has one answer for all devices. A send without an answer may have arrived, and is never repeated.
    @Test func aSendToRationalOwlIsMadeOnceAlsoWithoutItsAnswer() async throws {
        try await with("") { world in
            let settings = ["--set", "account=\(world.account)", "--set", "service=\(world.service)"]
            let vendor = try await VendorStub.start(["rationalowl"] + settings, world)
            try await closing(vendor.stop) {
                let token = Self.token(3)
                let server = try await register(at: vendor, world)
                let device = try await vendor.control.call(
                    "POST",
                    "/_stub/gate/register",
                    ["dRId": "owl-1", "token": .string(token), "env": "prod"]
                )
                #expect(device.json?["dRId"] == "owl-1", "\(device.text)")
                try await world.importDevices("rationalowl", [("owl-1", token, "kim")])
                try await world.place(
                    ["kind": "upstream-rationalowl", "url": .string(vendor.url), "serverRegId": .string(server)],
                    ["deliveries": [["paths": ["old", "apns"]]]]
                )
                let message = try await world.send("hello", to: ["users": ["kim"]])
                try await eventually("the delivery is written") {
                    try await world.deliveries(of: message) == ["sent upstream:old"]
                }
                let path = "/msgClient/msgClientSendMsgByDeviceId"
                let sent = try await vendor.calls(to: path)
                let body = sent.first.flatMap { VendorStub.body(of: $0) }
                #expect(sent.count == 1 && body?["msg"]?["body"] == "hello", "\(sent)")
                #expect(body?["dest"]?["tg"] == [["dId": "owl-1"]])
                #expect(try await vendor.pushedTokens() == [token])
                #expect(try await calls(of: message, world) == "answered true")

                try await vendor.add(fault: ["fault": "loseAnswer", "path": "/msgClient", "times": 1])
                let lost = try await world.send("lost", to: ["users": ["kim"]])
                try await eventually("the delivery without an answer is written") {
                    try await world.deliveries(of: lost) == ["sent upstream:old"]
                }
                let certain = try await world.value(
                    "SELECT d.is_certain::text AS value FROM gateway.delivery d WHERE d.message_id = '\(lost)'::uuid"
                )
                #expect(certain == "false")
                #expect(try await vendor.calls(to: path).count == 2)
                #expect(try await vendor.pushedTokens() == [token, token])
            }
        }
    }

    // docs/routing.md#later-reports: the vendor calls the gateway under a name that only the operator sees.
    @Test func whatRationalOwlReportsLaterIsAReceipt() async throws {
        try await with("") { world in
            let settings = ["--set", "account=\(world.account)", "--set", "service=\(world.service)"]
            let more = ["--set", "callbackMilliseconds=100"]
            let vendor = try await VendorStub.start(["rationalowl"] + settings + more, world)
            try await closing(vendor.stop) {
                let server = try await register(at: vendor, world)
                _ = try await vendor.control.call(
                    "POST",
                    "/_stub/gate/register",
                    ["dRId": "owl-2", "token": .string(Self.token(4)), "env": "prod"]
                )
                try await world.importDevices("rationalowl", [("owl-2", Self.token(4), "lee")])
                try await world.place(
                    ["kind": "upstream-rationalowl", "url": .string(vendor.url), "serverRegId": .string(server)],
                    ["deliveries": [["paths": ["old"]]]]
                )
                let path = try await reportPath(world)
                try await refusesWrongAttachments(world)
                let unknown = try await world.http.call("POST", "/upstream/\(String(repeating: "0", count: 32))", [])
                #expect(unknown.status == 404)
                #expect(try await world.http.call("POST", path, ["no": "report"]).status == 422)
                let dry = try await attach(["--public-url", world.http.base, "--dry-run"], world)
                #expect(dry.status == 0 && dry.log.contains("\(world.http.base)/upstream/…"), "\(dry.log)")
                #expect(try await vendor.calls(to: Self.callbackPath).isEmpty)
                // A slash at the end changes nothing.
                let attached = try await attach(["--public-url", world.http.base + "/"], world)
                #expect(attached.status == 0 && attached.log.contains("accepted"), "\(attached.log)")
                #expect(!attached.log.contains(path) && !attached.log.contains(server), "\(attached.log)")
                let set = try await vendor.calls(to: Self.callbackPath).first.flatMap { VendorStub.body(of: $0) }
                #expect(set?["url"] == .string(world.http.base + path), "\(String(describing: set))")
                #expect(set?["aId"] == .string(world.account) && set?["rId"] == .string(server))
                let message = try await world.send("hello", to: ["users": ["lee"]])
                try await eventually("the delivery is written") {
                    try await world.deliveries(of: message) == ["sent upstream:old"]
                }
                let name = try await world.value(
                    "SELECT c.reference AS value FROM gateway.upstream_call c WHERE c.message_id = '\(message)'::uuid"
                )
                let delivered = try await vendor.control.call(
                    "POST",
                    "/_stub/gate/delivered",
                    ["dRId": "owl-2", "mId": .string(name)]
                )
                #expect(delivered.json?["known"] == true, "\(delivered.text)")
                try await eventually("the receipt is recorded") {
                    try await world.deliveries(of: message) == ["received upstream:old"]
                }

                let undone = try await attach(["--undo"], world)
                #expect(undone.status == 0, "\(undone.log)")
                let last = try await vendor.calls(to: Self.callbackPath).last.flatMap { VendorStub.body(of: $0) }
                #expect(last?["url"] == "" && last?["rId"] == .string(server))
                let rows = try await world.value(
                    """
                    SELECT string_agg(concat_ws(' ', action, subject, data ->> 'address'), ',' ORDER BY position) AS value
                    FROM gateway.audit WHERE action IN ('attach', 'detach')
                    """
                )
                #expect(rows == "attach credential old \(world.http.base),detach credential old")
            }
        }
    }

    private static let callbackPath = "/msgClient/setCallbackUrl"

    /// Runs `upstream attach` for an upstream of the demo's tenant.
    private func attach(
        _ options: [String],
        upstream: String = "old",
        _ world: World
    ) async throws -> (status: Int32?, log: String) {
        try await world.command(
            ["upstream", "attach", upstream, "--tenant", "acme"] + options,
            environment: ["UPSTREAM_ALLOW": "127.0.0.0/8"]
        )
    }

    /// Attachments that cannot be made: nobody is called, and no row is written.
    private func refusesWrongAttachments(_ world: World) async throws {
        let put = try await world.native(
            "PUT",
            "/v1/credentials/quiet",
            ["kind": "upstream-upmc", "url": "https://push.example.com"]
        )
        try #require(put.status == 201, "\(put.text)")
        let safe = try await world.native(
            "PUT",
            "/v1/credentials/safe",
            ["kind": "upstream-rationalowl", "url": "https://ums.example.com", "serverRegId": "SVR-1"]
        )
        try #require(safe.status == 201, "\(safe.text)")
        let address = ["--public-url", "https://push.example.com"]
        let refused: [(upstream: String, options: [String], status: Int32, text: String)] = [
            ("none", address, 1, "has no upstream 'none'"), ("quiet", address, 1, "reports nothing later"),
            ("safe", address + ["--app", "other"], 1, "app 'other' has no binding"),
            ("safe", ["--public-url", "http://push.example.com"], 1, "must begin with https"),
            ("safe", ["--public-url", "push.example.com"], 1, "is not an address"),
            ("safe", address + ["--undo"], 2, "give either"), ("safe", [], 2, "give either"),
        ]
        for (upstream, options, status, text) in refused {
            let answer = try await attach(options, upstream: upstream, world)
            #expect(answer.status == status && answer.log.contains(text), "\(text): \(answer.log)")
        }
    }

    private func reportPath(_ world: World) async throws -> String {
        let listed = try await world.command(["credential", "list", "--reports", "--json"])
        try #require(listed.status == 0, "\(listed.log)")
        let text = listed.log.drop { $0 != "[" }
        let rows = try JSONParser.parse(String(text)).array ?? []
        let path = rows.lazy.compactMap { $0["reportsTo"]?.string }.first
        return try #require(path, "\(listed.log)")
    }

    /// Registers the gateway's back end at the vendor, and returns its name.
    private func register(at vendor: VendorStub, _ world: World) async throws -> String {
        let service = HTTPCaller(base: vendor.url)
        return try await service.closing { service in
            let server = try await service.call(
                "POST",
                "/server/register/",
                ["serviceId": .string(world.service), "registerName": "gateway"]
            )
            let name = try #require(server.json?["serverRegId"]?.string, "\(server.text)")
            let client = try await service.call(
                "POST",
                "/msgClient/register",
                ["aId": .string(world.account), "rId": .string(name), "mcn": "gateway", "ip": "127.0.0.1"]
            )
            try #require(client.json?["rc"] == 1, "\(client.text)")
            return name
        }
    }

    // Handles are named in one batch, and the vendor checks the signature of the credential's key.
    @Test func devicesOfAHubAreSentToInOneBatch() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindNotificationHubs()
            let key = NotificationHubsTests.fullKey
            let vendor = try await VendorStub.start(
                ["notificationhubs", "--set", "hub=shop-hub", "--set", "fullKey=\(key)"],
                world
            )
            try await closing(vendor.stop) {
                let tokens = [Self.token(5), Self.token(6)]
                try await world.importDevices(
                    "notificationhubs",
                    [("inst-1", tokens[0], "kim"), ("inst-2", tokens[1], "lee")]
                )
                try await world.place(
                    [
                        "kind": "upstream-notificationhubs", "url": .string(vendor.url), "hub": "shop-hub",
                        "keyName": "DefaultFullSharedAccessSignature", "key": .string(key),
                    ],
                    ["deliveries": [["paths": ["old", "apns"]]]]
                )
                let message = try await world.send("hello", to: ["users": ["kim", "lee"]])
                try await eventually("both deliveries are written") {
                    try await world.deliveries(of: message) == ["sent upstream:old", "sent upstream:old"]
                }
                let batches = try await vendor.calls(to: "/shop-hub/messages/$batch")
                let text = batches.first.map { VendorStub.text(of: $0) } ?? ""
                #expect(
                    batches.count == 1 && tokens.allSatisfy { text.contains($0) } && text.contains("hello"),
                    "\(text)"
                )
                #expect(try await vendor.pushedTokens().sorted() == tokens)
                #expect(try await calls(of: message, world) == "answered true")

                // Nothing was accepted: the calls wait, and no push leaves over another path.
                try await vendor.add(fault: [
                    "fault": "tooMany", "path": "/shop-hub/messages", "retryAfter": 2, "times": 1,
                ])
                let later = try await world.send("later", to: ["users": ["kim"]])
                try await eventually("the second try is accepted") {
                    try await world.deliveries(of: later) == ["sent upstream:old"]
                }
                #expect(try await vendor.calls(to: "/shop-hub/messages/$batch").count == 3)
                #expect(try await vendor.pushedTokens().count == 3)
            }
        }
    }
}
