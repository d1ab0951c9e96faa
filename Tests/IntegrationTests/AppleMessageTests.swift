import CommandSupport
import Foundation
import Model
import Testing

/// `apns` of a message, from the call through the store to the push that the simulator got.
@Suite(.serialized, .sharedWorld(), .timeLimit(.minutes(10)))
struct AppleMessageTests {
    /// A device of the app with a token of its own.
    private func register(_ world: World, _ number: Int) async throws -> String {
        let token = String(format: "%064x", 0xA9_0000 + number)
        let body: JSON = [
            "app": "shop", "platform": "ios", "key": .string("apple-\(number)"), "token": .string(token),
        ]
        let answer = try await world.native("POST", "/v1/devices", body)
        try #require(answer.status == 201, "\(answer.text)")
        return token
    }

    private func message(_ number: Int, _ fields: JSONObject) -> JSON {
        var message: JSONObject = ["app": "shop", "to": ["keys": [.string("apple-\(number)")]]]
        for (name, value) in fields.pairs { message[name] = value }
        return .object(message)
    }

    /// The only push to `token`.
    private func push(_ world: World, _ token: String) async throws -> JSON {
        try await first("a push to \(token)") {
            try await world.control.call("GET", "/_simulator/requests?token=\(token)").json?["requests"]?.array?.first
        }
    }

    @Test func headersAndMembersArriveAsTheyWereSent() async throws {
        let world = try SharedWorld.current
        let token = try await register(world, 1)
        let end = Int64(Date().timeIntervalSince1970) + 3_600
        let sent = try await world.native(
            "POST",
            "/v1/messages",
            message(
                1,
                [
                    "title": "Order", "body": "On its way", "collapseId": "all", "data": ["order": "4711"],
                    "apns": [
                        "pushType": "alert", "priority": 5, "collapseId": "order-4711", "expiration": .int(end * 1000),
                        "interruptionLevel": "time-sensitive", "relevanceScore": .number("0.75"),
                        "targetContentId": "orders", "mutableContent": true, "contentAvailable": true,
                        "filterCriteria": "work", "body": ["key": "SHIPPED", "arguments": ["4711"]],
                    ],
                ]
            )
        )
        try #require(sent.status == 202, "\(sent.text)")
        let push = try await push(world, token)
        let headers = push["headers"]
        #expect(headers?["apns-push-type"] == "alert" && headers?["apns-priority"] == "5", "\(push)")
        #expect(headers?["apns-topic"] == .string(StageMaterial.topic))
        #expect(headers?["apns-collapse-id"] == "order-4711")
        #expect(headers?["apns-expiration"] == .string("\(end)"))
        #expect(
            push["payload"]?["aps"] == [
                "alert": ["title": "Order", "loc-key": "SHIPPED", "loc-args": ["4711"]], "sound": "default",
                "content-available": 1, "mutable-content": 1, "target-content-id": "orders",
                "interruption-level": "time-sensitive", "relevance-score": .number("0.75"), "filter-criteria": "work",
            ]
        )
        #expect(push["payload"]?["order"] == "4711" && push["findings"] == [])
    }

    // Its suffix is part of the topic, and zero is one try.
    @Test func aPushTypeHasItsTopicAndExpiration() async throws {
        let world = try SharedWorld.current
        let token = try await register(world, 2)
        let fields: JSONObject = ["apns": ["pushType": "widgets", "expiration": 0]]
        let sent = try await world.native("POST", "/v1/messages", message(2, fields))
        try #require(sent.status == 202, "\(sent.text)")
        let push = try await push(world, token)
        #expect(push["headers"]?["apns-topic"] == .string(StageMaterial.topic + ".push-type.widgets"), "\(push)")
        #expect(push["headers"]?["apns-push-type"] == "widgets")
        #expect(push["headers"]?["apns-expiration"] == "0")
        #expect(push["payload"]?["aps"] == ["content-changed": true] && push["status"] == 200)
    }

    @Test func aPreviewShowsThemAndSendsNothing() async throws {
        let world = try SharedWorld.current
        let fields: JSONObject = ["body": "b", "apns": ["priority": 1, "interruptionLevel": "passive"]]
        let answer = try await world.native("POST", "/v1/messages?preview=true", message(3, fields))
        let previews = answer.json?["previews"]
        for vendor in ["native", "rationalowl"] {
            let push = previews?[vendor]
            #expect(push?["headers"]?["apns-priority"] == "1", "\(vendor): \(answer.text)")
        }
        #expect(previews?["native"]?["payload"]?["aps"]?["interruption-level"] == "passive")
        #expect(previews?["native"]?["refused"] == .null)
        // Apple's limit of the push type, next to the size.
        #expect((previews?["native"]?["bytes"]?.int ?? 0) > 20 && previews?["native"]?["limit"] == 4096)
    }

    // I5: what Apple would refuse is refused at once, by the rules of the payload.
    @Test func whatAppleWouldRefuseIsAProblem() async throws {
        let world = try SharedWorld.current
        _ = try await register(world, 4)
        let long = JSON.string(String(repeating: "x", count: 65))
        let options: [(JSON, String)] = [
            (["priority": 7], "apns: apns-priority must be 10, 5, 1"),
            (["pushType": "background"], "apns: aps.alert is not allowed in a background push"),
            (["pushType": "liveactivity"], "apns.pushType: must be one of alert"),
            (["relevanceScore": 2], "apns: aps.relevance-score must be 0.0 through 1.0"),
            (["interruptionLevel": "loud"], "apns.interruptionLevel: must be one of passive"),
            (["collapseId": long], "apns.collapseId: at most 64"),
            (["collapseId": " x"], "apns: apns-collapse-id must be"),
            (["colour": "red"], "apns.colour: is not a known field"),
            (["priority": "5"], "apns.priority: must be an integer"),
            ([], "apns: must be an object"),
        ]
        let others: [(JSONObject, String)] = [
            (["silent": true, "apns": ["priority": 10]], "apns: apns-priority must be 5, 1"),
            (["apns": .object([:])], "apns: aps.alert is missing"),
            (["raw": ["aps": ["alert": 1]], "apns": ["priority": 5]], "apns: aps.alert must be a string"),
            (["raw": ["aps": ["alert": "x"]], "apns": ["mutableContent": true]], "apns: raw is not allowed with"),
        ]
        var cases = others
        for (value, detail) in options { cases.append((["body": "b", "apns": value], detail)) }
        for (fields, detail) in cases {
            let answer = try await world.native("POST", "/v1/messages", message(4, fields))
            #expect(answer.status == 422, "\(fields): \(answer.text)")
            #expect(answer.json?["detail"]?.string?.hasPrefix(detail) == true, "\(answer.text)")
        }
    }

    // The options reach the SDK of a vendor as headers and as members of `aps`; a type that it does not show is not sent to it.
    @Test func otherVendorsRegistrationsGetWhatTheirSDKCanShow() async throws {
        let world = try SharedWorld.current
        let fields: JSONObject = ["apns": ["pushType": "voip"]]
        let answer = try await world.native("POST", "/v1/messages?preview=true", message(5, fields))
        #expect(answer.json?["previews"]?["rationalowl"]?["error"] == "withheld", "\(answer.text)")
        #expect(
            answer.json?["previews"]?["native"]?["headers"]?["apns-topic"] == .string(StageMaterial.topic + ".voip")
        )
        #expect(answer.json?["previews"]?["native"]?["limit"] == 5120, "\(answer.text)")
    }
}
