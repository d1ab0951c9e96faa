import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOHTTP1
import Testing

/// Braze over real HTTP, PostgreSQL and simulator (docs/contracts/braze.md#4, docs/contracts/braze.md#5.5, docs/contracts/braze.md#6).
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.bindBraze() })
struct BrazeTests {
    // MARK: Access (docs/contracts/braze.md#4.1, docs/contracts/braze.md#5.11)

    @Test func keysAreStoredAsHashes() async throws {
        let stored = try await SharedWorld.current.value(
            "SELECT string_agg(b::text, ' ') AS value FROM gateway.binding b WHERE vendor = 'braze'"
        )
        #expect(!stored.isEmpty)
        #expect(!stored.contains(BrazeCaller.key) && !stored.contains(BrazeCaller.trackKey))
    }

    @Test func aCallWithoutAPermittedKeyIs401() async throws {
        let braze = try BrazeCaller.current
        for key in [nil, "nobody's", BrazeCaller.trackKey, braze.world.apiKey] {
            let answer = try await braze.call("/messages/send", "{}", key: key)
            #expect(answer.status == 401)
            #expect(answer.json == ["message": "Invalid API Key"])
            #expect(answer.headers.first(name: "content-type") == "application/json")
        }
        #expect(try await braze.call("/users/track", "{}", key: "nobody's").status == 401)
    }

    @Test(arguments: ["/users/rename", "/users/track/x", "/canvas/trigger/send", "/messages/x"])
    func anUnknownPathIs404(path: String) async throws {
        let answer = try await BrazeCaller.current.call(path, "{}")
        #expect(answer.status == 404)
        #expect(answer.json == ["message": "Not Found"])
    }

    // MARK: Sends (docs/contracts/braze.md#5.5, docs/contracts/braze.md#6.2, docs/contracts/braze.md#6.4)

