import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOHTTP1
import Testing

extension BrazeTests {
    /// Braze's users over real HTTP, PostgreSQL and the simulator (docs/contracts/braze.md#5.1 to 5.4), with this
    /// project's client and with a third-party client.
    struct Users {}
}

extension BrazeTests.Users {
    private func alerts(_ number: Int) async throws -> [String] {
        try await BrazeCaller.current.alerts(number).compactMap(\.string)
    }

    private func send(
        _ alert: String,
        to target: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body = #"{\#(target),"messages":{"apple_push":{"alert":"\#(alert)"}}}"#
        let answer = try await BrazeCaller.current.call("/messages/send", body)
        #expect(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
    }

    // MARK: By us

    @Test(.covers("braze", "POST /users/track"))
    func aFullBatchThatIsRepeatedChangesNothing() async throws {
        let braze = try BrazeCaller.current
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
        let acts = "FROM gateway.user_act WHERE user_id LIKE 'b-%'"
        let kept = """
            SELECT (SELECT string_agg(p.user_id || p.attributes::text || p.revision, ' ' ORDER BY p.user_id)
                    FROM gateway.user_profile p WHERE p.user_id LIKE 'b-%')
                || (SELECT string_agg(t.user_id || t.name || t.count, ' ' ORDER BY t.user_id, t.name)
                    FROM gateway.user_tally t WHERE t.user_id LIKE 'b-%')
                || (SELECT count(*) \(acts)) AS value
            """
        var before: String?
        for _ in 0..<2 {
            let answer = try await braze.call("/users/track", body)
            #expect(answer.status == 201 && answer.json == counts, "\(answer.text)")
            let now = try await braze.world.value(kept)
            #expect(before == nil || before == now)
            before = now
        }
        #expect(try await braze.world.value("SELECT count(*)::text AS value \(acts)") == "150")
        let user = try await braze.user("b-3")
        #expect(user?["custom_attributes"] == ["n": 1, "l": ["x"], "o": ["k": 3]])
        #expect(user?["custom_events"]?.array?.first?["count"] == 15)
        #expect(user?["purchases"]?.array?.first?["count"] == 1)
    }

