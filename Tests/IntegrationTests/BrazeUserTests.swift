import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// Braze's users over real HTTP, PostgreSQL and the simulator (docs/contracts/braze.md#5.1 to 5.4), with this
/// project's client and with a third-party client.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BrazeUserTests {
    private static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"

    /// Runs `body` against a gateway with the binding. If the machine lacks a requirement, the test is skipped with
    /// the reason.
    private func withBraze(_ body: (World) async throws -> Void) async throws {
        do {
            try await World.with { world in
                try #require(try await world.apply().status == 0)
                try await bind(world)
                try await body(world)
            }
        } catch let skip as PythonClient.Skip {
            try Test.cancel("\(skip.reason)")
        }
    }

    private func bind(_ world: World) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = "\n          braze:\n            restKeyEnv: BRAZE_REST_KEY\n"
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(environment: ["BRAZE_REST_KEY": Self.key])
        try #require(applied.status == 0, "\(applied.log)")
        try await eventually("the key is served") { try await call(world, "/messages/send", "{}").status == 400 }
    }

    private func call(
        _ world: World,
        _ path: String,
        _ body: String,
        method: NIOHTTP1.HTTPMethod = .POST,
        key: String = key
    ) async throws -> (status: Int, json: JSON?) {
        var request = HTTPClientRequest(url: "\(world.http.base)\(path)")
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(key)")
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return (Int(response.status.code), try? JSONParser.parse(text))
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", 0xBB00 + number) }

    private func alerts(_ world: World, _ number: Int) async throws -> [String] {
        let answer = try await world.control.call(
            "GET",
            "/_simulator/requests?token=\(Self.token(number))&limit=50"
        )
        return (answer.json?["requests"]?.array ?? []).compactMap { $0["payload"]?["aps"]?["alert"]?.string }
    }

    // MARK: By us

    @Test(
        .covers(
            "braze",
            "POST /users/track",
            "POST /users/delete",
            "POST /users/alias/new",
            "POST /users/identify",
            "POST /users/merge",
            "POST /subscription/status/set",
            "POST /v2/subscription/status/set",
            "GET /subscription/status/get",
            "GET /subscription/user/status"
        )
    )
    func usersAreKeptNamedAndErased() async throws {
        try await withBraze { world in
            try await fullBatch(world)
            try await aliases(world)
            try await refusesSubscription(world)
            try await groups(world)
            try await nativeUsers(world)
            try await merged(world)
        }
    }

    /// 75 elements of each kind. Repeating the batch changes nothing.
    private func fullBatch(_ world: World) async throws {
        func list(_ element: (Int) -> String) -> String { "[" + (0..<75).map(element).joined(separator: ",") + "]" }
        let attributes = list { #"{"external_id":"b-\#($0)","n":{"inc":1},"l":{"add":["x"]},"o":{"k":\#($0)}}"# }
        let time = #""time":"2026-01-01T00:00:00Z""#
        let events = list { #"{"external_id":"b-\#($0 % 5)","name":"seen",\#(time),"properties":{"i":\#($0)}}"# }
        let purchases = list {
            #"{"external_id":"b-\#($0)","product_id":"A1","currency":"KRW","price":1.5,\#(time)}"#
        }
        let body = #"{"attributes":\#(attributes),"events":\#(events),"purchases":\#(purchases)}"#
        let counts: JSON = [
            "attributes_processed": 75, "events_processed": 75, "purchases_processed": 75, "message": "success",
        ]
        let kept = """
            SELECT (SELECT string_agg(p.user_id || p.attributes::text || p.revision, ' ' ORDER BY p.user_id) FROM gateway.user_profile p)
                || (SELECT string_agg(t.user_id || t.name || t.count, ' ' ORDER BY t.user_id, t.name) FROM gateway.user_tally t)
                || (SELECT count(*) FROM gateway.user_act) AS value
            """
        var first: String?
        for _ in 0..<2 {
            let answer = try await call(world, "/users/track", body)
            #expect(answer.status == 201 && answer.json == counts, "\(String(describing: answer.json))")
            let now = try await world.value(kept)
            #expect(first == nil || first == now)
            first = now
        }
        #expect(try await world.value("SELECT count(*)::text AS value FROM gateway.user_act") == "150")
        let asked = try await call(world, "/users/export/ids", #"{"external_ids":["b-3"]}"#)
        let user = asked.json?["users"]?.array?.first
        #expect(user?["custom_attributes"] == ["n": 1, "l": ["x"], "o": ["k": 3]])
        #expect(user?["custom_events"]?.array?.first?["count"] == 15)
        #expect(user?["purchases"]?.array?.first?["count"] == 1)
    }

    /// A user is found by an alias, receives a push under it, and is merged with the identified user.
    private func aliases(_ world: World) async throws {
        let alias = #"{"alias_name":"7","alias_label":"crm"}"#
        let named = try await call(world, "/users/alias/new", #"{"user_aliases":[\#(alias)]}"#)
        #expect(named.status == 201 && named.json == ["aliases_processed": 1, "message": "success"])
        let track =
            #"{"attributes":[{"user_alias":\#(alias),"city":"Seoul","push_tokens":[{"app_id":"a","token":"\#(Self.token(1))"}]}]}"#
        #expect(try await call(world, "/users/track", track).json?["attributes_processed"] == 1)
        let send = #"{"user_aliases":[\#(alias)],"messages":{"apple_push":{"alert":"by alias"}}}"#
        #expect(try await call(world, "/messages/send", send).status == 201)
        let identify = #"{"aliases_to_identify":[{"external_id":"hong","user_alias":\#(alias)}]}"#
        try await eventually("a push arrives") { try await !alerts(world, 1).isEmpty }
        #expect(try await call(world, "/users/identify", identify).json?["aliases_processed"] == 1)
        let text = "{{${first_name} | default: 'you'}} in {{custom_attribute.${city}}}"
        let again = #"{"external_user_ids":["hong"],"messages":{"apple_push":{"alert":"\#(text)"}}}"#
        #expect(try await call(world, "/messages/send", again).status == 201)
        try await eventually("2 pushes arrive") { try await alerts(world, 1).count >= 2 }
        #expect(try await alerts(world, 1).sorted() == ["by alias", "you in Seoul"])
        let asked = try await call(world, "/users/export/ids", #"{"user_aliases":[\#(alias)]}"#)
        let user = asked.json?["users"]?.array?.first
        #expect(user?["external_id"] == "hong" && user?["custom_attributes"] == ["city": "Seoul"])
        #expect(user?["push_tokens"]?.array?.first?["token"] == .string(Self.token(1)))
        #expect(try await call(world, "/users/delete", #"{"external_ids":["hong","x"]}"#).json?["deleted"] == 1)
        let rest = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.identity WHERE vendor = 'braze' AND user_id IS NOT NULL"
        )
        #expect(rest == "0")
        let audited = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.audit WHERE subject = 'user hong' AND action = 'erase'"
        )
        #expect(audited == "1")
    }

    /// A user who has unsubscribed receives no pushes.
    private func refusesSubscription(_ world: World) async throws {
        func track(_ state: String) async throws {
            let body =
                #"{"attributes":[{"external_id":"kim","push_subscribe":"\#(state)","push_tokens":[{"app_id":"a","token":"\#(Self.token(2))"}]}]}"#
            #expect(try await call(world, "/users/track", body).status == 201)
        }
        func send(_ text: String, to state: String = "subscribed") async throws {
            let body =
                #"{"external_user_ids":["kim"],"recipient_subscription_state":"\#(state)","messages":{"apple_push":{"alert":"\#(text)"}}}"#
            #expect(try await call(world, "/messages/send", body).status == 201)
        }
        try await track("unsubscribed")
        try await send("unwanted")
        try await send("for all", to: "all")
        try await eventually("a push arrives") { try await !alerts(world, 2).isEmpty }
        try await track("subscribed")
        try await send("for those who asked", to: "opted_in")
        // The native API has the same rule.
        func spelled(_ text: String, _ consent: String) -> String {
            #"{"app":"shop","to":"everyone","body":"\#(text)","consent":"\#(consent)"}"#
        }
        let broken = try await call(world, "/v1/messages", spelled("x", "some"), key: world.apiKey)
        #expect(broken.status == 422, "\(String(describing: broken.json))")
        let native = try await call(world, "/v1/messages", spelled("x", "optedIn"), key: world.apiKey)
        #expect(native.status == 202, "\(String(describing: native.json))")
        try await send("wanted")
        try await eventually("2 pushes arrive") { try await alerts(world, 2).count >= 2 }
        try await track("opted_in")
        try await send("asked for", to: "opted_in")
        try await eventually("3 pushes arrive") { try await alerts(world, 2).count >= 3 }
        #expect(try await alerts(world, 2).sorted() == ["asked for", "for all", "wanted"])
        let kept = try await world.value(
            "SELECT string_agg(m.content ->> 'consent', ' ' ORDER BY m.accepted_at) AS value FROM gateway.message m"
        )
        #expect(kept == "all optedIn optedIn optedIn")
    }

    /// Subscription groups of users, set by the vendor's calls and by the native API.
    private func groups(_ world: World) async throws {
        func status(_ group: String, _ user: String) async throws -> JSON? {
            let path = "/subscription/status/get?subscription_group_id=\(group)&external_id=\(user)"
            return try await call(world, path, "", method: .GET).json
        }
        let set = #"{"subscription_group_id":"news","subscription_state":"unsubscribed","external_id":["g-1"]}"#
        #expect(try await call(world, "/subscription/status/set", set).json == ["message": "success"])
        #expect(try await status("news", "g-1") == ["status": ["g-1": "unsubscribed"], "message": "success"])
        let sets =
            #"{"subscription_groups":[{"subscription_group_id":"sale","subscription_state":"subscribed","external_ids":["g-1","g-2"]}]}"#
        #expect(try await call(world, "/v2/subscription/status/set", sets).status == 201)
        let track =
            #"{"attributes":[{"external_id":"g-1","subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed"}]}]}"#
        #expect(try await call(world, "/users/track", track).status == 201)
        #expect(try await status("news", "g-1") == ["status": ["g-1": "subscribed"], "message": "success"])
        let path = "/v1/apps/shop/consents"
        let native = #"{"subject":"sale","state":"unsubscribed","users":["g-1"]}"#
        let changed = try await call(world, path + "?vendor=braze", native, key: world.apiKey)
        #expect(changed.status == 200 && changed.json == ["changed": 1], "\(String(describing: changed.json))")
        let shown = try await call(world, path + "/g-1?vendor=braze", "", method: .GET, key: world.apiKey)
        let consents: JSON = ["news": "subscribed", "sale": "unsubscribed"]
        #expect(shown.json == ["user": "g-1", "consents": consents], "\(String(describing: shown.json))")
        // Users of another dialect are others.
        #expect(try await call(world, path + "/g-1", "", method: .GET, key: world.apiKey).status == 404)
        for body in [native.replacing("sale", with: ""), native.replacing("unsubscribed", with: "x"), "{}"] {
            #expect(try await call(world, path, body, key: world.apiKey).status == 422)
        }
        #expect(try await call(world, path, native, method: .PUT, key: world.apiKey).status == 405)
        let listed = try await call(world, "/subscription/user/status?external_id=g-1&external_id=x", "", method: .GET)
        let groups: JSON = [["id": "news", "status": "subscribed"], ["id": "sale", "status": "unsubscribed"]]
        #expect(
            listed.json == [
                "users": [["external_id": "g-1", "subscription_groups": groups]], "total_count": 1,
                "message": "success",
            ]
        )
    }

    /// The same users in the native API.
    private func nativeUsers(_ world: World) async throws {
        let path = "/v1/apps/shop/users/g-1?vendor=braze"
        func native(_ method: NIOHTTP1.HTTPMethod, _ body: String = "", path other: String? = nil) async throws -> (
            status: Int, json: JSON?
        ) {
            try await call(world, other ?? path, body, method: method, key: world.apiKey)
        }
        let body = #"{"attributes":{"plan":"gold","gone":1},"acceptsPush":false}"#
        let made = try await native(.PATCH, body)
        #expect(made.status == 200, "\(String(describing: made.json))")
        let changed = try await native(.PATCH, #"{"attributes":{"gone":null,"tags":["a"]}}"#)
        let attributes = changed.json?["attributes"]
        #expect(attributes?["plan"] == "gold" && attributes?["gone"] == nil && attributes?["tags"] == ["a"])
        let shown = try await native(.GET).json
        #expect(shown == changed.json && shown?["user"] == "g-1" && shown?["consents"]?["news"] == "subscribed")
        let exported = try await call(world, "/users/export/ids", #"{"external_ids":["g-1"]}"#)
        let user = exported.json?["users"]?.array?.first
        #expect(user?["custom_attributes"]?["plan"] == "gold", "\(String(describing: exported.json))")
        for broken in ["[]", #"{"attributes":7}"#, #"{"x":1}"#, #"{"acceptsPush":"no"}"#] {
            let status = try await native(.PATCH, broken).status
            #expect(status == 422 || status == 400, "\(broken)")
        }
        for broken in [#"{"attributes":{"":1}}"#, #"{"attributes":{"a":"\u0000"}}"#] {
            #expect(try await native(.PATCH, broken).status == 422, "\(broken)")
        }
        #expect(try await native(.GET, path: "/v1/apps/shop/users/nobody?vendor=braze").status == 404)
        #expect(try await native(.GET, path: "/v1/apps/shop/users/g-1").status == 404, "of another dialect")
        #expect(try await native(.GET, path: "/v1/apps/shop/users/g-1?vendor=x").status == 422)
        #expect(try await native(.DELETE).status == 405)
    }

    /// The device and the acts of one user move to another user.
    private func merged(_ world: World) async throws {
        let device = #""push_tokens":[{"app_id":"a","token":"\#(Self.token(3))"}]"#
        let event = #"{"external_id":"old","name":"seen","time":"2026-01-01T00:00:00Z"}"#
        let track = #"{"attributes":[{"external_id":"old",\#(device)},{"external_id":"new"}],"events":[\#(event)]}"#
        #expect(try await call(world, "/users/track", track).status == 201)
        let body =
            #"{"merge_updates":[{"identifier_to_merge":{"external_id":"old"},"identifier_to_keep":{"external_id":"new"}}]}"#
        for _ in 0..<2 {
            let answer = try await call(world, "/users/merge", body)
            #expect(answer.status == 201 && answer.json == ["message": "success"])
        }
        let send = #"{"external_user_ids":["new"],"messages":{"apple_push":{"alert":"merged"}}}"#
        #expect(try await call(world, "/messages/send", send).status == 201)
        try await eventually("a push arrives") { try await !alerts(world, 3).isEmpty }
        #expect(try await alerts(world, 3) == ["merged"])
        let asked = try await call(world, "/users/export/ids", #"{"external_ids":["new","old"]}"#)
        #expect(asked.json?["invalid_user_ids"] == ["old"])
        #expect(asked.json?["users"]?.array?.first?["custom_events"]?.array?.first?["count"] == 1)
    }

    // MARK: By somebody else

    /// `braze-client` from PyPI: only its address and its key differ from its use with the vendor.
    @Test func somebodyElsesClientWorks() async throws {
        try await withBraze { world in
            let python = try await PythonClient(world, installing: "braze-client==2.3.3")
            let campaign = #"{"name":"W","variations":[{"message_variation_id":"v","apple_push":{"alert":"Hi"}}]}"#
            let path = "/v1/apps/shop/campaigns/winter?vendor=braze"
            #expect(try await call(world, path, campaign, method: .PUT, key: world.apiKey).status == 201)
            let result = try await python.run(
                script: "braze_users",
                [world.http.base, "winter"],
                environment: ["BRAZE_KEY": Self.key]
            )
            #expect(result.status == 0, "\(result.log)")
            var answers: [String: JSON] = [:]
            for line in result.log.split(separator: "\n") {
                let answer = try JSONParser.parse(String(line))
                answers[answer["name"]?.string ?? ""] = answer
            }
            func answer(_ name: String) -> JSON? { answers[name]?["answer"] }
            for name in ["part", "repeat"] {
                // Two attributes, one event of two, one purchase.
                #expect(answer(name)?["success"] == false && answer(name)?["status_code"] == 201, "\(result.log)")
                #expect(answer(name)?["attributes_processed"] == 2 && answer(name)?["events_processed"] == 1)
                #expect(answer(name)?["errors"]?.array?.first?["index"] == 1)
            }
            #expect(answers["none"]?["error"]?.string?.contains("Valid data must be provided") == true)
            let user = answer("export")?["users"]?.array?.first
            #expect(user?["first_name"] == "Mina" && user?["custom_attributes"] == ["loyalty": 5], "\(result.log)")
            #expect(user?["custom_events"]?.array?.first?["count"] == 1)
            #expect(answer("export")?["invalid_user_ids"] == ["stranger"])
            let custom: JSON = ["external_id": "p-1", "custom_attributes": ["loyalty": 5]]
            #expect(answer("fields")?["users"] == [custom])
            #expect(answers["email"]?["error"]?.string?.contains("not available") == true)
            #expect(answer("delete")?["deleted"] == 1 && answer("delete")?["success"] == true)
            #expect(answer("gone")?["users"] == [["external_id": "p-2"]])
            #expect(answer("schedule")?["schedule_id"]?.string?.isEmpty == false, "\(result.log)")
            #expect(answers["campaign"]?["error"]?.string?.contains("Invalid Campaign ID") == true)
            #expect(answer("older")?["success"] == true, "\(result.log)")
            #expect(answers["stranger"]?["error"]?.string?.contains("Invalid API Key") == true)
        }
    }
}
