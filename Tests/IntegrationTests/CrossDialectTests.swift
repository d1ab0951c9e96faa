import CommandSupport
import Foundation
import Model
import Testing

/// Sends to devices that the SDKs of three vendors have registered with one token, over real HTTP, PostgreSQL and the simulator.
///
/// Each test has its own devices, users and tokens.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.bindThreeVendors() })
struct CrossDialectTests {
    private var world: World { get throws { try SharedWorld.current } }

    /// A vendor's SDK in the app.
    private enum SDK: String, CaseIterable {
        case rationalowl, ipns, braze
    }

    private static let orders: [[SDK]] = SDK.allCases.flatMap { first in
        SDK.allCases.filter { $0 != first }.map { second in
            [first, second] + SDK.allCases.filter { $0 != first && $0 != second }
        }
    }

    /// One installation of the app.
    private struct Phone {
        let number: Int
        /// Changes with a refresh.
        var token: String
        /// RationalOwl's name of the device, after it was registered there.
        var owl: JSON = .null

        init(_ number: Int) {
            self.number = number
            token = String(format: "%064x", 0xC0DE00 + number)
        }

        var user: String { "crossing-\(number)" }
        var name: String { "crossing-device-\(number)" }
        var tag: String { "crossing_\(number)" }
    }

    // MARK: SDKs

    /// Registers the phone with its token and its user.
    private func register(_ sdk: SDK, _ phone: inout Phone) async throws {
        let (token, user) = (JSON.string(phone.token), JSON.string(phone.user))
        switch sdk {
        case .rationalowl:
            let facts: JSON = [
                "sId": .string(try world.service), "name": "n", "dt": 2, "tk": token, "env": "prod",
                "bundleId": "com.example.umsdemo", "model": "iPhone15,2", "osVer": "18.1",
            ]
            let registered = try await world.http.call("POST", "/ro/v1/device/register", facts)
            phone.owl = try #require(registered.json?["dRId"], "\(registered.text)")
            let installed = try await world.http.call(
                "POST",
                "/pushApp/installApp",
                [
                    "cId": 303, "sId": .string(try world.service), "aId": .string(try world.account), "dt": 2,
                    "dRId": phone.owl, "pn": .string("0107000\(1000 + phone.number)"), "auId": user, "n": "n",
                ]
            )
            // -102: the device was known. The fields are updated.
            let outcomes: [JSON] = [1, -102]
            try #require(outcomes.contains(installed.json?["rc"] ?? .null), "\(installed.text)")
        case .ipns:
            let answer = try await iPNS(
                "appRegist",
                ["USER_CN": user, "DEVICE_ID": .string(phone.name), "PUSH_TYPE": "ios", "PUSH_TOKEN": token]
            )
            try #require(answer["RT"] == "0000", "\(JSONWriter.text(answer))")
        case .braze:
            let body: JSON = [
                "device_id": .string(phone.name), "attributes": [["user_id": user, "push_token": token]],
            ]
            #expect(try await BrazeCaller.current.sdk(JSONWriter.text(body)).status == 201)
        }
    }

    /// Reports another token of the phone.
    private func refresh(_ sdk: SDK, _ phone: inout Phone) async throws {
        phone.token = String(format: "%064x", 0xFEED00 + phone.number)
        guard sdk == .rationalowl else { return try await register(sdk, &phone) }
        let answer = try await world.http.call(
            "POST",
            "/ro/v1/device/token",
            ["sId": .string(try world.service), "dRId": phone.owl, "tk": .string(phone.token), "env": "prod"]
        )
        #expect(answer.json?["rc"] == 1, "\(answer.text)")
    }

    /// Reports that a push was received.
    private func report(_ sdk: SDK, _ push: JSON, _ phone: Phone) async throws {
        switch sdk {
        case .rationalowl:
            let fields: JSON = ["sId": .string(try world.service), "dRId": phone.owl, "mId": push["mId"] ?? .null]
            #expect(try await world.http.call("POST", "/ro/v1/noti/delivered", fields).json?["rc"] == 1)
        case .ipns:
            let fields: JSON = ["DEVICE_ID": .string(phone.name), "MSG_ID": push["msg_id"] ?? .null]
            #expect(try await iPNS("recvReport", fields)["RT"] == "0000")
        case .braze:
            let event: JSON = [
                "name": "got", "time": 1_767_229_199, "data": ["c": push["ab"]?["c"] ?? .null],
                "user_id": .string(phone.user),
            ]
            let body: JSON = ["device_id": .string(phone.name), "events": [event]]
            #expect(try await BrazeCaller.current.sdk(JSONWriter.text(body)).status == 201)
        }
    }

