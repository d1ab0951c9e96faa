import Coverage
import HTTPTypes
import Model
import Testing

@testable import Braze

/// Push preferences and subscription groups of users (docs/contracts/braze.md#5.5, docs/contracts/braze.md#5.9).
struct SubscriptionTests {
    /// docs/contracts/braze.md#5.9, with another group id.
    private static let set =
        #"{"subscription_group_id":"news","subscription_state":"unsubscribed","external_id":["u-1"]}"#
    private static let sets =
        #"{"subscription_groups":[{"subscription_group_id":"news","subscription_state":"subscribed","external_ids":["u-1","u-2"]},{"subscription_group_id":"sale","subscription_state":"unsubscribed","external_ids":["u-1"]}]}"#

    static let documented: [VendorRequest] = [
        Mount.request("/subscription/status/set", set), Mount.request("/v2/subscription/status/set", sets),
        get("/subscription/status/get", "subscription_group_id=news&external_id=u-1"),
        get("/subscription/user/status", "external_id=u-1&limit=&offset="),
    ]

    private static func get(_ path: String, _ query: String) -> VendorRequest {
        Mount.request(path, "", method: .get, query: query)
    }

    private func command(_ request: VendorRequest) throws -> UserCommand {
        let commands = try Mount.adapter.decode(request, settings: Mount.settings)
        guard case .user(let command)? = commands.first, commands.count == 1 else {
            throw AdapterError(.invalid, field: "\(commands)")
        }
        return command
    }

    // MARK: Setting