    @Test(.covers("braze", "POST /users/alias/new", "POST /users/identify"))
    func anAliasReachesItsDeviceAndBecomesTheIdentifiedUser() async throws {
        let braze = try BrazeCaller.current
        let alias = #"{"alias_name":"7","alias_label":"users"}"#
        let named = try await braze.call("/users/alias/new", #"{"user_aliases":[\#(alias)]}"#)
        #expect(named.status == 201 && named.json == ["aliases_processed": 1, "message": "success"])
        let token = BrazeCaller.token(401)
        let track =
            #"{"attributes":[{"user_alias":\#(alias),"city":"Seoul","push_tokens":[{"app_id":"a","token":"\#(token)"}]}]}"#
        #expect(try await braze.call("/users/track", track).json?["attributes_processed"] == 1)
        try await send("by alias", to: #""user_aliases":[\#(alias)]"#)
        _ = try await braze.push(401)
        let identify = #"{"aliases_to_identify":[{"external_id":"hong","user_alias":\#(alias)}]}"#
        #expect(try await braze.call("/users/identify", identify).json?["aliases_processed"] == 1)
        let text = "{{${first_name} | default: 'you'}} in {{custom_attribute.${city}}}"
        try await send(text, to: #""external_user_ids":["hong"]"#)
        _ = try await braze.push(401, count: 2)
        #expect(try await alerts(401).sorted() == ["by alias", "you in Seoul"])
        let asked = try await braze.call("/users/export/ids", #"{"user_aliases":[\#(alias)]}"#)
        let user = asked.json?["users"]?.array?.first
        #expect(user?["external_id"] == "hong" && user?["custom_attributes"] == ["city": "Seoul"])
        #expect(user?["push_tokens"]?.array?.first?["token"] == .string(token))
    }

    @Test(.covers("braze", "POST /users/delete"))
    func aDeletedUserIsErasedAndItsDeviceHasNoUser() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(402, "erased")])
        let answer = try await braze.call("/users/delete", #"{"external_ids":["erased","x"]}"#)
        #expect(answer.json?["deleted"] == 1, "\(answer.text)")
        let rest = try await braze.world.value(
            "SELECT count(*)::text AS value FROM gateway.identity WHERE vendor = 'braze' AND user_id = 'erased'"
        )
        #expect(rest == "0")
        let audited = try await braze.world.value(
            """
            SELECT count(*)::text AS value FROM gateway.audit
            WHERE subject = gateway.audit_pseudonym(tenant_id, 'user erased') AND action = 'erase'
            """
        )
        #expect(audited == "1")
    }

    @Test(.covers("braze", "POST /users/merge"))
    func theDevicesAndActsOfAMergedUserMoveToTheOther() async throws {
        let braze = try BrazeCaller.current
        let device = #""push_tokens":[{"app_id":"a","token":"\#(BrazeCaller.token(403))"}]"#
        let event = #"{"external_id":"old","name":"seen","time":"2026-01-01T00:00:00Z"}"#
        let track = #"{"attributes":[{"external_id":"old",\#(device)},{"external_id":"new"}],"events":[\#(event)]}"#
        #expect(try await braze.call("/users/track", track).status == 201)
        let body =
            #"{"merge_updates":[{"identifier_to_merge":{"external_id":"old"},"identifier_to_keep":{"external_id":"new"}}]}"#
        for _ in 0..<2 {
            let answer = try await braze.call("/users/merge", body)
            #expect(answer.status == 201 && answer.json == ["message": "success"])
        }
        try await send("merged", to: #""external_user_ids":["new"]"#)
        #expect(try await braze.push(403)["payload"]?["aps"]?["alert"] == "merged")
        let asked = try await braze.call("/users/export/ids", #"{"external_ids":["new","old"]}"#)
        #expect(asked.json?["invalid_user_ids"] == ["old"])
        #expect(asked.json?["users"]?.array?.first?["custom_events"]?.array?.first?["count"] == 1)
    }

    // MARK: Consent

    private func subscribe(
        _ user: String,
        _ state: String,
        token: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let body = #"""
            {"attributes":[{"external_id":"\#(user)","push_subscribe":"\#(state)","push_tokens":[{"app_id":"a","token":"\#(BrazeCaller.token(token))"}]}]}
            """#
        let answer = try await BrazeCaller.current.call("/users/track", body)
        #expect(answer.status == 201, sourceLocation: sourceLocation)
    }

    @Test(
        arguments: [
            "unsubscribed": ["all"], "subscribed": ["all", "subscribed"],
            "opted_in": ["all", "opted_in", "subscribed"],
        ]
    )
    func aUserGetsThePushesForItsSubscriptionState(user: String, wanted: [String]) async throws {
        let braze = try BrazeCaller.current
        let number = ["unsubscribed": 404, "subscribed": 405, "opted_in": 406][user] ?? 0
        try await subscribe("user-\(user)", user, token: number)
        // The push for all users is sent last, so all other pushes have arrived before it.
        for state in ["subscribed", "opted_in", "all"] {
            let target = #""external_user_ids":["user-\#(user)"],"recipient_subscription_state":"\#(state)""#
            try await send(state, to: target)
            try await eventually("the outcome of '\(state)'") {
                try await braze.world.value(
                    "SELECT count(*)::text AS value FROM gateway.delivery WHERE user_id = 'user-\(user)' AND state IN ('sent', 'suppressed')"
                ) == "\((["subscribed", "opted_in", "all"].firstIndex(of: state) ?? 0) + 1)"
            }
        }
        #expect(try await alerts(number).sorted() == wanted)
    }

    @Test func theNativeAPIHasTheSameConsent() async throws {
        let braze = try BrazeCaller.current
        func send(_ consent: String) async throws -> BrazeCaller.Answer {
            let body = #"{"app":"shop","to":"everyone","body":"x","consent":"\#(consent)"}"#
            return try await braze.call("/v1/messages", body, key: braze.world.apiKey)
        }
        let broken = try await send("some")
        #expect(broken.status == 422, "\(broken.text)")
        let made = try await send("optedIn")
        #expect(made.status == 202, "\(made.text)")
        let kept = try await braze.world.value(
            "SELECT content ->> 'consent' AS value FROM gateway.message WHERE message_id = '\(made.json?["id"]?.string ?? "")'"
        )
        #expect(kept == "optedIn")
    }

    // MARK: Subscription groups

    private func status(_ group: String, _ user: String) async throws -> JSON? {
        let path = "/subscription/status/get?subscription_group_id=\(group)&external_id=\(user)"
        return try await BrazeCaller.current.call(path, method: .GET).json
    }

    @Test(.covers("braze", "POST /subscription/status/set", "GET /subscription/status/get"))
    func theLastSetStateOfAUserInAGroupApplies() async throws {
        let braze = try BrazeCaller.current
        let set = #"{"subscription_group_id":"news","subscription_state":"unsubscribed","external_id":["g-1"]}"#
        #expect(try await braze.call("/subscription/status/set", set).json == ["message": "success"])
        #expect(try await status("news", "g-1") == ["status": ["g-1": "unsubscribed"], "message": "success"])
        let track =
            #"{"attributes":[{"external_id":"g-1","subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed"}]}]}"#
        #expect(try await braze.call("/users/track", track).status == 201)
        #expect(try await status("news", "g-1") == ["status": ["g-1": "subscribed"], "message": "success"])
    }

    @Test(.covers("braze", "POST /v2/subscription/status/set", "GET /subscription/user/status"))
    func allGroupsOfAUserAreListed() async throws {
        let braze = try BrazeCaller.current
        for (group, state) in [("news", "subscribed"), ("sale", "unsubscribed")] {
            let set =
                #"{"subscription_groups":[{"subscription_group_id":"\#(group)","subscription_state":"\#(state)","external_ids":["g-2","g-3"]}]}"#
            #expect(try await braze.call("/v2/subscription/status/set", set).status == 201)
        }
        let listed = try await braze.call("/subscription/user/status?external_id=g-2&external_id=x", method: .GET)
        let groups: JSON = [["id": "news", "status": "subscribed"], ["id": "sale", "status": "unsubscribed"]]
        #expect(
            listed.json == [
                "users": [["external_id": "g-2", "subscription_groups": groups]], "total_count": 1,
                "message": "success",
            ]
        )
    }

    @Test func theNativeAPIChangesAndShowsTheSameGroups() async throws {
        let braze = try BrazeCaller.current
        let set = #"{"subscription_group_id":"sale","subscription_state":"subscribed","external_id":["g-4"]}"#
        #expect(try await braze.call("/subscription/status/set", set).json == ["message": "success"])
        let body = #"{"subject":"sale","state":"unsubscribed","users":["g-4"]}"#
        let changed = try await braze.native(.POST, "/consents", body)
        #expect(changed.status == 200 && changed.json == ["changed": 1], "\(changed.text)")
        let shown = try await braze.native(.GET, "/consents/g-4")
        #expect(shown.json == ["user": "g-4", "consents": ["sale": "unsubscribed"]], "\(shown.text)")
        #expect(try await status("sale", "g-4") == ["status": ["g-4": "unsubscribed"], "message": "success"])
        // Without the vendor, the path addresses other users.
        let path = "/v1/apps/shop/consents"
        let key = braze.world.apiKey
        #expect(try await braze.call(path + "/g-4", method: .GET, key: key).status == 404)
        for broken in [body.replacing("sale", with: ""), body.replacing("unsubscribed", with: "x"), "{}"] {
            #expect(try await braze.call(path, broken, key: key).status == 422)
        }
        #expect(try await braze.call(path, body, method: .PUT, key: key).status == 405)
    }

    // MARK: With the native API

    @Test func theNativeAPIChangesAndShowsTheSameUsers() async throws {
        let braze = try BrazeCaller.current
        let made = try await braze.native(
            .PATCH,
            "/users/n-1",
            #"{"attributes":{"plan":"gold","gone":1},"acceptsPush":false}"#
        )
        #expect(made.status == 200, "\(made.text)")
        let changed = try await braze.native(.PATCH, "/users/n-1", #"{"attributes":{"gone":null,"tags":["a"]}}"#)
        let attributes = changed.json?["attributes"]
        #expect(attributes?["plan"] == "gold" && attributes?["gone"] == nil && attributes?["tags"] == ["a"])
        let shown = try await braze.native(.GET, "/users/n-1").json
        #expect(shown == changed.json && shown?["user"] == "n-1")
        #expect(try await braze.user("n-1")?["custom_attributes"]?["plan"] == "gold")
    }

    @Test func aWrongRequestForAUserIsRefused() async throws {
        let braze = try BrazeCaller.current
        #expect(try await braze.native(.PATCH, "/users/n-2", #"{"attributes":{"plan":"gold"}}"#).status == 200)
        for broken in ["[]", #"{"attributes":7}"#, #"{"x":1}"#, #"{"acceptsPush":"no"}"#] {
            let status = try await braze.native(.PATCH, "/users/n-2", broken).status
            #expect(status == 422 || status == 400, "\(broken)")
        }
        for broken in [#"{"attributes":{"":1}}"#, #"{"attributes":{"a":"\u0000"}}"#] {
            #expect(try await braze.native(.PATCH, "/users/n-2", broken).status == 422, "\(broken)")
        }
        #expect(try await braze.native(.GET, "/users/nobody").status == 404)
        let other = try await braze.call("/v1/apps/shop/users/n-2", method: .GET, key: braze.world.apiKey)
        #expect(other.status == 404, "of another dialect")
        #expect(try await braze.native(.GET, "/users/n-2?vendor=x").status == 422)
        #expect(try await braze.native(.DELETE, "/users/n-2").status == 405)
    }

    // MARK: By somebody else

    /// `braze-client` from PyPI: only its address and its key differ from its use with the vendor.
    @Test func somebodyElsesClientWorks() async throws {
        let braze = try BrazeCaller.current
        let python: PythonClient
        do {
            python = try await PythonClient(braze.world, installing: "braze-client==2.3.3")
        } catch let skip as PythonClient.Skip {
            return try World.lacks(skip.reason)
        }
        try await braze.keepCampaign("winter", name: "W", alert: "Hi")
        let result = try await python.run(
            script: "braze_users",
            [braze.world.http.base, "winter"],
            environment: ["BRAZE_KEY": BrazeCaller.key]
        )
        #expect(result.status == 0, "\(result.log)")
        var answers: [String: JSON] = [:]
        for line in result.log.split(separator: "\n") {
            let answer = try JSONParser.parse(String(line))
            answers[answer["name"]?.string ?? ""] = answer
        }
        func answer(_ name: String) -> JSON? { answers[name]?["answer"] }
        for name in ["part", "repeat"] {
            // Two attributes, one of two events, one purchase.
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
