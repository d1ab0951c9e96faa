import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// Sends through the vendor: the calls are those of the contract, and reading them again gives the message.
struct UpstreamSendTests {
    private static let pushes = [
        #"{"alert":"Hi","sound":"default","badge":0}"#, #"{"alert":"Hi","mutable_content":true,"category":"c"}"#,
        #"{"alert":"Hi","interruption_level":"time-sensitive","relevance_score":0.25}"#,
        #"{"alert":"Hi","notification_group_thread_id":"t","content-available":true}"#,
        #"{"alert":"Hi","custom_uri":"app://x"}"#, #"{"alert":"Hi","custom_uri":"app://x","use_webview":false}"#,
        #"{"alert":"Hi","extra":{"ab_uri":"app://x","n":1,"o":{"a":[null,true]}}}"#,
        #"{"content-available":true,"badge":3,"extra":{"order_id":"42"}}"#, #"{"badge":3,"sound":"x"}"#,
        #"{"alert":"Hi","asset_url":"https://cdn.example.com/i/42.jpg","asset_file_type":"jpg"}"#,
        #"{"badge":1,"asset_url":"https://cdn.example.com/i/42.jpg","asset_file_type":"jpg"}"#,
        #"{"alert":{"title":"T","title_loc_key":"a","title_loc_args":["1"],"loc_key":"b","loc_args":["2"],"action_loc_key":"c","sound":"s"}}"#,
        #"{"alert":{"title":"T","sound":""}}"#,
        #"{"alert":{"title":"T","body":"Hi {{${first_name} | default: 'you'}}"},"extra":{"k":"{{${user_id}}}"}}"#,
        #"{"alert":"Hi","apns_priority":3,"collapse_id":"c","expiry":"2026-01-01T06:00:00Z"}"#,
        #"{"alert":"Hi","message_variation_id":"v-9"}"#,
    ]

    /// Every documented send, and the fields of its push.
    private static func documented() throws -> [VendorRequest] {
        let trigger = try Fixture.text("campaigns/trigger.request.json").replacing(
            "9a8b7c6d-0000-4000-8000-000000000001",
            with: "c-1"
        )
        let counted =
            #"{"external_user_ids":["u-1"],"campaign_id":"c-1","send_id":"winter-2026","recipient_subscription_state":"opted_in","messages":{"apple_push":{"alert":"Hi","message_variation_id":"v-1"}}}"#
        let sends = (CampaignTests.documented + AudienceTests.documented).filter {
            Mount.adapter.kind(of: $0, settings: Mount.settings) == .send && $0.path != "/sends/id/create"
        }
        return sends + Self.pushes.map { Mount.send($0) } + [
            Mount.request("/messages/send", try Fixture.text("messages/send.request.json")),
            Mount.request("/messages/send", counted),
            Mount.request(
                "/messages/send",
                #"{"broadcast":true,"recipient_subscription_state":"all","messages":{"apple_push":{"alert":"Hi"}}}"#
            ),
            Mount.request("/campaigns/trigger/send", trigger),
        ]
    }

    /// A target for each user of the message, and one more if it has a push for Android; an audience has two users.
    private func targets(_ submission: Submission) -> [TargetFacts] {
        var users: [UserID] = ["u-1", "u-2"]
        if case .users(let named) = submission.audience { users = named }
        let hasAndroid = submission.content.data["android"] != nil
        return users.flatMap { user -> [TargetFacts] in
            let own = submission.variables.first { $0.user == user }
            let apple = OldBraze.target(user.rawValue, variables: own?.values ?? JSONObject())
            return hasAndroid ? [apple, OldBraze.target(user.rawValue, platform: .android)] : [apple]
        }
    }

    /// The parts of a message that must survive.
    private struct Essence: Equatable {
        var content: Content
        var collapseID: String?
        var timeToLive: Duration?
        var labels: [String]
        var variables: [UserVariables]

        init(_ submission: Submission) {
            content = submission.content
            // The targets are those that the filter selects. It also counts as a template, so that the users' attributes are read.
            if content.data["audience"] != nil {
                content.data["audience"] = nil
                content.isTemplate = JSONWriter.text(content.raw ?? .null).contains("{{")
            }
            collapseID = submission.collapseID
            timeToLive = submission.timing.timeToLive
            labels = submission.labels
            variables = submission.variables
        }
    }

    private func read(_ call: UpstreamCall) throws -> Submission { try OldBraze.submission(call.request) }

    /// docs/contracts/braze.md#5.5, docs/contracts/braze.md#6.1
    @Test func theCorpusHasEveryDocumentedField() throws {
        let page = try ContractPage("braze")
        let fields = (page.rows(of: "5.5") + page.rows(of: "6.1")).map { $0.filter { !$0.isWhitespace } }
        let corpus = try Self.documented().map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(fields.count > 25)
        // The first is refused. The second is not kept, which docs/vendors/braze.md states.
        let missing = Set(fields.filter { !corpus.contains("\"\($0)\"") })
        #expect(missing == ["buttons", "override_frequency_capping"])
    }