    @Test(.covers("braze", "POST /messages/send"))
    func aSendReachesAllDevicesOfItsUsersAndNobodyElse() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(1, "send-1"), (2, "send-1"), (3, "send-2")])
        let body = """
            {"external_user_ids":["send-1","nobody"],"messages":{"apple_push":{"alert":{"title":"Order shipped","body":"Tap"},\
            "badge":1,"sound":"default","custom_uri":"myapp://orders/42","use_webview":false,"extra":{"order_id":"42"},\
            "collapse_id":"order-42"}}}
            """
        let answer = try await braze.call("/messages/send/", body)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.json?["message"] == "success")
        let dispatch = try #require(answer.json?["dispatch_id"]?.string)
        #expect(dispatch.count == 32)
        var references: Set<String> = []
        for number in [1, 2] {
            let push = try await braze.push(number)
            #expect(push["headers"]?["apns-push-type"] == "alert")
            #expect(push["headers"]?["apns-priority"] == "10")
            #expect(push["headers"]?["apns-collapse-id"] == "order-42")
            var payload = try #require(push["payload"]?.object)
            references.insert(try reference(payload["ab"], of: dispatch))
            payload["ab"] = nil
            #expect(
                payload == [
                    "aps": ["alert": ["title": "Order shipped", "body": "Tap"], "badge": 1, "sound": "default"],
                    "ab_uri": "myapp://orders/42", "ab_use_webview": false, "order_id": "42",
                ]
            )
        }
        #expect(references.count == 2, "each target has its own")
        #expect(try await braze.pushes(3).isEmpty)
    }

    /// The reference that a push contains for its later opening: 32 bytes that begin with the dispatch.
    private func reference(
        _ fields: JSON?,
        of dispatch: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let reference = try #require(fields?["c"]?.string, sourceLocation: sourceLocation)
        #expect(fields?.object?.count == 1 && reference.count == 43, sourceLocation: sourceLocation)
        let padded = reference.replacing("-", with: "+").replacing("_", with: "/") + "="
        let bytes = try #require(Data(base64Encoded: padded), sourceLocation: sourceLocation)
        #expect(HexCoding.encode(Array(bytes.prefix(16))) == dispatch, sourceLocation: sourceLocation)
        return reference
    }

    @Test func aSilentPushIsABackgroundPush() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(4, "silent")])
        let body =
            #"{"external_user_ids":["silent"],"messages":{"apple_push":{"content-available":true,"extra":{"order_id":"42"}}}}"#
        #expect(try await braze.call("/messages/send", body).status == 201)
        let push = try await braze.push(4)
        #expect(push["headers"]?["apns-push-type"] == "background")
        #expect(push["headers"]?["apns-priority"] == "5")
        #expect(push["payload"]?["aps"] == ["content-available": 1])
    }

    @Test func aSendToUnknownUsersIsAccepted() async throws {
        let body = #"{"external_user_ids":["nobody"],"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(try await BrazeCaller.current.call("/messages/send", body).status == 201)
    }

    @Test func aBroadcastReachesEveryDevice() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(5, "all-1"), (6, "all-1"), (7, "all-2")])
        let body = #"{"broadcast":true,"messages":{"apple_push":{"alert":"All"}}}"#
        #expect(try await braze.call("/messages/send", body).status == 201)
        for number in 5...7 {
            #expect(try await braze.push(number)["payload"]?["aps"] == ["alert": "All"])
        }
    }

    // docs/contracts/braze.md#5.6
    @Test func aTemplateIsRenderedForEachUserAndMayLeaveOneOut() async throws {
        let braze = try BrazeCaller.current
        try await braze.importDevices([(8, "liquid-1"), (9, "liquid-2")])
        let body = #"""
            {"external_user_ids":["liquid-1","liquid-2"],"messages":{"apple_push":{"alert":{"title":"{{${user_id} | upcase}}",\#
            "body":"{% if ${user_id} == 'liquid-2' %}{% abort_message('not you') %}{% endif %}Hi {{${first_name} | default: 'you'}}"},\#
            "extra":{"send":"{{campaign.${dispatch_id}}}"}}}}
            """#
        let answer = try await braze.call("/messages/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        let push = try await braze.push(8)
        #expect(push["payload"]?["aps"]?["alert"] == ["title": "LIQUID-1", "body": "Hi you"])
        #expect(push["payload"]?["send"] == answer.json?["dispatch_id"])
        try await eventually("both outcomes") {
            try await braze.deliveries(of: answer) == "sent,suppressed withheld"
        }
        #expect(try await braze.pushes(9).isEmpty)
    }

    // docs/contracts/braze.md#4.2, docs/contracts/braze.md#5.11
    @Test(
        arguments: [
            #"{"alert":"Hi","buttons":[{"action_id":"ab_pb_yes","action":"OPEN_APP"}]}"#:
                "'buttons' is not available on this gateway",
            #"{"alert":"Hi {{content_blocks.${x}}}"}"#:
                "The Liquid expression '{{content_blocks.${x}}}' is not available on this gateway",
            #"{"alert":"Hi","extra":{"aps":{"badge":3}}}"#: "Invalid Extra Push Payload",
            #"{"alert":"\#(String(repeating: "x", count: 1900))"}"#: "Apple Push Length Exceeded",
        ]
    )
    func aPushThatCannotBeSentIs400WithTheReason(push: String, reason: String) async throws {
        let body = #"{"external_user_ids":["u-1"],"messages":{"apple_push":\#(push)}}"#
        let answer = try await BrazeCaller.current.call("/messages/send", body)
        #expect(answer.status == 400)
        #expect(answer.json?["message"]?.string == reason)
    }

    @Test func anUnreadableBodyIs400() async throws {
        let answer = try await BrazeCaller.current.call("/messages/send", #"{"external_user_ids":["u-1","#)
        #expect(answer.status == 400)
        #expect(answer.json == ["error": "The body is not valid JSON."])
    }

    // MARK: Tokens that the back end tracks (docs/contracts/braze.md#5.1)

    @Test(arguments: [#","device_id":"tracked""#, ""])
    func aTokenTrackedTwiceIsOneDevice(device: String) async throws {
        let braze = try BrazeCaller.current
        let number = device.isEmpty ? 10 : 11
        let body = """
            {"attributes":[{"external_id":"track-\(number)","push_tokens":\
            [{"app_id":"\(BrazeCaller.sdkKey)","token":"\(BrazeCaller.token(number))"\(device)}]},\
            {"external_id":"track-\(number)","first_name":"Mina"}]}
            """
        for _ in 0..<2 {
            let answer = try await braze.call("/users/track", body, key: BrazeCaller.trackKey)
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.json?["attributes_processed"] == 2)
        }
        let send = #"{"external_user_ids":["track-\#(number)"],"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(try await braze.call("/messages/send", send).status == 201)
        _ = try await braze.push(number)
        let count = try await braze.world.value(
            "SELECT count(*)::text AS value FROM gateway.identity WHERE vendor = 'braze' AND user_id = 'track-\(number)'"
        )
        #expect(count == "1")
    }

    // docs/contracts/braze.md#4.2
    @Test func trackingNothingUsableIs400InTheVendorsShape() async throws {
        let body = #"{"events":[{"external_id":"t-8","name":"e"}]}"#
        let answer = try await BrazeCaller.current.call("/users/track", body)
        #expect(answer.status == 400)
        #expect(answer.json?["errors"]?.array?.count == 1, "\(answer.text)")
    }
}
