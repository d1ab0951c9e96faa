import AsyncHTTPClient
import Foundation
import HTTPTypes
import Model
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import Braze
@testable import CommandSupport

/// I5 over real HTTP for Braze and Notification Hubs: 200 mutations of each call get one of the vendor's own statuses and shapes, never a 5xx, and
/// the gateway serves afterwards.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct GlobalVendorAbuseTests {
    static let perRequest = 200
    private static let restKey = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    private static let sdkKey = "11111111-2222-4333-8444-555555555555"
    private let hubs = NotificationHubsTests()

    /// One call with its body.
    private struct Call: Sendable {
        var name: String
        var method: HTTPMethod
        var headers: HTTPHeaders
        /// The value to mutate: a document, or the text of another format.
        var document: JSON = .null
        var text: String?
        /// True if the document becomes the query.
        var asksByQuery = false
        var isJSON = true
        /// False if no mutation can succeed, because the call names an object that does not exist.
        var isCarriedOut = true
    }

    @Test func abusedDialectsKeepTheirShape() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await world.bindNotificationHubs()
            try await bindBraze(world)
            try await abuse(world, Self.braze + hubCalls(world) + Self.site)
            let health = try await HTTPCaller(base: "http://" + world.adminAddress).closing {
                try await $0.call("GET", "/readyz")
            }
            #expect(health.status == 200, "\(health.text)")
        }
    }

    private func bindBraze(_ world: World) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = """

                      braze:
                        sdkKey: \(Self.sdkKey)
                        restKeyEnv: BRAZE_REST_KEY
                        settings: { sdkEnabled: true }

            """
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(environment: [
            "BRAZE_REST_KEY": Self.restKey, "NH_FULL": NotificationHubsTests.fullKey,
            "NH_LISTEN": NotificationHubsTests.listenKey, "NH_MINA": "a secret of mina's", "NH_HONG": "gildong",
        ])
        try #require(applied.status == 0, "\(applied.log)")
        let campaign: JSON = [
            "name": "Winter",
            "variations": [["message_variation_id": "v", "apple_push": ["alert": "{{api_trigger_properties.${a}}}"]]],
        ]
        let kept = try await world.http.call(
            "PUT",
            "/v1/apps/shop/campaigns/c-1?vendor=braze",
            campaign,
            bearer: world.apiKey
        )
        try #require(kept.status == 201, "\(kept.text)")
        try await eventually("the Braze binding is served") {
            try await world.http.call("POST", "/messages/send", [:], bearer: Self.restKey).status == 400
        }
    }

    private func abuse(_ world: World, _ calls: [Call]) async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("HTTP mutation seed: \(seed)")
        let base = world.http.base
        // Some calls are about objects that others create, whose mutations may be sent later.
        for call in calls {
            let body = call.text.map { Array($0.utf8) } ?? JSONWriter.bytes(call.document)
            _ = try await Self.send(base, call, body)
        }
        // Three calls at a time: a caller and the gateway wait for each other.
        try await concurrently(calls.count, tasks: 3) { index in
            try await Self.abuse(base, calls[index], seed: seed, seed &+ UInt64(index))
        }
    }

    /// Sends one body, and returns the answer.
    private static func send(
        _ base: String,
        _ call: Call,
        _ body: [UInt8]
    ) async throws -> (status: Int, bytes: [UInt8]) {
        var address = base + call.name
        if call.asksByQuery { address += (address.contains("?") ? "&" : "?") + query(body) }
        var request = HTTPClientRequest(url: address)
        request.method = call.method
        request.headers = call.headers
        if !call.asksByQuery { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
        return (Int(response.status.code), bytes)
    }

    /// Sends the mutations of one call. `seed` is that of the run, and `own` that of the call.
    private static func abuse(_ base: String, _ call: Call, seed: UInt64, _ own: UInt64) async throws {
        let known = ["u-1", "c-1", "s-1", "mina", "\(NotificationHubsTests.token(1))", "1"]
        var mutator = Mutator(seed: own, known: known)
        var understood = 0
        for number in 0..<perRequest {
            let body = call.text.map { mutator.raw(Array($0.utf8)) } ?? mutator.body(number, from: call.document)
            let (status, bytes) = try await send(base, call, body)
            if (200..<300).contains(status) { understood += 1 }
            let isShaped = !call.isJSON || (try? JSONParser.parse(bytes))?.object != nil
            if status >= 500 || !isShaped {
                Issue.record(
                    """
                    seed \(seed), \(call.method) \(call.name), mutation \(number): \(status) \
                    \(String(decoding: bytes.prefix(200), as: UTF8.self)) for \(String(decoding: body.prefix(400), as: UTF8.self))
                    """
                )
                return
            }
        }
        if call.isCarriedOut { #expect(understood > 0, "\(call.name) was never understood") }
    }

    /// A document as a query; another body becomes a single parameter.
    private static func query(_ body: [UInt8]) -> String {
        let pairs =
            (try? JSONParser.parse(body))?.object?.pairs ?? [("x", .string(String(decoding: body, as: UTF8.self)))]
        return pairs.map { UPMCCaller.encode($0.key) + "=" + UPMCCaller.encode($0.value.lenientString ?? "") }
            .joined(separator: "&")
    }

    // MARK: Braze

    /// Source: docs/contracts/braze.md#3, docs/contracts/braze.md#5.
    private static let braze: [Call] = {
        let rest: HTTPHeaders = ["authorization": "Bearer \(restKey)", "content-type": "application/json"]
        let sdk: HTTPHeaders = ["x-braze-api-key": sdkKey, "content-type": "application/json"]
        let alias: JSON = ["alias_name": "a", "alias_label": "crm"]
        let time: JSON = "2026-01-01T00:00:00Z"
        let push: JSON = [
            "alert": ["title": "t", "body": "Hi {{${first_name}}}"], "badge": 1, "sound": "default",
            "extra": ["a": "b"],
            "custom_uri": "x://y", "collapse_id": "c", "expiry": "2030-01-01T00:00:00Z",
        ]
        let tomorrow = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 86_400))
        let schedule: JSON = ["time": .string(tomorrow), "in_local_time": false]
        let recipients: JSON = [
            ["external_user_id": "u-1", "trigger_properties": ["a": 1], "attributes": ["x": 1]], ["user_alias": alias],
        ]
        let send: JSON = [
            "external_user_ids": ["u-1"], "user_aliases": [alias], "send_id": "s-1",
            "recipient_subscription_state": "all", "messages": ["apple_push": push],
        ]
        let track: JSON = [
            "attributes": [
                [
                    "external_id": "u-1", "first_name": "Mina", "n": ["inc": 1], "list": ["add": ["a"]],
                    "o": ["a": ["b": 1]],
                    "push_tokens": [["app_id": "a", "token": .string(NotificationHubsTests.token(7))]],
                    "subscription_groups": [["subscription_group_id": "g", "subscription_state": "subscribed"]],
                ]
            ],
            "events": [["external_id": "u-1", "name": "e", "time": time, "properties": ["a": 1]]],
            "purchases": [
                [
                    "user_alias": alias, "product_id": "p", "currency": "KRW", "price": .number("9.5"), "quantity": 2,
                    "time": time,
                ]
            ],
        ]
        let data: JSON = [
            "api_key": .string(sdkKey), "device_id": "d-1", "time": 1_767_225_600, "sdk_version": "4.4.1",
            "device": ["model": "m", "time_zone": "Asia/Seoul", "ios_push_auth": "denied", "x": ["y": 1]],
            "attributes": [
                ["user_id": "u-1", "push_token": .string(NotificationHubsTests.token(8)), "custom": ["a": 1]]
            ],
            "events": [
                ["name": "ss", "time": .number("1767225600.5"), "data": [:], "session_id": "s", "user_id": "u-1"],
                ["name": "ce", "time": 1_767_225_601, "data": ["n": "e", "p": ["a": 1]], "user_id": "u-1"],
                ["name": "inc", "time": 1_767_225_601, "data": ["key": "n", "value": 1], "user_id": "u-1"],
                ["name": "pc", "time": 1_767_225_602, "data": ["r": "AaII1EXUdnaPAK6pis3wAQGiCNRFuX8psdsUpjy4zwY"]],
            ],
            "respond_with": ["user_id": "u-1", "triggers": true, "config": ["config_time": 0]],
        ]
        let campaign: JSON = ["campaign_id": "c-1", "trigger_properties": ["a": "b"], "recipients": recipients]
        func with(_ document: JSON, _ more: JSON) -> JSON {
            .object(JSONObject((document.object?.pairs ?? []) + (more.object?.pairs ?? [])))
        }
        let kept: JSON = ["schedule_id": "5f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11"]
        let documents: [BrazeCall: JSON] = [
            .send: send, .track: track, .export: ["external_ids": ["u-1"], "user_aliases": [alias]],
            .delete: ["external_ids": ["u-9"]], .nameAliases: ["user_aliases": [with(["external_id": "u-1"], alias)]],
            .identify: ["aliases_to_identify": [["external_id": "u-1", "user_alias": alias]]],
            .merge: [
                "merge_updates": [
                    ["identifier_to_merge": ["external_id": "u-3"], "identifier_to_keep": ["external_id": "u-1"]]
                ]
            ],
            .scheduleCreate: with(send, ["schedule": schedule]),
            .scheduleUpdate: with(kept, ["schedule": schedule, "messages": ["apple_push": push]]),
            .scheduleDelete: kept, .scheduledBroadcasts: ["end_time": "2031-01-01T00:00:00Z"], .trigger: campaign,
            .triggerScheduleCreate: with(campaign, ["schedule": schedule]),
            .triggerScheduleUpdate: with(kept, ["campaign_id": "c-1", "schedule": schedule]),
            .triggerScheduleDelete: with(kept, ["campaign_id": "c-1"]),
            .sendCreate: ["campaign_id": "c-1", "send_id": "s-2"],
            .dataSeries: ["campaign_id": "c-1", "send_id": "s-1", "length": 7],
            .subscriptionSet: [
                "subscription_group_id": "g", "subscription_state": "subscribed", "external_id": ["u-1"],
            ],
            .subscriptionsSet: [
                "subscription_groups": [
                    ["subscription_group_id": "g", "subscription_state": "subscribed", "external_ids": ["u-1"]]
                ]
            ], .subscriptionGet: ["subscription_group_id": "g", "external_id": "u-1"],
            .subscriptionUser: ["external_id": "u-1", "limit": 10],
        ]
        let unknown: Set<BrazeCall> = [
            .scheduleUpdate, .scheduleDelete, .triggerScheduleUpdate, .triggerScheduleDelete,
        ]
        return BrazeCall.allCases.map { call in
            Call(
                name: call.rawValue,
                method: HTTPMethod(rawValue: call.method.rawValue),
                headers: rest,
                document: documents[call] ?? [:],
                asksByQuery: call.method == .get,
                isCarriedOut: !unknown.contains(call)
            )
        }
            + ["/api/v3/data", "/api/v3/template", "/api/v3/content_cards/sync"].map {
                Call(name: $0, method: .POST, headers: sdk, document: data)
            }
    }()

    // MARK: Notification Hubs

    /// Source: docs/contracts/notificationhubs.md#4 to docs/contracts/notificationhubs.md#7.
    private func hubCalls(_ world: World) -> [Call] {
        let signed = hubs.token(world)
        func headers(_ type: String, _ more: HTTPHeaders = [:]) -> HTTPHeaders {
            var headers: HTTPHeaders = ["authorization": signed, "content-type": type]
            headers.add(contentsOf: more)
            return headers
        }
        let apple: HTTPHeaders = ["ServiceBusNotification-Format": "apple"]
        let installation: JSON = [
            "installationId": "i-1", "userId": "mina", "platform": "apns",
            "pushChannel": .string(NotificationHubsTests.token(1)),
            "tags": ["seoul", "busan"], "expirationTime": "2030-01-01T00:00:00Z", "pushVariables": ["name": "Mina"],
            "templates": [
                "news": [
                    "body": ##"{"aps":{"alert":"{ 'Hi ' + $(name) }","badge":"#(n)"}}"##, "tags": ["news"],
                    "headers": ["apns-priority": "5"], "expiry": "2030-01-01T00:00:00Z",
                ]
            ],
        ]
        let patch: JSON = [
            ["op": "add", "path": "/tags", "value": "daegu"], ["op": "replace", "path": "/userId", "value": "hong"],
            ["op": "remove", "path": "/tags/seoul"],
        ]
        let entry = """
            <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
            <AppleTemplateRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>seoul,busan</Tags>\
            <DeviceToken>\(NotificationHubsTests.token(2))</DeviceToken><BodyTemplate><![CDATA[{"aps":{"alert":"$(title)"}}]]></BodyTemplate>\
            <TemplateName>t</TemplateName></AppleTemplateRegistrationDescription></content></entry>
            """
        let batch = """
            --nh\r\nContent-Disposition: inline; name=notification\r\n\r\n{"aps":{"alert":"a"}}\r\n--nh\r\n\
            Content-Disposition: inline; name=devices\r\n\r\n["\(NotificationHubsTests.token(1))"]\r\n--nh--\r\n
            """
        let json = "application/json"
        let push: JSON = ["aps": ["alert": "a", "content-available": 1], "richId": "0"]
        let soon = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 3600))
        let version = "?api-version=2017-04"
        var calls = [
            Call(name: "/installations/i-1", method: .PUT, headers: headers(json), document: installation),
            Call(name: "/installations/i-1", method: .PATCH, headers: headers(json), document: patch),
            Call(name: "/messages", method: .POST, headers: headers(json, apple), document: push),
            Call(
                name: "/messages",
                method: .POST,
                headers: headers(json, ["ServiceBusNotification-Format": "template"]),
                document: ["title": "t", "name": "n", "n": 1]
            ),
            Call(
                name: "/messages",
                method: .POST,
                headers: headers(
                    json,
                    ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "seoul || !busan"]
                ),
                document: push
            ),
            Call(
                name: "/schedulednotifications",
                method: .POST,
                headers: headers(
                    json,
                    ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": soon]
                ),
                document: push
            ),
            Call(
                name: "/messages/$batch",
                method: .POST,
                headers: headers("multipart/mixed; boundary=nh", apple),
                text: batch
            ), Call(name: "/registrations", method: .POST, headers: headers("application/atom+xml"), text: entry),
            Call(
                name: "/registrations/1-2-3",
                method: .PUT,
                headers: headers("application/atom+xml"),
                text: entry,
                isCarriedOut: false
            ),
            Call(
                name: "/registrations",
                method: .GET,
                headers: headers(json),
                document: ["$filter": "ChannelUri eq 'x'", "$top": 5, "continuationtoken": "abc"],
                asksByQuery: true
            ),
        ]
        for index in calls.indices {
            calls[index].name = "/shop-hub\(calls[index].name)\(version)"
            if calls[index].name.contains("$batch") { calls[index].name += "&direct" }
            calls[index].isJSON = false
        }
        return calls
    }

    /// The tutorials' back end (docs/contracts/notificationhubs.md#10).
    private static let site: [Call] = {
        let credentials = Data("mina:a secret of mina's".utf8).base64EncodedString()
        let headers: HTTPHeaders = ["authorization": "Basic \(credentials)", "content-type": "application/json"]
        let token: JSON = .string(NotificationHubsTests.token(3))
        func call(_ method: HTTPMethod, _ path: String, _ document: JSON, byQuery: Bool = false) -> Call {
            Call(
                name: "/site/api\(path)",
                method: method,
                headers: headers,
                document: document,
                asksByQuery: byQuery,
                isJSON: false
            )
        }
        // An id that this user was not given.
        var unknown = call(.PUT, "/register/1-2-3", ["Platform": "apns", "Handle": token, "Tags": ["seoul"]])
        unknown.isCarriedOut = false
        return [
            call(.POST, "/register", ["handle": token], byQuery: true), unknown,
            call(.POST, "/notifications", ["message": "m", "type": "img"]),
            call(.POST, "/notifications?pns=apns&to_tag=hong", "Hello"),
        ]
    }()
}