    private func iPNS(_ operation: String, _ fields: JSON) async throws -> JSON {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await world.http.call("POST", "/ipns/\(operation)", .object(body))
        return try #require(answer.json, "\(answer.status) \(answer.text)")
    }

    // MARK: Pushes

    /// The payloads that the push service accepted for the phone's token, oldest first.
    private func payloads(_ phone: Phone) async throws -> [JSON] {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(phone.token)&limit=100")
        return (answer.json?["requests"]?.array ?? []).compactMap { $0["payload"] }
    }

    /// The SDK for which a payload is written.
    private func sdk(of payload: JSON) -> SDK? {
        if payload["ab"] != nil { return .braze }
        if payload["msg_id"] != nil { return .ipns }
        return payload["mId"] != nil ? .rationalowl : nil
    }

    /// Sends natively and checks that the phone gets one push, for this SDK. Returns its payload.
    @discardableResult
    private func expectOne(_ sdk: SDK, _ phone: Phone, to audience: JSON, _ what: String) async throws -> JSON {
        let before = try await payloads(phone).count
        let answer = try await world.native("POST", "/v1/messages", ["app": "shop", "to": audience, "body": "Hi"])
        let id = try #require(answer.json?["id"]?.string, "\(answer.text)")
        _ = try await world.funnel(of: id)
        let after = try await payloads(phone)
        #expect(after.count == before + 1, "\(what), to \(JSONWriter.text(audience))")
        let payload = after.last ?? .null
        let shown = "\(what), to \(JSONWriter.text(audience)): \(JSONWriter.text(payload))"
        #expect(self.sdk(of: payload) == sdk, "\(shown)")
        return payload
    }

    // MARK: Tests

    @Test func anySDKThatWasSeenLastReceivesTheNativeSends() async throws {
        for (number, order) in Self.orders.enumerated() {
            var phone = Phone(number)
            let names = order.map(\.rawValue).joined(separator: ", ")
            var received: [SDK: JSON] = [:]
            for sdk in order {
                try await register(sdk, &phone)
                let device = try await world.value(
                    "SELECT device_id::text AS value FROM gateway.device WHERE token = '\(phone.token)'"
                )
                let patched = try await world.native("PATCH", "/v1/devices/\(device)", ["tags": [.string(phone.tag)]])
                try #require(patched.status == 200, "\(patched.text)")
                let audiences: [JSON] = [
                    ["users": [.string(phone.user)]], "everyone", ["tags": .string(phone.tag)],
                    ["devices": [.string(device)]],
                ]
                for audience in audiences {
                    received[sdk] = try await expectOne(sdk, phone, to: audience, "\(names), after \(sdk)")
                }
            }
            let user: JSON = ["users": [.string(phone.user)]]
            try await refresh(order[0], &phone)
            try await expectOne(order[0], phone, to: user, "\(names), after a token of \(order[0])")
            try await report(order[1], try #require(received[order[1]]), phone)
            try await expectOne(order[1], phone, to: user, "\(names), after a receipt of \(order[1])")
            try await expectOne(order[1], phone, to: "everyone", "\(names), after a receipt of \(order[1])")
        }
    }

    @Test func anotherUserOnTheDeviceReceivesNothing() async throws {
        var phone = Phone(50)
        try await register(.ipns, &phone)
        var next = Phone(51)
        next.token = phone.token
        try await register(.braze, &next)
        let payload = try await expectOne(.ipns, phone, to: ["users": [.string(phone.user)]], "the first user")
        #expect(payload["msg_id"] != nil)
        try await expectOne(.braze, phone, to: ["users": [.string(next.user)]], "the next user")
    }

    @Test func aVendorsSendStaysInItsDialect() async throws {
        var phone = Phone(60)
        try await register(.ipns, &phone)
        let body = #"{"external_user_ids":["\#(phone.user)"],"messages":{"apple_push":{"alert":"Hi"}}}"#
        _ = try await BrazeCaller.current.call("/messages/send", body)
        try await expectOne(.ipns, phone, to: ["users": [.string(phone.user)]], "the only push")
    }
}

/// Sends of one vendor to users whose app has the SDK of another, in an app with `crossDialectSends`.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.bindThreeVendors(crossing: true) })
struct CrossingSendTests {
    private var world: World { get throws { try SharedWorld.current } }

