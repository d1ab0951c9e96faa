import HTTPTypes
import Model
import TestKit
import Testing

@testable import Braze

/// The kind of every documented call. The lists are written by hand: a call that pushes must not be treated as one that changes or reads.
struct UpstreamKindTests {
    private static let catalogue: [String: CallKind] = [
        "POST /api/v3/data": .device,
        "POST /api/v3/template": .device,
        "POST /api/v3/content_cards/sync": .device,
        "POST /users/track": .user,
        "POST /users/delete": .user,
        "POST /users/export/ids": .read,
        "POST /users/alias/new": .user,
        "POST /users/identify": .user,
        "POST /users/merge": .user,
        "POST /messages/send": .send,
        "POST /messages/schedule/create": .send,
        "POST /messages/schedule/update": .message,
        "POST /messages/schedule/delete": .message,
        "GET /messages/scheduled_broadcasts": .read,
        "POST /campaigns/trigger/send": .send,
        "POST /campaigns/trigger/schedule/create": .send,
        "POST /campaigns/trigger/schedule/update": .message,
        "POST /campaigns/trigger/schedule/delete": .message,
        "POST /sends/id/create": .send,
        "GET /sends/data_series": .read,
        "POST /subscription/status/set": .user,
        "POST /v2/subscription/status/set": .user,
        "GET /subscription/status/get": .read,
        "GET /subscription/user/status": .read,
        "POST /messages/live_activity/start": .send,
        "POST /messages/live_activity/update": .send,
        "POST /canvas/trigger/send": .send,
    ]

    private func kind(_ method: String, _ path: String) throws -> CallKind {
        let method = try #require(HTTPRequest.Method(method))
        return Mount.adapter.kind(of: VendorRequest(route: "", method: method, path: path), settings: Mount.settings)
    }

    @Test func everyCallOfTheCatalogueHasItsKind() throws {
        let listed = try JSONParser.parse(try Fixture.text("catalogue.json"))["calls"]?.array ?? []
        let calls = listed.compactMap(\.string)
        #expect(Set(calls) == Set(Self.catalogue.keys) && calls.count == Self.catalogue.count)
        for (call, wanted) in Self.catalogue {
            let words = call.split(separator: " ").map(String.init)
            for path in [words[1], words[1] + "/", "/" + words[1]] {
                #expect(try kind(words[0], path) == wanted, "\(words[0]) \(path)")
            }
        }
    }

