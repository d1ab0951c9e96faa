import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// The calls of the vendor's SDK, over real HTTP, PostgreSQL and the simulator (docs/contracts/braze.md#3).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrazeSDKTests {
    private static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    private static let sdkKey = "11111111-2222-4333-8444-555555555555"

    @Test(
        .covers("braze", "POST /api/v3/data"),
        .covers("braze", "POST /api/v3/template", refused: "201 `{}`: there are no in-app messages"),
        .covers(
            "braze",
            "POST /api/v3/content_cards/sync",
            refused: "201 with an empty full sync: there are no content cards"
        ),
        .covers(
            "braze",
            "POST /users/export/ids",
            partial:
                "left out, because the gateway has no data for them: `converted` of a campaign, `canvases_received`"
        )
    )
    func anAppWithTheSDKLives() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world, settings: "")
            #expect(try await call(world, #"{"device_id":"d"}"#).status == 401, "off unless it is said")
            try await bind(world, settings: "settings: { sdkEnabled: true, origins: ['https://shop.example'] }")
            try await eventually("the SDK is answered") { try await call(world, #"{"device_id":"d0"}"#).status == 201 }
            try await answers(world)
            try await unnamedUserGetsAName(world)
            try await pushIsOpened(world)
            try await exported(world)
            try await denial(world)
            try await tokenMovesAndLeaves(world)
            try await compressed(world)
            try await currents(world)
            try await bind(world, settings: "settings: { sdkEnabled: true, authentication: required }")
            try await proofIsAskedFor(world)
        }
    }

    /// The recorded events as Currents shows them (docs/contracts/braze.md#8).
    private func currents(_ world: World) async throws {
        func read(_ query: String) async throws -> (status: Int, lines: [JSON], headers: [String: String]) {
            let answer = try await world.http.call("GET", "/v1/events?\(query)", bearer: world.apiKey)
            let lines = answer.text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
            return (answer.status, lines, [:])
        }
        let all = try await read("format=currents&limit=1000")
        #expect(all.status == 200)
        let types = Set(all.lines.compactMap { $0["event_type"]?.string })
        let names = ["Send", "Open"].map { "users.messages.pushnotification.\($0)" }
        #expect(types.isSuperset(of: names + ["users.behaviors.pushnotification.TokenStateChange"]), "\(types)")
        let open = try #require(all.lines.first { $0["event_type"]?.string == names[1] })
        let sends = all.lines.filter { $0["event_type"]?.string == names[0] }
        // The push that was opened, with the user and the device of it.
        let send = try #require(sends.first { $0["dispatch_id"] == open["dispatch_id"] })
        for field in ["user_id", "external_user_id", "device_id", "platform", "app_id"] {
            #expect(open[field] != nil && open[field] == send[field], "\(field): \(JSONWriter.text(open))")
        }
        #expect(all.lines.allSatisfy { $0["time"]?.int != nil && $0["push_token"] == nil })
        #expect(Set(all.lines.compactMap { $0["id"]?.string }).count == all.lines.count)
        #expect(
            try await read("format=currents&kinds=read&limit=1000").lines.allSatisfy {
                $0["event_type"]?.string == names[1]
            }
        )
        #expect(try await read("format=avro").status == 422)
    }

    // MARK: Calls

    private func bind(_ world: World, settings: String) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let mark = "\n          braze:\n"
        let before = file.range(of: mark).map { String(file[..<$0.lowerBound]) } ?? file
        let binding = mark + "            sdkKey: \(Self.sdkKey)\n            restKeyEnv: BRAZE_REST_KEY\n"
        try (before + binding + (settings.isEmpty ? "" : "            \(settings)\n"))
            .write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(environment: ["BRAZE_REST_KEY": Self.key])
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the binding is served") {
            try await rest(world, "/messages/send", "{}").status == 400
        }
    }

    private struct Answer {
        var status: Int
        var headers: HTTPHeaders
        var json: JSON?
    }

    private func send(
        _ world: World,
        _ path: String,
        _ headers: HTTPHeaders,
        _ body: [UInt8],
        _ method: HTTPMethod = .POST
    )
        async throws -> Answer
    {
        var request = HTTPClientRequest(url: "\(world.http.base)\(path)")
        request.method = method
        request.headers = headers
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return Answer(status: Int(response.status.code), headers: response.headers, json: try? JSONParser.parse(text))
    }

    private func call(_ world: World, _ path: String = "/api/v3/data", _ body: String, _ more: HTTPHeaders = [:])
        async throws -> Answer
    {
        var headers: HTTPHeaders = ["x-braze-api-key": Self.sdkKey, "content-type": "application/json"]
        headers.add(contentsOf: more)
        return try await send(world, path, headers, Array(body.utf8))
    }

    private func call(_ world: World, _ body: String) async throws -> Answer {
        try await call(world, "/api/v3/data", body)
    }

    private func rest(_ world: World, _ path: String, _ body: String) async throws -> Answer {
        try await send(
            world,
            path,
            ["authorization": "Bearer \(Self.key)", "content-type": "application/json"],
            Array(body.utf8)
        )
    }

    /// The exported data of a user.
    private func user(_ world: World, _ id: String) async throws -> JSON? {
        let answer = try await rest(world, "/users/export/ids", #"{"external_ids":["\#(id)"]}"#)
        return answer.json?["users"]?.array?.first
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", 0xBC00 + number) }

    private func pushes(_ world: World, _ number: Int) async throws -> [JSON] {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(Self.token(number))&limit=50")
        return answer.json?["requests"]?.array ?? []
    }

    /// Sends to a user, and waits until its only delivery is in the given state.
    private func push(_ world: World, _ text: String, to user: String, ends state: String) async throws {
        let push = #"{"external_user_ids":["\#(user)"],"messages":{"apple_push":{"alert":"\#(text)"}}}"#
        let sent = try await rest(world, "/messages/send", push)
        #expect(sent.status == 201)
        let message = sent.json?["dispatch_id"]?.string ?? ""
        try await eventually("\(text) is \(state)") {
            try await world.value(
                "SELECT coalesce(string_agg(d.state || coalesce(' ' || d.reason, ''), ','), '') AS value "
                    + "FROM gateway.delivery d WHERE replace(d.message_id::text, '-', '') = '\(message)'"
            ) == state
        }
    }

    // MARK: Steps

    // docs/contracts/braze.md#3.1, docs/contracts/braze.md#3.5, docs/contracts/braze.md#3.8
    private func answers(_ world: World) async throws {
        let asked = #"{"device_id":"d0","respond_with":{"triggers":true,"config":{"config_time":0}}}"#
        let origin: HTTPHeaders = ["origin": "https://shop.example"]
        let answer = try await call(world, "/api/v3/data/", asked, origin)
        #expect(answer.status == 201)
        #expect(answer.json?["triggers"] == [] && answer.json?["config"]?["messaging_session_timeout"] == 21600)
        #expect(answer.headers.first(name: "access-control-allow-origin") == "https://shop.example")
        let wish: HTTPHeaders = [
            "origin": "https://shop.example", "access-control-request-method": "POST",
            "access-control-request-headers": "content-type, x-braze-api-key",
        ]
        let page = try await send(world, "/api/v3/data", wish, [], .OPTIONS)
        #expect(page.status == 204 && page.headers.first(name: "access-control-allow-methods") == "POST, OPTIONS")
        let cards = try await call(world, "/api/v3/content_cards/sync", #"{"device_id":"d0"}"#)
        #expect(cards.status == 201 && cards.json?["full_sync"] == true)
        #expect(try await call(world, "/api/v3/template", #"{"device_id":"d0"}"#).json == [:])
        #expect(try await call(world, "/api/v3/push_token_tag", "{}").json == [:])
        let stranger = try await send(world, "/api/v3/data", ["x-braze-api-key": "nobody"], Array(asked.utf8))
        #expect(stranger.status == 401 && stranger.json == ["error": "invalid_api_keys"])
        #expect(try await call(world, "[]").status == 400)
        let wide = #"{"device_id":"d0","x":"\#(String(repeating: "x", count: 1 << 20))"}"#
        #expect(try await call(world, wide).status == 413)
    }

    // docs/contracts/braze.md#3.4, docs/contracts/braze.md#3.9: the acts of a device's anonymous user belong to the first user who is named; a
    // repeated batch is counted once.
    private func unnamedUserGetsAName(_ world: World) async throws {
        let first = #"""
            {"device_id":"d1","device":{"model":"iPhone15,2","time_zone":"Asia/Seoul"},"attributes":[
             {"push_token":"\#(Self.token(1))"},{"custom":{"plan":"free"}}],
             "events":[{"name":"ss","time":1767225600.5,"data":{}},{"name":"ce","time":1.7672256E9,"data":{"n":"seen"}},
              {"name":"inc","time":1767225601,"data":{"key":"n","value":2}}]}
            """#
        for _ in 0..<2 { #expect(try await call(world, first).status == 201) }
        let second = #"""
            {"device_id":"d1","events":[{"name":"ce","time":1767225700,"data":{"n":"seen","p":{"a":1}},"user_id":"s-1"},
             {"name":"p","time":1767225701,"data":{"pid":"A1","c":"KRW","p":9900,"q":2},"user_id":"s-1"}]}
            """#
        for _ in 0..<2 { #expect(try await call(world, second).status == 201) }
        let user = try await user(world, "s-1")
        #expect(user?["custom_attributes"] == ["plan": "free", "n": 2], "\(String(describing: user))")
        #expect(user?["custom_events"]?.array?.first?["count"] == 2 && user?["custom_events"]?.array?.count == 1)
        #expect(user?["purchases"]?.array?.first?["count"] == 1)
        #expect(user?["push_tokens"]?.array?.first?["token"] == .string(Self.token(1)))
        #expect(user?["devices"] == [["device_id": "d1", "model": "iPhone15,2"]] && user?["user_aliases"] == nil)
        #expect(user?["date_of_first_session"] == "2026-01-01T00:00:00Z")
        // Told once more by a device whose user has a name now.
        #expect(try await call(world, first).status == 201)
        let again = try await self.user(world, "s-1")
        #expect(again?["custom_attributes"] == ["plan": "free", "n": 2])
        #expect(again?["custom_events"]?.array?.first?["count"] == 2)
        let facts = try await world.value("SELECT attributes::text AS value FROM gateway.identity WHERE key = 'd1'")
        #expect(facts.contains("iPhone15,2"))
    }

    // docs/contracts/braze.md#3.3, docs/contracts/braze.md#6: an opened push is found by the value of `ab.c`,
    // whatever the name of its field.
    private func pushIsOpened(_ world: World) async throws {
        try await push(world, "open me", to: "s-1", ends: "sent")
        let found = try await pushes(world, 1)
        let reference = try #require(found.last?["payload"]?["ab"]?["c"]?.string)
        let opened = #"""
            {"device_id":"d1","events":[{"name":"pc","time":1767229199.7,"data":{"some":{"key":"\#(reference)"}},"user_id":"s-1"}]}
            """#
        for _ in 0..<2 { #expect(try await call(world, opened).status == 201) }
        let read = "SELECT count(*)::text AS value FROM gateway.delivery WHERE state = 'read'"
        #expect(try await world.value(read) == "1")
        // Another device was never sent it.
        let stranger = opened.replacing(#""d1""#, with: #""d9""#).replacing("s-1", with: "s-9")
        #expect(try await call(world, stranger).status == 201)
        #expect(try await world.value(read) == "1")
    }

    /// The facts that the SDK reported about its device, and the campaign whose push it opened, as the back end
    /// exports them.
    private func exported(_ world: World) async throws {
        let told = #"""
            {"device_id":"d1","app_version":"2.4.3","device":{"os_version":"17.5","carrier":"SKT","ad_tracking_enabled":false},
             "events":[{"name":"ss","time":1767312000,"data":{},"user_id":"s-1"}]}
            """#
        for _ in 0..<2 { #expect(try await call(world, told).status == 201) }
        let campaign =
            #"{"name":"Winter","variations":[{"message_variation_id":"v-1","apple_push":{"alert":"of a campaign"}}]}"#
        let kept = try await send(
            world,
            "/v1/apps/shop/campaigns/winter?vendor=braze",
            ["authorization": "Bearer \(world.apiKey)", "content-type": "application/json"],
            Array(campaign.utf8),
            .PUT
        )
        #expect(kept.status == 201)
        let trigger = #"{"campaign_id":"winter","recipients":[{"external_user_id":"s-1"}]}"#
        #expect(try await rest(world, "/campaigns/trigger/send", trigger).status == 201)
        try await eventually("the campaign is received") {
            try await user(world, "s-1")?["campaigns_received"]?.array?.count == 1
        }
        func received() async throws -> JSON? {
            try await user(world, "s-1")?["campaigns_received"]?.array?.first
        }
        #expect(try await received()?["engaged"] == ["opened_push": false])
        let reference = try #require(try await pushes(world, 1).last?["payload"]?["ab"]?["c"]?.string)
        let opened =
            #"{"device_id":"d1","events":[{"name":"pc","time":1767312100,"data":{"c":"\#(reference)"},"user_id":"s-1"}]}"#
        #expect(try await call(world, opened).status == 201)
        let entry = try #require(try await received()?.object)
        #expect(Set(entry.keys) == ["name", "last_received", "engaged", "api_campaign_id", "variation_api_id"])
        #expect(entry["engaged"] == ["opened_push": true] && entry["api_campaign_id"] == "winter")
        #expect(entry["name"] == "Winter" && entry["variation_api_id"] == "v-1")
        let all = try #require(try await user(world, "s-1")?.object)
        #expect(
            Set(all.keys) == [
                "external_id", "date_of_first_session", "date_of_last_session", "custom_attributes", "custom_events",
                "purchases", "devices", "push_tokens", "apps", "campaigns_received",
            ]
        )
        let device: JSON = [
            "device_id": "d1", "model": "iPhone15,2", "os": "17.5", "carrier": "SKT", "ad_tracking_enabled": false,
        ]
        #expect(all["devices"] == [device])
        let token: JSON = [
            "app": "shop", "platform": "iOS", "token": .string(Self.token(1)), "device_id": "d1",
            "notifications_enabled": true,
        ]
        #expect(all["push_tokens"] == [token])
        let app: JSON = [
            "name": "shop", "platform": "iOS", "version": "2.4.3", "sessions": 2,
            "first_used": "2026-01-01T00:00:00Z", "last_used": "2026-01-02T00:00:00Z",
        ]
        #expect(all["apps"] == [app])
        // Nothing else is read where nothing else is asked for.
        let asked = #"{"external_ids":["s-1"],"fields_to_export":["external_id","devices"]}"#
        let some = try await rest(world, "/users/export/ids", asked).json?["users"]
        #expect(some == [["external_id": "s-1", "devices": [device]]])
    }

    // docs/contracts/braze.md#3.4: the permission for pushes is withdrawn and granted again.
    private func denial(_ world: World) async throws {
        #expect(try await call(world, #"{"device_id":"d1","device":{"ios_push_auth":"denied"}}"#).status == 201)
        let shown = try await user(world, "s-1")?["push_tokens"]?.array?.first
        #expect(shown?["notifications_enabled"] == false)
        try await push(world, "denied", to: "s-1", ends: "suppressed preference")
        #expect(try await call(world, #"{"device_id":"d1","device":{"ios_push_auth":"authorized"}}"#).status == 201)
        try await push(world, "allowed", to: "s-1", ends: "sent")
        #expect(
            try await pushes(world, 1).compactMap { $0["payload"]?["aps"]?["alert"] } == [
                "open me", "of a campaign", "allowed",
            ]
        )
    }

    // docs/contracts/braze.md#3.4: a token belongs to one device and one user; after its removal it belongs to none.
    private func tokenMovesAndLeaves(_ world: World) async throws {
        let moved =
            #"{"device_id":"d2","attributes":[{"user_id":"s-2","push_token":"\#(Self.token(1).uppercased())"}]}"#
        #expect(try await call(world, moved).status == 201)
        #expect(try await user(world, "s-2")?["push_tokens"]?.array?.first?["token"] == .string(Self.token(1)))
        #expect(try await user(world, "s-1")?["push_tokens"] == nil)
        // The app's user changes: `se` of the one, `ss` of the other.
        let change = #"""
            {"device_id":"d2","events":[{"name":"se","time":1767225800,"data":{"d":5},"user_id":"s-2"},
             {"name":"ss","time":1767225801,"data":{},"user_id":"s-3"}]}
            """#
        #expect(try await call(world, change).status == 201)
        try await push(world, "for three", to: "s-3", ends: "sent")
        #expect(try await user(world, "s-2")?["push_tokens"] == nil)
        #expect(try await call(world, #"{"device_id":"d2","attributes":[{"push_token":null}]}"#).status == 201)
        #expect(try await user(world, "s-3")?["push_tokens"] == nil)
        // It lives on without.
        #expect(try await call(world, #"{"device_id":"d2"}"#).status == 201)
        #expect(try await user(world, "s-3")?["devices"] == [["device_id": "d2"]])
    }

    // docs/contracts/braze.md#3.7
    private func proofIsAskedFor(_ world: World) async throws {
        let named = #"{"device_id":"d4","attributes":[{"user_id":"s-5","custom":{"a":1}}]}"#
        try await eventually("a proof is asked for") { try await call(world, named).status == 401 }
        let missing: JSON = ["auth_error": ["error_code": 26, "reason": "MISSING_TOKEN", "user_id": "s-5"]]
        #expect(try await call(world, named).json == missing)
        #expect(try await call(world, #"{"device_id":"d4"}"#).status == 201)
    }

    // docs/contracts/braze.md#3.1: compressed bodies, with the size limit of other bodies.
    private func compressed(_ world: World) async throws {
        func pack(_ body: String) throws -> [UInt8] {
            let path = world.material.path("packed")
            try body.write(toFile: path, atomically: true, encoding: .utf8)
            let tool = Process()
            tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            tool.arguments = ["gzip", "-f", path]
            try tool.run()
            tool.waitUntilExit()
            return Array(try Data(contentsOf: URL(fileURLWithPath: path + ".gz")))
        }
        let headers: HTTPHeaders = [
            "x-braze-api-key": Self.sdkKey, "content-type": "application/json", "content-encoding": "gzip",
        ]
        let body = try pack(#"{"device_id":"d3","attributes":[{"user_id":"s-4","push_token":"\#(Self.token(4))"}]}"#)
        #expect(try await send(world, "/api/v3/data", headers, body).status == 201)
        #expect(try await user(world, "s-4")?["push_tokens"]?.array?.first?["token"] == .string(Self.token(4)))
        let bomb = try pack(#"{"device_id":"d3","x":"\#(String(repeating: "x", count: 1 << 21))"}"#)
        #expect(bomb.count < 1 << 14)
        #expect(try await send(world, "/api/v3/data", headers, bomb).status == 413)
        #expect(try await send(world, "/api/v3/data", headers, Array(body.dropLast(9))).status == 400)
    }
}