    private func iPNS(_ operation: String, _ fields: JSON) async throws -> JSON {
        var body = fields.object ?? JSONObject()
        body["APP_ID"] = "hr.mobile"
        let answer = try await world.http.call("POST", "/ipns/\(operation)", .object(body))
        return try #require(answer.json, "\(answer.status) \(answer.text)")
    }

    @Test func aBrazeSendReachesAUserWhoseAppSpeaksIPNS() async throws {
        let token = String(format: "%064x", 0xC055)
        let registered = try await iPNS(
            "appRegist",
            ["USER_CN": "lee", "DEVICE_ID": "lee-1", "PUSH_TYPE": "ios", "PUSH_TOKEN": .string(token)]
        )
        try #require(registered["RT"] == "0000", "\(JSONWriter.text(registered))")
        let braze = try BrazeCaller.current
        let alert = #"{"title":"Sale","body":"Half price"}"#
        let push = #"{"alert":\#(alert),"custom_uri":"https://shop.example","extra":{"k":"v"}}"#
        let body = #"{"external_user_ids":["lee"],"messages":{"apple_push":\#(push)}}"#
        let sent = try await braze.call("/messages/send", body)
        #expect(sent.status == 201, "\(sent.text)")
        let payload = try await world.payload(of: token)
        #expect(payload["aps"]?["alert"] == "Half price" && payload["ab"] == nil, "\(JSONWriter.text(payload))")
        let number = try #require(payload["msg_id"], "\(JSONWriter.text(payload))")
        // The SDK that shows the push reports it, by the number of its own dialect.
        #expect(try await iPNS("recvReport", ["DEVICE_ID": "lee-1", "MSG_ID": number])["RT"] == "0000")
        // The report may overtake the outcome of the push.
        try await eventually("the delivery is in the dialect of the device") {
            try await world.value(
                "SELECT concat_ws(' ', vendor, device_vendor, state, reduced) AS value FROM gateway.delivery WHERE user_id = 'lee'"
            ) == "braze ipns received untranslated:braze.custom_uri"
        }
        let path = "/v1/analytics/funnel?app=shop&vendor=braze&deviceVendor=ipns"
        try await eventually("the funnel has the push and its receipt") {
            let total = try await world.native("GET", path).json?["total"]
            return total?["accepted"]?.int == 1 && total?["received"]?.int == 1
        }

        // The app was rebuilt with the SDK of Braze: one push, in its format.
        let registration: JSON = [
            "device_id": "lee-b", "attributes": [["user_id": "lee", "push_token": .string(token)]],
        ]
        #expect(try await braze.sdk(JSONWriter.text(registration)).status == 201)
        #expect(try await braze.call("/messages/send", body).status == 201)
        let second = try await world.payload(of: token, count: 2)
        #expect(second["ab"]?["c"] != nil && second["msg_id"] == nil, "\(JSONWriter.text(second))")
        try await eventually("both deliveries have their outcome") {
            try await world.value(
                "SELECT count(*)::text AS value FROM gateway.delivery WHERE user_id = 'lee' AND state IN ('sent', 'received')"
            ) == "2"
        }
    }
}

extension World {
    /// Adds bindings of iPNS and Braze to the demo's app, which has one of RationalOwl.
    ///
    /// `crossing`: sends of one vendor reach registrations of the others.
    fileprivate func bindThreeVendors(
        crossing: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let file = try String(contentsOfFile: material.path("tenants.yaml"), encoding: .utf8)
        let bindings = """

                      ipns: { appId: hr.mobile, settings: { deviceIdAlone: true } }
                      braze:
                        sdkKey: \(BrazeCaller.sdkKey)
                        restKeyEnv: BRAZE_REST_KEY
                        settings: { sdkEnabled: true, receivedEvents: [got] }
                    crossDialectSends: \(crossing)

            """
        try (file + bindings).write(toFile: material.path("three.yaml"), atomically: true, encoding: .utf8)
        let applied = try await apply("three.yaml", environment: ["BRAZE_REST_KEY": BrazeCaller.key])
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        let unknown: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "nobody"]
        try await eventually("the bindings are served", sourceLocation: sourceLocation) {
            try await http.call("POST", "/ipns/getConfig", unknown).json?["RT"] == "2003"
        }
        let braze = BrazeCaller(world: self)
        try await eventually("the SDK is on", sourceLocation: sourceLocation) {
            try await braze.sdk(#"{"device_id":"d"}"#).status == 201
        }
    }
}