    @Test func readingACallGivesItsMessage() throws {
        let corpus = try Self.documented()
        #expect(corpus.count == 27)
        for request in corpus {
            let submission = try OldBraze.submission(request)
            let targets = targets(submission)
            let calls = try OldBraze.calls(OldBraze.notification(submission), targets)
            #expect(calls.map(\.targets) == [Array(targets.indices)], "\(request.path)")
            let again = try read(try #require(calls.first))
            #expect(Essence(again) == Essence(submission), "\(String(decoding: request.body, as: UTF8.self))")
            let users = targets.filter { $0.destination.platform == .ios }.compactMap(\.person.user)
            #expect(again.audience == .users(users))
            #expect(again.timing.dueAt == nil, "the gateway keeps the schedule")
        }
    }

    /// Accepted mutations of the corpus, too.
    @Test func readingACallGivesItsMessageWhateverItContains() throws {
        var mutator = Mutator(seed: Fuzz.seed)
        var compared = 0
        for request in try Self.documented() where request.path == "/messages/send" {
            let document = try JSONParser.parse(request.body)
            for round in 0..<Fuzz.count / 40 {
                var mutated = request
                mutated.body = mutator.body(round, from: document)
                guard let submission = try? OldBraze.submission(mutated) else { continue }
                let targets = [OldBraze.target("u-1"), OldBraze.target("u-1", platform: .android)]
                let calls = try OldBraze.calls(OldBraze.notification(submission), targets)
                // A mutated filter may exclude the user.
                guard let call = calls.first else { continue }
                let again = try read(call)
                #expect(Essence(again).content == Essence(submission).content, "seed \(Fuzz.seed)")
                compared += 1
            }
        }
        #expect(compared > Fuzz.count / 40)
    }

    /// docs/contracts/braze.md#5.5: the call is the documented one.
    @Test func aSendIsTheDocumentedOne() throws {
        let text = try Fixture.text("messages/send.request.json")
        let submission = try OldBraze.submission(Mount.request("/messages/send", text))
        let targets = ["u-1", "u-2"].flatMap { user -> [TargetFacts] in
            [OldBraze.target(user), OldBraze.target(user, platform: .android)]
        }
        let call = try #require(try OldBraze.calls(OldBraze.notification(submission), targets).first)
        var documented = try #require(try JSONParser.parse(text).object)
        documented["campaign_id"] = nil  // null
        #expect(OldBraze.body(call) == .object(documented))
        #expect(call.request.method == .post && call.request.path == "/messages/send" && call.request.query == nil)
        #expect(call.request.headers[.authorization] == "Bearer \(Mount.key)")
        #expect(call.request.headers[.contentType] == "application/json")
        #expect(call.request.receivedAt == Mount.now)
    }

    /// docs/contracts/braze.md#5.6: the vendor has the text of the campaign.
    @Test func aTriggerStaysATrigger() throws {
        let submission = try OldBraze.submission(Mount.request("/campaigns/trigger/send", CampaignTests.trigger))
        let call = try #require(try OldBraze.calls(OldBraze.notification(submission), targets(submission)).first)
        #expect(call.request.path == "/campaigns/trigger/send")
        #expect(
            OldBraze.body(call) == [
                "campaign_id": "c-1", "send_id": "winter-2026", "recipient_subscription_state": "subscribed",
                "trigger_properties": ["city": "Seoul", "name": "you"],
                "recipients": [
                    ["external_user_id": "u-1", "trigger_properties": ["name": "Mina"]], ["external_user_id": "u-2"],
                ],
            ]
        )
        let android = [OldBraze.target("u-1", platform: .android)]
        #expect(try OldBraze.calls(OldBraze.notification(submission), android).isEmpty)
    }

    // MARK: Users