    /// Every route; a route for calls that are not answered has the kinds of its families.
    @Test func everyRouteHasItsKinds() throws {
        let routes: [String: [(method: String, path: String, kind: CallKind)]] = [
            "braze.send": [("POST", "/messages/send", .send)],
            "braze.track": [("POST", "/users/track", .user)],
            "braze.export": [("POST", "/users/export/ids", .read)],
            "braze.delete": [("POST", "/users/delete", .user)],
            "braze.nameAliases": [("POST", "/users/alias/new", .user)],
            "braze.identify": [("POST", "/users/identify", .user)],
            "braze.merge": [("POST", "/users/merge", .user)],
            "braze.scheduleCreate": [("POST", "/messages/schedule/create", .send)],
            "braze.scheduleUpdate": [("POST", "/messages/schedule/update", .message)],
            "braze.scheduleDelete": [("POST", "/messages/schedule/delete", .message)],
            "braze.scheduledBroadcasts": [("GET", "/messages/scheduled_broadcasts", .read)],
            "braze.trigger": [("POST", "/campaigns/trigger/send", .send)],
            "braze.triggerScheduleCreate": [("POST", "/campaigns/trigger/schedule/create", .send)],
            "braze.triggerScheduleUpdate": [("POST", "/campaigns/trigger/schedule/update", .message)],
            "braze.triggerScheduleDelete": [("POST", "/campaigns/trigger/schedule/delete", .message)],
            "braze.sendCreate": [("POST", "/sends/id/create", .send)],
            "braze.dataSeries": [("GET", "/sends/data_series", .read)],
            "braze.subscriptionSet": [("POST", "/subscription/status/set", .user)],
            "braze.subscriptionsSet": [("POST", "/v2/subscription/status/set", .user)],
            "braze.subscriptionGet": [("GET", "/subscription/status/get", .read)],
            "braze.subscriptionUser": [("GET", "/subscription/user/status", .read)],
            "braze.data": [("POST", "/api/v3/data", .device)],
            "braze.template": [("POST", "/api/v3/template", .device)],
            "braze.contentCards": [("POST", "/api/v3/content_cards/sync", .device)],
            "braze.later": [
                ("POST", "/users/external_ids/rename", .user), ("POST", "/users/export/segment", .read),
                ("GET", "/campaigns/list", .read), ("GET", "/canvas/data_series", .read),
                ("POST", "/canvas/trigger/schedule/create", .send),
                ("POST", "/canvas/trigger/schedule/delete", .message),
                ("POST", "/subscription/anything", .user), ("GET", "/v2/subscription/x", .read),
                ("POST", "/messages/anything", .send), ("POST", "/api/v3/push_token_tag", .device),
            ],
        ]
        #expect(Set(Mount.adapter.routes.map(\.name)) == Set(routes.keys))
        for (route, calls) in routes {
            for call in calls { #expect(try kind(call.method, call.path) == call.kind, "\(route): \(call.path)") }
        }
        for path in [
            "/", "", "/email/hard_bounces", "/v2", "/v2/x", "/api/v2/data", String(repeating: "/x", count: 5000),
        ] {
            #expect(try kind("POST", path) == .other, "\(path.prefix(20))")
        }
    }

    @Test func everyDocumentedRequestHasTheKindOfItsCall() throws {
        for request in try ConformanceTests.subject().documented {
            let call = "\(request.method.rawValue) \(request.path)"
            #expect(Mount.adapter.kind(of: request, settings: Mount.settings) == Self.catalogue[call], "\(call)")
        }
        for row in VendorCallTable.all where row.vendor == .braze && row.caller != nil {
            let request = VendorRequest(route: "", method: row.method, path: row.path)
            #expect(Mount.adapter.kind(of: request, settings: Mount.settings) != .other, "\(row)")
        }
    }

    // MARK: Targets

    private func named(_ path: String, _ body: String) -> NamedTargets {
        Mount.adapter.named(in: Mount.request(path, body), settings: Mount.settings)
    }

    private static let push = #""messages":{"apple_push":{"alert":"Hi"}}"#
    private static let alias = #"{"alias_name":"a-7","alias_label":"crm"}"#

    /// docs/contracts/braze.md#5.5: the user as it is stored.
    @Test func aSendNamesItsUsers() throws {
        let documented = try Fixture.text("messages/send.request.json")
        let users = [RolloutFacts(user: "u-1"), RolloutFacts(user: "u-2")]
        #expect(named("/messages/send", documented) == .targets(users))
        #expect(named("/messages/send/", documented) == .targets(users))
        #expect(named("/messages/schedule/create", CampaignTests.schedule) == .targets([RolloutFacts(user: "u-1")]))
        #expect(named("/campaigns/trigger/send", CampaignTests.trigger) == .targets(users))
        #expect(named("/campaigns/trigger/schedule/create", CampaignTests.trigger) == .targets(users))
        // Ids are compared with case, as users are stored.
        let body = #"{"external_user_ids":["U 1 홍"],\#(Self.push)}"#
        #expect(named("/messages/send", body) == .targets([RolloutFacts(user: "U 1 홍")]))
        guard case .users(let stored) = try OldBraze.submission(Mount.request("/messages/send", body)).audience else {
            Issue.record("no users")
            return
        }
        #expect(stored == ["U 1 홍"])
    }

    @Test func aliasesAreHidden() throws {
        #expect(named("/messages/send", #"{"user_aliases":[\#(Self.alias)],\#(Self.push)}"#) == .hidden)
        let both = #"{"external_user_ids":["u-1"],"user_aliases":[\#(Self.alias)],\#(Self.push)}"#
        #expect(named("/messages/send", both) == .hidden)
        #expect(named("/campaigns/trigger/send", try Fixture.text("campaigns/trigger.request.json")) == .hidden)
    }

    @Test(arguments: [
        ("/messages/send", #"{"broadcast":true}"#), ("/messages/send", #"{"segment_id":"s"}"#),
        ("/messages/send", #"{"segment_id":"s","external_user_ids":["u-1"]}"#),
        ("/messages/send", #"{"broadcast":true,"external_user_ids":["u-1"]}"#),
        ("/messages/send", #"{"external_user_ids":["u-1",1]}"#), ("/messages/send", #"{"external_user_ids":[]}"#),
        ("/messages/send", "{}"), ("/messages/send", "["), ("/messages/send", ""),
        ("/campaigns/trigger/send", #"{"campaign_id":"c","broadcast":true}"#),
        ("/campaigns/trigger/send", #"{"recipients":[{"external_user_id":"u-1"}]}"#),
        ("/campaigns/trigger/send", #"{"campaign_id":"c","recipients":[{"email":"a@example.com"}]}"#),
        ("/campaigns/trigger/send", #"{"campaign_id":"c","recipients":7}"#),
        ("/sends/id/create", #"{"campaign_id":"c","external_user_ids":["u-1"]}"#),
        ("/users/track", #"{"external_user_ids":["u-1"]}"#),
        ("/canvas/trigger/send", #"{"external_user_ids":["u-1"]}"#),
        ("/messages/schedule/update", #"{"external_user_ids":["u-1"]}"#), ("/api/v3/data", #"{"user_id":"u-1"}"#),
    ])
    func otherCallsAreAudiences(_ path: String, _ body: String) {
        #expect(named(path, body) == .audience)
    }

    @Test func moreUsersThanACallMayNameAreAnAudience() {
        func list(_ count: Int) -> String { (0..<count).map { "\"u-\($0)\"" }.joined(separator: ",") }
        #expect(named("/messages/send", #"{"external_user_ids":[\#(list(51))],\#(Self.push)}"#) == .audience)
        let full = named("/messages/send", #"{"external_user_ids":[\#(list(50))],\#(Self.push)}"#)
        #expect(full == .targets((0..<50).map { RolloutFacts(user: "u-\($0)") }))
    }

    // MARK: App versions

    /// docs/contracts/braze.md#3.2
    @Test func theSDKStatesTheVersionOfItsApp() throws {
        let start = SDKTests.request("/api/v3/data", try SDKTests.documented("sdk/start.request.txt"))
        #expect(Mount.adapter.appVersion(in: start) == "2.4.3")
        for body in ["{}", "[", #"{"app_version":7}"#, #"{"app_version":""}"#] {
            #expect(Mount.adapter.appVersion(in: SDKTests.request("/api/v3/data", body)) == nil, "\(body)")
        }
        let send = Mount.request("/messages/send", #"{"app_version":"1"}"#)
        #expect(Mount.adapter.appVersion(in: send) == nil)
    }

    /// The vendor checks the caller's own key.
    @Test func callsLeaveUnchanged() throws {
        for request in try ConformanceTests.subject().documented {
            #expect(throws: Never.self) { try Mount.adapter.admit(request, settings: .unbound) }
            let sent = try #require(
                Mount.adapter.prepare(request, for: OldBraze.upstream, host: "rest.fra-01.braze.eu", at: Mount.now)
            )
            #expect(sent.path == request.path && sent.query == request.query && sent.body == request.body)
            #expect(sent.headers == request.headers && sent.method == request.method)
        }
    }
}