    @Test(.covers("braze", "POST /subscription/status/set")) func oneGroupIsSetForUsers() throws {
        let request = Mount.request("/subscription/status/set", Self.set)
        let change = ConsentChange(subject: "news", state: .unsubscribed, users: [.id("u-1")])
        #expect(try command(request) == .consent([change]))
        // A single user without a list.
        let single = Self.set.replacing(#"["u-1"]"#, with: #""u-1""#)
        #expect(try command(Mount.request("/subscription/status/set", single)) == .consent([change]))
        let answer = Mount.answer(request)
        #expect(answer.status == 201 && answer.json == ["message": "success"])
        #expect(answer.header("X-RateLimit-Limit") == "5000")
    }

    @Test(.covers("braze", "POST /v2/subscription/status/set")) func severalGroupsAreSetAtOnce() throws {
        let request = Mount.request("/v2/subscription/status/set", Self.sets)
        let changes = [
            ConsentChange(subject: "news", state: .subscribed, users: [.id("u-1"), .id("u-2")]),
            ConsentChange(subject: "sale", state: .unsubscribed, users: [.id("u-1")]),
        ]
        #expect(try command(request) == .consent(changes))
        let answer = Mount.answer(request)
        #expect(answer.status == 201 && answer.json == ["message": "success"])
    }

    private static let both = "Either an email address or a phone number should be provided, but not both."

    @Test(arguments: [
        (#""external_id":["u"],"email":["a@example.com"],"phone":["+4912"]"#, both),
        (#""email":["a@example.com"]"#, "'email' is not available on this gateway"),
        (#""phone":["+4912"],"email":[]"#, "'phone' is not available on this gateway"),
        (#""external_id":[]"#, "'external_id' is not valid"), (#""external_id":[7]"#, "'external_id' is not valid"),
        (#""external_id":{}"#, "'external_id' is not valid"),
        (#""external_id":["u"],"subscription_state":"opted_in""#, "'subscription_state' is not valid"),
        (#""external_id":["u"],"subscription_group_id":"""#, "'subscription_group_id' is not valid"),
    ])
    func anInvalidChangeIsRefused(_ fields: String, _ text: String) {
        // Of equal keys the last one counts.
        let body = #"{"subscription_group_id":"news","subscription_state":"subscribed",\#(fields)}"#
        let answer = Mount.answer(Mount.request("/subscription/status/set", body))
        #expect(answer.status == 400 && answer.message == text, "\(answer.text)")
    }

    // docs/contracts/braze.md#4.4: 50 users, counted over several groups together.
    @Test func usersAreBounded() {
        func ids(_ count: Int) -> String { (0..<count).map { #""u-\#($0)""# }.joined(separator: ",") }
        func status(_ path: String, _ body: String) -> Int { Mount.answer(Mount.request(path, body)).status }
        func one(_ field: String, _ count: Int) -> String {
            #"{"subscription_group_id":"g","subscription_state":"subscribed","\#(field)":[\#(ids(count))]}"#
        }
        #expect(status("/subscription/status/set", one("external_id", 50)) == 201)
        #expect(status("/subscription/status/set", one("external_id", 51)) == 400)
        func two(_ first: Int, _ second: Int) -> String {
            #"{"subscription_groups":[\#(one("external_ids", first)),\#(one("external_ids", second))]}"#
        }
        #expect(status("/v2/subscription/status/set", two(25, 25)) == 201)
        #expect(status("/v2/subscription/status/set", two(25, 26)) == 400)
        #expect(status("/v2/subscription/status/set", #"{"subscription_groups":[]}"#) == 400)
    }

    @Test func groupsAreSetWithAttributes() throws {
        func patch(_ fields: String) throws -> UserPatch? {
            let body = #"{"attributes":[{"external_id":"u",\#(fields)}]}"#
            guard case .track(let batch) = try command(Mount.request("/users/track", body)) else { return nil }
            return batch.patches.first
        }
        let groups =
            #""subscription_groups":[{"subscription_group_id":"a","subscription_state":"subscribed"},{"subscription_group_id":"b","subscription_state":"unsubscribed"}]"#
        #expect(try patch(groups)?.consents == ["a": .subscribed, "b": .unsubscribed])
        #expect(try patch(groups)?.changes == [])
        #expect(try patch(#""subscription_groups":null"#)?.consents == [:])
        #expect(try patch(#""push_subscribe":"opted_in""#)?.isOptedIn == true)
        #expect(try patch(#""push_subscribe":"subscribed""#)?.isOptedIn == false)
        #expect(try patch(#""push_subscribe":null"#)?.isOptedIn == nil)
    }

    // MARK: Asking

    private static let user = DescribedUser(
        app: "shop",
        user: "u-1",
        isAnonymous: false,
        attributes: [:],
        consents: ["news": .unsubscribed, "a": .subscribed]
    )

    @Test(.covers("braze", "GET /subscription/status/get")) func theStateOfAGroupIsTold() throws {
        let request = Self.get("/subscription/status/get", "subscription_group_id=news&external_id=u-1")
        #expect(try command(request) == .describe([.id("u-1")]))
        let answer = Mount.answer(request) { _ in .user(.described([Self.user])) }
        #expect(answer.status == 200)
        #expect(answer.json == ["status": ["u-1": "unsubscribed"], "message": "success"])
        let more = Self.get(
            "/subscription/status/get",
            "subscription_group_id=sale&external_id%5B%5D=u-1&external_id[]=x%20y"
        )
        #expect(try command(more) == .describe([.id("u-1"), .id("x y")]))
        let unknown = Mount.answer(more) { _ in .user(.described([Self.user, nil])) }
        #expect(unknown.json == ["status": ["u-1": "unknown", "x y": "unknown"], "message": "success"])
    }

    @Test(.covers("braze", "GET /subscription/user/status")) func allGroupsOfAUserAreTold() throws {
        let request = Self.get("/subscription/user/status", "external_id=u-1&limit=&offset=")
        #expect(try command(request) == .describe([.id("u-1")]))
        let groups: JSON = [["id": "a", "status": "subscribed"], ["id": "news", "status": "unsubscribed"]]
        let answer = Mount.answer(request) { _ in .user(.described([Self.user])) }
        #expect(answer.status == 200)
        #expect(
            answer.json == [
                "users": [["external_id": "u-1", "subscription_groups": groups]], "total_count": 1,
                "message": "success",
            ]
        )
        var other = Self.user
        other.user = "u-2"
        other.consents = [:]
        let page = Self.get(
            "/subscription/user/status",
            "external_id=u-1&external_id=x&external_id=u-2&limit=1&offset=1"
        )
        let second = Mount.answer(page) { _ in .user(.described([Self.user, nil, other])) }
        #expect(
            second.json == [
                "users": [["external_id": "u-2", "subscription_groups": []]], "total_count": 2, "message": "success",
            ]
        )
    }

    @Test(arguments: [
        ("/subscription/status/get", "external_id=u"), ("/subscription/status/get", "subscription_group_id=g"),
        ("/subscription/status/get", "subscription_group_id=g&email=a"), ("/subscription/user/status", "limit=1"),
        ("/subscription/user/status", "external_id=u&limit=0"),
        ("/subscription/user/status", "external_id=u&limit=101"),
        ("/subscription/user/status", "external_id=u&offset=-1"),
        ("/subscription/user/status", "external_id=u&offset=9223372036854775807"),
    ])
    func anInvalidQueryIsRefused(_ path: String, _ query: String) {
        #expect(Mount.answer(Self.get(path, query)).status == 400)
    }

    // MARK: Sending

    @Test func aSendNamesTheRequiredSubscription() throws {
        func consent(_ state: String) throws -> ConsentRule {
            let body =
                #"{"external_user_ids":["u"],"recipient_subscription_state":\#(state),"messages":{"apple_push":{"alert":"Hi"}}}"#
            return try Mount.submission(Mount.request("/messages/send", body)).content.consent
        }
        #expect(try consent("null") == .subscribed && consent(#""subscribed""#) == .subscribed)
        #expect(try consent(#""opted_in""#) == .optedIn && consent(#""all""#) == .all)
        #expect(throws: AdapterError.self) { try consent(#""unsubscribed""#) }
    }

    // A trigger's own audience has precedence over that of its campaign.
    @Test func aCampaignNamesTheRequiredSubscription() throws {
        func consent(_ campaign: String?, _ trigger: String?) throws -> ConsentRule {
            var body: JSONObject = [
                "variations": [["message_variation_id": "v", "apple_push": ["alert": "Hi"]]]
            ]
            body["recipient_subscription_state"] = campaign.map { .string($0) }
            #expect(Mount.adapter.campaignProblem(in: body) == nil)
            var call: JSONObject = ["campaign_id": "c", "broadcast": true]
            call["recipient_subscription_state"] = trigger.map { .string($0) }
            let kept = Campaign(id: "c", name: "n", body: body, createdAt: Mount.now, updatedAt: Mount.now)
            return try TriggerSend(call, at: Mount.now).submission(of: kept, due: nil).content.consent
        }
        #expect(try consent(nil, nil) == .subscribed && consent("opted_in", nil) == .optedIn)
        #expect(try consent("opted_in", "all") == .all)
        let broken: JSONObject = [
            "variations": [["message_variation_id": "v", "apple_push": ["alert": "Hi"]]],
            "recipient_subscription_state": "x",
        ]
        #expect(Mount.adapter.campaignProblem(in: broken) == "'recipient_subscription_state' is not valid")
    }
}
