import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOHTTP1
import Testing

extension BrazeTests {
    /// The calls of the vendor's SDK, over real HTTP, PostgreSQL and the simulator (docs/contracts/braze.md#3).
    struct SDK {}
}

extension BrazeTests.SDK {
    /// Sends to a user and waits until the only delivery has the state `state`.
    private func push(
        _ text: String,
        to user: String,
        ends state: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let braze = try BrazeCaller.current
        let push = #"{"external_user_ids":["\#(user)"],"messages":{"apple_push":{"alert":"\#(text)"}}}"#
        let sent = try await braze.call("/messages/send", push)
        #expect(sent.status == 201, sourceLocation: sourceLocation)
        try await eventually("'\(text)' is \(state)", sourceLocation: sourceLocation) {
            try await braze.deliveries(of: sent) == state
        }
    }

    /// Registers a device with its token and its user.
    private func register(
        _ device: String,
        of user: String,
        token: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body =
            #"{"device_id":"\#(device)","attributes":[{"user_id":"\#(user)","push_token":"\#(BrazeCaller.token(token))"}]}"#
        #expect(try await BrazeCaller.current.sdk(body).status == 201, sourceLocation: sourceLocation)
    }

    /// The reference in the newest push to a device, which identifies the push when it is opened.
    private func reference(_ number: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let push = try await BrazeCaller.current.pushes(number).last
        return try #require(push?["payload"]?["ab"]?["c"]?.string, sourceLocation: sourceLocation)
    }