    /// docs/contracts/braze.md#4.4: 50 recipients. The vendor pushes to all devices of a user, so each is in one call.
    @Test func aUserIsInOneCall() throws {
        let submission = try OldBraze.submission(Mount.send(#"{"alert":"Hi"}"#))
        var targets = (0..<120).map { OldBraze.target("u-\($0)") }
        targets += [
            OldBraze.target("u-3"), OldBraze.target(nil), OldBraze.target("alias:0011"),
            OldBraze.target("u-119", platform: .android), OldBraze.target("u-a", platform: .android),
        ]
        let calls = try OldBraze.calls(OldBraze.notification(submission), targets)
        #expect(calls.map(\.targets.count) == [51, 50, 21])
        #expect(calls[0].targets.contains(3) && calls[0].targets.contains(120) && calls[2].targets.contains(123))
        let all = calls.flatMap(\.targets)
        #expect(Set(all) == Set(0...120).union([123]) && all.count == 122)
        for call in calls {
            let users = OldBraze.body(call)["external_user_ids"]?.array ?? []
            #expect(users.count <= 50 && Set(users).count == users.count)
        }
        #expect(OldBraze.body(calls[2])["external_user_ids"]?.array?.last == "u-119")
        #expect(try OldBraze.calls(OldBraze.notification(submission), []).isEmpty)
    }

    /// A rule may divide platforms: a user gets pushes for the platforms of the targets only.
    @Test func aPlatformHasItsObject() throws {
        let text = try Fixture.text("messages/send.request.json")
        let submission = try OldBraze.submission(Mount.request("/messages/send", text))
        let targets = [
            OldBraze.target("u-1", platform: .android), OldBraze.target("u-2"),
            OldBraze.target("u-3", platform: .android), OldBraze.target("u-3"),
        ]
        let calls = try OldBraze.calls(OldBraze.notification(submission), targets)
        #expect(calls.map(\.targets) == [[1], [2, 3], [0]])
        let documented = try JSONParser.parse(text)["messages"]
        #expect(OldBraze.body(calls[0])["messages"] == ["apple_push": documented?["apple_push"] ?? .null])
        #expect(OldBraze.body(calls[0])["external_user_ids"] == ["u-2"])
        #expect(OldBraze.body(calls[1])["messages"] == documented)
        #expect(OldBraze.body(calls[1])["external_user_ids"] == ["u-3"])
        #expect(OldBraze.body(calls[2])["messages"] == ["android_push": documented?["android_push"] ?? .null])
        #expect(OldBraze.body(calls[2])["external_user_ids"] == ["u-1"])
        let long = #"{"alert":"Hi","title":"\#(String(repeating: "x", count: 4000))"}"#
        let body = #"{"external_user_ids":["u-1"],"messages":{"apple_push":{"alert":"Hi"},"android_push":\#(long)}}"#
        let kept = try OldBraze.submission(Mount.request("/messages/send", body))
        #expect(kept.content.data["android"] == nil)
    }

    @Test func aFilterExcludesUsers() throws {
        let submission = try OldBraze.submission(AudienceTests.documented[0])
        let targets = [OldBraze.target("u-1"), OldBraze.target("u-2", attributes: ["plan": "silver"])]
        let calls = try OldBraze.calls(OldBraze.notification(submission), targets)
        #expect(calls.map(\.targets) == [[0]])
        #expect(OldBraze.body(try #require(calls.first))["external_user_ids"] == ["u-1"])
    }

    // MARK: Other messages

    private func foreign(_ content: Content) -> Notification {
        Notification(
            message: Mount.message,
            origin: .native,
            content: content,
            sentAt: Mount.now,
            expiresAt: Mount.now + .milliseconds(7_200_001),
            collapseID: "c"
        )
    }

    private func push(_ content: Content) throws -> JSON? {
        let call = try #require(try OldBraze.calls(foreign(content), [OldBraze.target("u-1")]).first)
        #expect(OldBraze.body(call)["campaign_id"] == nil)
        return OldBraze.body(call)["messages"]?["apple_push"]
    }

    @Test func aMessageOfAnotherDialectIsWrittenForTheVendor() throws {
        var content = Content(title: "t", subtitle: "s", body: "b", badge: 3, data: ["k": 1, "ab": ["c": "x"]])
        content.campaign = "their own"
        #expect(
            try push(content) == [
                "alert": ["title": "t", "body": "b"], "badge": 3, "sound": "default", "extra": ["k": 1],
                "collapse_id": "c", "expiry": "2026-01-01T02:00:01Z",
            ]
        )
        #expect(
            try push(Content(isSilent: true, raw: ["aps": ["content-available": 1], "k": "v"])) == [
                "content-available": true, "extra": ["k": "v"], "collapse_id": "c", "expiry": "2026-01-01T02:00:01Z",
            ]
        )
        let critical: JSON = ["aps": ["alert": "a", "sound": ["critical": 1, "name": "s", "volume": 1]]]
        #expect(try push(Content(raw: critical))?["sound"] == "s")
    }

    /// The vendor would fill in the braces of such a text.
    @Test(arguments: [
        Content(body: "Hi {{name}}"), Content(body: "b", data: ["k": ["{% if x %}"]]),
        Content(raw: ["k": "{{x}}"]), Content(raw: []),
    ])
    func whatTheVendorWouldReadOtherwiseIsRefused(_ content: Content) {
        #expect(throws: AdapterError.self) { try push(content) }
    }

    @Test func aLiveActivityIsRefused() {
        var content = Content(body: "b")
        content.activity = ActivityReference(.running, "ride")
        #expect(throws: AdapterError(.invalid, field: "activity")) { try push(content) }
    }

    @Test func withoutACredentialThereIsNoCall() throws {
        let submission = try OldBraze.submission(Mount.send(#"{"alert":"Hi"}"#))
        let calls = try Mount.adapter.outbound(
            OldBraze.notification(submission),
            to: [OldBraze.target("u-1")],
            through: UpstreamSettings(vendor: .braze),
            settings: Mount.settings,
            at: Mount.now
        )
        #expect(calls.isEmpty)
    }
}