    /// The SDK's body at the first start of an app without a user.
    private func anonymousStart(_ device: String, token: Int) -> String {
        #"""
        {"device_id":"\#(device)","device":{"model":"iPhone15,2","time_zone":"Asia/Seoul"},"attributes":[
         {"push_token":"\#(BrazeCaller.token(token))"},{"custom":{"plan":"free"}}],
         "events":[{"name":"ss","time":1767225600.5,"data":{}},{"name":"ce","time":1.7672256E9,"data":{"n":"seen"}},
          {"name":"inc","time":1767225601,"data":{"key":"n","value":2}}]}
        """#
    }

    /// The SDK's body with the acts of the user after the login.
    private func namedActs(_ device: String, of user: String) -> String {
        #"""
        {"device_id":"\#(device)","events":[{"name":"ce","time":1767225700,"data":{"n":"seen","p":{"a":1}},"user_id":"\#(user)"},
         {"name":"p","time":1767225701,"data":{"pid":"A1","c":"KRW","p":9900,"q":2},"user_id":"\#(user)"}]}
        """#
    }

    // MARK: Answers (docs/contracts/braze.md#3.1, docs/contracts/braze.md#3.5, docs/contracts/braze.md#3.8)

    @Test func theSDKIsRefusedUnlessTheBindingEnablesIt() async throws {
        let braze = try BrazeCaller.current
        try await braze.world.bindBraze(settings: nil)
        try await closing {
            try await braze.world.bindBraze()
        } after: {
            let answer = try await braze.sdk(#"{"device_id":"d0"}"#)
            #expect(answer.status == 401)
        }
    }

    @Test(.covers("braze", "POST /api/v3/data"))
    func theSDKGetsItsConfigurationFromAnAllowedOrigin() async throws {
        let braze = try BrazeCaller.current
        let asked = #"{"device_id":"d0","respond_with":{"triggers":true,"config":{"config_time":0}}}"#
        let origin: HTTPHeaders = ["origin": "https://shop.example"]
        let answer = try await braze.sdk(asked, path: "/api/v3/data/", origin)
        #expect(answer.status == 201)
        #expect(answer.json?["triggers"] == [] && answer.json?["config"]?["messaging_session_timeout"] == 21600)
        #expect(answer.headers.first(name: "access-control-allow-origin") == "https://shop.example")
        let preflight: HTTPHeaders = [
            "origin": "https://shop.example", "access-control-request-method": "POST",
            "access-control-request-headers": "content-type, x-braze-api-key",
        ]
        let page = try await braze.send(.OPTIONS, "/api/v3/data", preflight, [])
        #expect(page.status == 204 && page.headers.first(name: "access-control-allow-methods") == "POST, OPTIONS")
    }

    @Test(
        .covers("braze", "POST /api/v3/template", refused: "201 `{}`: there are no in-app messages"),
        .covers(
            "braze",
            "POST /api/v3/content_cards/sync",
            refused: "201 with an empty full sync: there are no content cards"
        )
    )
    func callsForMissingFeaturesAreAnsweredEmpty() async throws {
        let braze = try BrazeCaller.current
        let cards = try await braze.sdk(#"{"device_id":"d0"}"#, path: "/api/v3/content_cards/sync")
        #expect(cards.status == 201 && cards.json?["full_sync"] == true)
        #expect(try await braze.sdk(#"{"device_id":"d0"}"#, path: "/api/v3/template").json == [:])
        #expect(try await braze.sdk("{}", path: "/api/v3/push_token_tag").json == [:])
    }

    @Test func anUnknownKeyOrAnUnusableBodyIsRefused() async throws {
        let braze = try BrazeCaller.current
        let body = Array(#"{"device_id":"d0"}"#.utf8)
        let stranger = try await braze.send(.POST, "/api/v3/data", ["x-braze-api-key": "nobody"], body)
        #expect(stranger.status == 401 && stranger.json == ["error": "invalid_api_keys"])
        #expect(try await braze.sdk("[]").status == 400)
        let wide = #"{"device_id":"d0","x":"\#(String(repeating: "x", count: 1 << 20))"}"#
        #expect(try await braze.sdk(wide).status == 413)
    }

    // docs/contracts/braze.md#3.7
    @Test func aNamedUserNeedsAProofWhereTheBindingRequiresIt() async throws {
        let braze = try BrazeCaller.current
        try await braze.world.bindBraze(settings: "sdkEnabled: true, authentication: required")
        try await closing {
            try await braze.world.bindBraze()
        } after: {
            let named = #"{"device_id":"proof-1","attributes":[{"user_id":"proof","custom":{"a":1}}]}"#
            // Its first call must be refused: otherwise the device had a user, and would need a proof in every call.
            let refused = try await braze.sdk(named)
            let missing: JSON = ["auth_error": ["error_code": 26, "reason": "MISSING_TOKEN", "user_id": "proof"]]
            #expect(refused.status == 401 && refused.json == missing)
            #expect(try await braze.sdk(#"{"device_id":"proof-1"}"#).status == 201, "without a user")
        }
    }

    // docs/contracts/braze.md#3.1
    @Test func aCompressedBodyIsReadWithinTheLimitsOfOthers() async throws {
        let braze = try BrazeCaller.current
        func pack(_ body: String) throws -> [UInt8] {
            let path = braze.world.material.path("packed")
            try body.write(toFile: path, atomically: true, encoding: .utf8)
            let tool = Process()
            tool.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            tool.arguments = ["gzip", "-f", path]
            try tool.run()
            tool.waitUntilExit()
            return Array(try Data(contentsOf: URL(fileURLWithPath: path + ".gz")))
        }
        func status(_ body: [UInt8]) async throws -> Int {
            let headers: HTTPHeaders = [
                "x-braze-api-key": BrazeCaller.sdkKey, "content-type": "application/json", "content-encoding": "gzip",
            ]
            return try await braze.send(.POST, "/api/v3/data", headers, body).status
        }
        let token = BrazeCaller.token(301)
        let body = try pack(#"{"device_id":"gzip-1","attributes":[{"user_id":"gzip","push_token":"\#(token)"}]}"#)
        #expect(try await status(body) == 201)
        #expect(try await braze.user("gzip")?["push_tokens"]?.array?.first?["token"] == .string(token))
        let bomb = try pack(#"{"device_id":"gzip-1","x":"\#(String(repeating: "x", count: 1 << 21))"}"#)
        #expect(bomb.count < 1 << 14)
        #expect(try await status(bomb) == 413)
        #expect(try await status(Array(body.dropLast(9))) == 400)
    }

    // MARK: Users (docs/contracts/braze.md#3.4, docs/contracts/braze.md#3.9)

    @Test(.covers("braze", "POST /api/v3/data"))
    func theFirstNamedUserGetsWhatTheDeviceDidBeforeAndARepeatCountsOnce() async throws {
        let braze = try BrazeCaller.current
        let start = anonymousStart("named-1", token: 302)
        for _ in 0..<2 { #expect(try await braze.sdk(start).status == 201) }
        for _ in 0..<2 { #expect(try await braze.sdk(namedActs("named-1", of: "named")).status == 201) }
        // The device repeats the batch after its user has a name.
        #expect(try await braze.sdk(start).status == 201)
        let user = try #require(try await braze.user("named"))
        #expect(user["custom_attributes"] == ["plan": "free", "n": 2], "\(user)")
        #expect(user["custom_events"]?.array?.first?["count"] == 2 && user["custom_events"]?.array?.count == 1)
        #expect(user["purchases"]?.array?.first?["count"] == 1)
        #expect(user["push_tokens"]?.array?.first?["token"] == .string(BrazeCaller.token(302)))
        #expect(user["devices"] == [["device_id": "named-1", "model": "iPhone15,2"]] && user["user_aliases"] == nil)
        #expect(user["date_of_first_session"] == "2026-01-01T00:00:00Z")
        let facts = try await braze.world.value(
            "SELECT attributes::text AS value FROM gateway.identity WHERE key = 'named-1'"
        )
        #expect(facts.contains("iPhone15,2"))
    }

    @Test(
        .covers(
            "braze",
            "POST /users/export/ids",
            partial:
                "left out, because the gateway has no data for them: `converted` of a campaign, `canvases_received`"
        )
    )
    func anExportHasEverythingTheSDKReported() async throws {
        let braze = try BrazeCaller.current
        let later = #"""
            {"device_id":"export-1","app_version":"2.4.3","device":{"os_version":"17.5","carrier":"SKT","ad_tracking_enabled":false},
             "events":[{"name":"ss","time":1767312000,"data":{},"user_id":"export"}]}
            """#
        for body in [anonymousStart("export-1", token: 303), namedActs("export-1", of: "export"), later, later] {
            #expect(try await braze.sdk(body).status == 201)
        }
        let all = try #require(try await braze.user("export")?.object)
        #expect(
            Set(all.keys) == [
                "external_id", "date_of_first_session", "date_of_last_session", "custom_attributes", "custom_events",
                "purchases", "devices", "push_tokens", "apps", "campaigns_received",
            ]
        )
        #expect(all["campaigns_received"] == [])
        let device: JSON = [
            "device_id": "export-1", "model": "iPhone15,2", "os": "17.5", "carrier": "SKT",
            "ad_tracking_enabled": false,
        ]
        #expect(all["devices"] == [device])
        let token: JSON = [
            "app": "shop", "platform": "iOS", "token": .string(BrazeCaller.token(303)), "device_id": "export-1",
            "notifications_enabled": true,
        ]
        #expect(all["push_tokens"] == [token])
        let app: JSON = [
            "name": "shop", "platform": "iOS", "version": "2.4.3", "sessions": 2,
            "first_used": "2026-01-01T00:00:00Z", "last_used": "2026-01-02T00:00:00Z",
        ]
        #expect(all["apps"] == [app])
        let asked = #"{"external_ids":["export"],"fields_to_export":["external_id","devices"]}"#
        let some = try await braze.call("/users/export/ids", asked).json?["users"]
        #expect(some == [["external_id": "export", "devices": [device]]], "only the requested fields")
    }

    @Test(
        .covers(
            "braze",
            "POST /users/export/ids",
            partial:
                "left out, because the gateway has no data for them: `converted` of a campaign, `canvases_received`"
        )
    )
    func anExportSaysWhichCampaignsAUserReceivedAndOpened() async throws {
        let braze = try BrazeCaller.current
        try await register("engaged-1", of: "engaged", token: 304)
        try await braze.keepCampaign("engage", alert: "of a campaign")
        let trigger = #"{"campaign_id":"engage","recipients":[{"external_user_id":"engaged"}]}"#
        #expect(try await braze.call("/campaigns/trigger/send", trigger).status == 201)
        let received = try await first("the campaign is received") {
            try await braze.user("engaged")?["campaigns_received"]?.array?.first
        }
        #expect(received["engaged"] == ["opened_push": false])
        let reference = try await reference(304)
        let opened =
            #"{"device_id":"engaged-1","events":[{"name":"pc","time":1767312100,"data":{"c":"\#(reference)"},"user_id":"engaged"}]}"#
        #expect(try await braze.sdk(opened).status == 201)
        let campaigns = try #require(try await braze.user("engaged")?["campaigns_received"]?.array)
        #expect(campaigns.count == 1)
        let entry = try #require(campaigns.first?.object)
        #expect(Set(entry.keys) == ["name", "last_received", "engaged", "api_campaign_id", "variation_api_id"])
        #expect(entry["engaged"] == ["opened_push": true] && entry["api_campaign_id"] == "engage")
        #expect(entry["name"] == "Winter" && entry["variation_api_id"] == "v-1")
    }

    // MARK: Pushes (docs/contracts/braze.md#3.3, docs/contracts/braze.md#6)

    @Test(.covers("braze", "POST /api/v3/data"))
    func aPushIsOpenedByItsReferenceOnTheDeviceThatGotItOnly() async throws {
        let braze = try BrazeCaller.current
        try await register("open-1", of: "open", token: 305)
        try await push("open me", to: "open", ends: "sent")
        let reference = try await reference(305)
        func open(_ device: String, _ user: String) -> String {
            // The field may have any name.
            #"""
            {"device_id":"\#(device)","events":[{"name":"pc","time":1767229199.7,"data":{"some":{"key":"\#(reference)"}},"user_id":"\#(user)"}]}
            """#
        }
        let states = "SELECT string_agg(state, ',') AS value FROM gateway.delivery WHERE user_id = 'open'"
        #expect(try await braze.sdk(open("open-9", "open-other")).status == 201)
        #expect(try await braze.world.value(states) == "sent", "of another device")
        for _ in 0..<2 { #expect(try await braze.sdk(open("open-1", "open")).status == 201) }
        #expect(try await braze.world.value(states) == "read")
    }

    @Test func aDeviceThatDeniesPushGetsNoneUntilItAllowsItAgain() async throws {
        let braze = try BrazeCaller.current
        try await register("deny-1", of: "deny", token: 306)
        #expect(try await braze.sdk(#"{"device_id":"deny-1","device":{"ios_push_auth":"denied"}}"#).status == 201)
        let shown = try await braze.user("deny")?["push_tokens"]?.array?.first
        #expect(shown?["notifications_enabled"] == false)
        try await push("denied", to: "deny", ends: "suppressed preference")
        #expect(try await braze.sdk(#"{"device_id":"deny-1","device":{"ios_push_auth":"authorized"}}"#).status == 201)
        try await push("allowed", to: "deny", ends: "sent")
        #expect(try await braze.alerts(306) == ["allowed"])
    }

    // MARK: Tokens (docs/contracts/braze.md#3.4)

    @Test func aTokenMovesToTheDeviceThatReportsItLast() async throws {
        let braze = try BrazeCaller.current
        try await register("moved-1", of: "moved-a", token: 307)
        let token = BrazeCaller.token(307)
        let moved =
            #"{"device_id":"moved-2","attributes":[{"user_id":"moved-b","push_token":"\#(token.uppercased())"}]}"#
        #expect(try await braze.sdk(moved).status == 201)
        #expect(try await braze.user("moved-b")?["push_tokens"]?.array?.first?["token"] == .string(token))
        #expect(try await braze.user("moved-a")?["push_tokens"] == nil)
    }

    @Test func aTokenFollowsTheUserOfTheAppAndARemovedOneIsNobodys() async throws {
        let braze = try BrazeCaller.current
        try await register("switch-1", of: "switch-a", token: 308)
        // One user's session ends, and another user's session starts.
        let change = #"""
            {"device_id":"switch-1","events":[{"name":"se","time":1767225800,"data":{"d":5},"user_id":"switch-a"},
             {"name":"ss","time":1767225801,"data":{},"user_id":"switch-b"}]}
            """#
        #expect(try await braze.sdk(change).status == 201)
        try await push("for the second", to: "switch-b", ends: "sent")
        #expect(try await braze.user("switch-a")?["push_tokens"] == nil)
        #expect(try await braze.sdk(#"{"device_id":"switch-1","attributes":[{"push_token":null}]}"#).status == 201)
        #expect(try await braze.user("switch-b")?["push_tokens"] == nil)
        // The device remains.
        #expect(try await braze.sdk(#"{"device_id":"switch-1"}"#).status == 201)
        #expect(try await braze.user("switch-b")?["devices"] == [["device_id": "switch-1"]])
    }

    // MARK: Currents (docs/contracts/braze.md#8)

    @Test func readersOfCurrentsSeeWhatHappened() async throws {
        let braze = try BrazeCaller.current
        let world = braze.world
        try await register("current-1", of: "current", token: 309)
        try await push("seen by Currents", to: "current", ends: "sent")
        let opened =
            #"{"device_id":"current-1","events":[{"name":"pc","time":1767312100,"data":{"c":"\#(try await reference(309))"},"user_id":"current"}]}"#
        #expect(try await braze.sdk(opened).status == 201)
        func read(_ query: String) async throws -> (status: Int, lines: [JSON]) {
            let answer = try await world.http.call("GET", "/v1/events?\(query)", bearer: world.apiKey)
            return (answer.status, answer.text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) })
        }
        let all = try await read("format=currents&limit=1000")
        #expect(all.status == 200)
        let types = Set(all.lines.compactMap { $0["event_type"]?.string })
        let names = ["Send", "Open"].map { "users.messages.pushnotification.\($0)" }
        #expect(types.isSuperset(of: names + ["users.behaviors.pushnotification.TokenStateChange"]), "\(types)")
        let open = try #require(
            all.lines.first { $0["event_type"]?.string == names[1] && $0["external_user_id"] == "current" }
        )
        // The push that was opened, with its user and its device.
        let send = try #require(
            all.lines.first { $0["event_type"]?.string == names[0] && $0["dispatch_id"] == open["dispatch_id"] }
        )
        for field in ["user_id", "external_user_id", "device_id", "platform", "app_id"] {
            #expect(open[field] != nil && open[field] == send[field], "\(field): \(JSONWriter.text(open))")
        }
        #expect(all.lines.allSatisfy { $0["time"]?.int != nil && $0["push_token"] == nil })
        #expect(Set(all.lines.compactMap { $0["id"]?.string }).count == all.lines.count)
        let reads = try await read("format=currents&kinds=read&limit=1000").lines
        #expect(!reads.isEmpty && reads.allSatisfy { $0["event_type"]?.string == names[1] })
        #expect(try await read("format=avro").status == 422)
    }
}
