import CommandSupport
import Foundation
import Model
import Testing

/// Live Activities through the native API: tokens, start, update and end, and what Apple's answers do to tokens.
@Suite(.serialized, .sharedWorld(), .timeLimit(.minutes(10)))
struct LiveActivityTests {
    private static let path = "/v1/apps/shop/live-activities"

    /// A device with a push token, a push-to-start token and the token of one running activity.
    private struct Phone {
        var id: String
        var token: String
        var start: String
        var running: String
        var activity: String
    }

    private func phone(_ world: World, _ number: Int, activity: String? = nil) async throws -> Phone {
        func token(_ kind: Int) -> String { String(format: "%064x", 0xAC_0000 + number * 16 + kind) }
        let body: JSON = [
            "app": "shop", "platform": "ios", "key": .string("activity-\(number)"), "token": .string(token(0)),
        ]
        let answer = try await world.native("POST", "/v1/devices", body)
        try #require(answer.status == 201, "\(answer.text)")
        let phone = Phone(
            id: try #require(answer.json?["id"]?.string),
            token: token(0),
            start: token(1),
            running: token(2),
            activity: activity ?? "match-\(number)"
        )
        try await report(world, phone, ["attributesType": "ScoreAttributes", "token": .string(phone.start)])
        try await report(world, phone, ["activity": .string(phone.activity), "token": .string(phone.running)])
        return phone
    }

    private func report(_ world: World, _ phone: Phone, _ body: JSON) async throws {
        let answer = try await world.native("PUT", "/v1/devices/\(phone.id)/live-activity-tokens", body)
        try #require(answer.status == 204, "\(answer.text)")
    }

    private func tokens(_ world: World, _ phone: Phone) async throws -> [JSON] {
        let answer = try await world.native("GET", "/v1/devices/\(phone.id)/live-activity-tokens")
        try #require(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains(phone.start) && !answer.text.contains(phone.running), "tokens are masked")
        return answer.json?["tokens"]?.array ?? []
    }

    private func start(_ devices: [Phone], _ fields: JSONObject = [:]) -> JSON {
        var body: JSONObject = [
            "to": ["devices": .array(devices.map { .string($0.id) })], "attributesType": "ScoreAttributes",
            "attributes": ["match": "7"], "contentState": ["home": 0, "guest": 0],
            "alert": ["title": "Kick-off", "body": "0:0"],
        ]
        for (name, value) in fields.pairs { body[name] = value }
        return .object(body)
    }

    /// Sends, and gives the message's id.
    private func accepted(_ world: World, _ path: String, _ body: JSON) async throws -> String {
        let answer = try await world.native("POST", path, body)
        try #require(answer.status == 202, "\(answer.text)")
        return try #require(answer.json?["id"]?.string)
    }

    private func pushes(_ world: World, _ token: String) async throws -> [JSON] {
        try await world.control.call("GET", "/_simulator/requests?token=\(token)").json?["requests"]?.array ?? []
    }

    private func push(_ world: World, _ token: String, event: String) async throws -> JSON {
        try await first("\(event) for \(token)") {
            try await pushes(world, token).first { $0["payload"]?["aps"]?["event"] == .string(event) }
        }
    }

    /// The states and reasons of a message's deliveries, once it is done.
    private func outcomes(_ world: World, _ message: String) async throws -> [String] {
        try await eventually("\(message) is done") {
            try await world.native("GET", "/v1/messages/\(message)").json?["state"] == "done"
        }
        let page = try await world.native("GET", "/v1/messages/\(message)/deliveries").json
        return (page?["deliveries"]?.array ?? []).map { delivery in
            [delivery["state"]?.string, delivery["reason"]?.string].compactMap(\.self).joined(separator: " ")
        }.sorted()
    }

    @Test func anActivityIsStartedUpdatedAndEnded() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 1)
        let fields: JSONObject = [
            "inputPushToken": true, "timestamp": 1_790_000_000_000, "relevanceScore": 100, "ttlSeconds": 600,
        ]
        let started = try await accepted(world, Self.path, start([phone], fields))
        let start = try await push(world, phone.start, event: "start")
        #expect(start["headers"]?["apns-topic"] == .string(StageMaterial.topic + ".push-type.liveactivity"), "\(start)")
        #expect(start["headers"]?["apns-push-type"] == "liveactivity" && start["headers"]?["apns-priority"] == "10")
        #expect(
            start["payload"] == [
                "aps": [
                    "timestamp": 1_790_000_000, "event": "start", "content-state": ["home": 0, "guest": 0],
                    "attributes-type": "ScoreAttributes", "attributes": ["match": "7"], "input-push-token": 1,
                    "alert": ["title": "Kick-off", "body": "0:0"], "relevance-score": 100,
                ]
            ]
        )
        let path = "\(Self.path)/\(phone.activity)"
        let updated = try await accepted(
            world,
            path + "/update",
            ["contentState": ["home": 1], "priority": 5, "staleDate": "2026-12-25T13:30:00Z"]
        )
        let update = try await push(world, phone.running, event: "update")
        #expect(update["headers"]?["apns-priority"] == "5" && update["payload"]?["aps"]?["stale-date"] == 1_798_205_400)
        let ended = try await accepted(world, path + "/end", ["dismissalDate": "2026-12-25T13:30:00Z"])
        let end = try await push(world, phone.running, event: "end")
        #expect(end["payload"]?["aps"]?["dismissal-date"] == 1_798_205_400)
        #expect([start, update, end].allSatisfy { $0["status"] == 200 && $0["findings"] == [] })
        for message in [started, updated, ended] { #expect(try await outcomes(world, message) == ["sent"]) }
        #expect(try await pushes(world, phone.token).isEmpty, "the device's own token gets nothing")
    }

    // Devices without a token for the activity are suppressed; Apple is not asked.
    @Test func onlyDevicesWithATokenAreReached() async throws {
        let world = try SharedWorld.current
        let phones = [try await phone(world, 2, activity: "shared"), try await phone(world, 3, activity: "shared")]
        let other = try await phone(world, 4)
        try await report(world, other, ["attributesType": "ScoreAttributes"])
        let started = try await accepted(world, Self.path, start([phones[0], other]))
        #expect(try await outcomes(world, started) == ["sent", "suppressed noDevice"])
        let path = "\(Self.path)/shared/update"
        let all = try await accepted(world, path, ["contentState": ["n": 1]])
        #expect(try await outcomes(world, all) == ["sent", "sent"])
        let body: JSON = ["contentState": ["n": 2], "to": ["devices": [.string(phones[1].id), .string(other.id)]]]
        let one = try await accepted(world, path, body)
        #expect(try await outcomes(world, one) == ["sent", "suppressed noDevice"])
        #expect(try await pushes(world, phones[0].running).count == 1)
        #expect(try await pushes(world, phones[1].running).count == 2)
    }

    // An audience that is expanded page by page takes the same way.
    @Test func anAudienceOfTagsIsStartedToo() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 5)
        #expect(try await world.native("PATCH", "/v1/devices/\(phone.id)", ["tags": ["fans"]]).status == 200)
        let started = try await accepted(world, Self.path, start([], ["to": ["tags": "fans"]]))
        #expect(try await outcomes(world, started) == ["sent"])
        #expect(try await pushes(world, phone.start).count == 1)
    }

    // I2: 410 ends the activity's token and nothing else.
    @Test func aDeadTokenIsForgottenAndTheDeviceStays() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 6)
        // Later than the report, which Apple's answer would otherwise not concern.
        let since = Int64(Date().timeIntervalSince1970 * 1000) + 60_000
        let answer: JSON = [
            "token": .string(phone.running), "status": 410, "reason": "ExpiredToken", "timestamp": .int(since),
        ]
        let script: JSON = [answer]
        #expect(try await world.control.call("POST", "/_simulator/script", script).status == 200)
        let message = try await accepted(world, "\(Self.path)/\(phone.activity)/update", ["contentState": .object([:])])
        #expect(try await outcomes(world, message) == ["failed ExpiredToken"])
        try await eventually("the token is forgotten") {
            try await tokens(world, phone).map { $0["activity"] } == [.null]
        }
        let device = try await world.native("GET", "/v1/devices/\(phone.id)")
        #expect(device.json?["tokenState"] == "active", "\(device.text)")
        let again = try await world.native(
            "POST",
            "\(Self.path)/\(phone.activity)/update",
            ["contentState": .object([:])]
        )
        #expect(again.status == 404, "\(again.text)")
    }

    @Test func tokensAreReplacedListedAndErasedWithTheDevice() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 7)
        let new = String(repeating: "7e", count: 80)
        try await report(world, phone, ["activity": .string(phone.activity), "token": .string(new.uppercased())])
        let shown = try await tokens(world, phone)
        #expect(shown.map { $0["attributesType"] } == ["ScoreAttributes", .null])
        #expect(shown.map { $0["activity"] } == [.null, .string(phone.activity)])
        #expect(shown.last?["token"] == "7e7e…7e7e")
        let message = try await accepted(world, "\(Self.path)/\(phone.activity)/end", [:])
        #expect(try await outcomes(world, message) == ["sent"])
        #expect(try await pushes(world, new).count == 1)
        #expect(try await world.native("DELETE", "/v1/devices/\(phone.id)").status == 204)
        let gone = try await world.native("GET", "/v1/devices/\(phone.id)/live-activity-tokens")
        #expect(gone.status == 404)
        let count = "SELECT count(*)::text AS value FROM gateway.activity_token WHERE device_id = '\(phone.id)'"
        #expect(try await world.value(count) == "0")
    }

    // I1: a repeated call is the first message, and nothing is pushed twice.
    @Test func aRepeatedCallIsDoneOnce() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 8)
        let path = "\(Self.path)/\(phone.activity)/update"
        func call(_ path: String, _ body: JSON) async throws -> HTTPCaller.Answer {
            try await world.http.call("POST", path, body, headers: ["idempotency-key": "goal-1"], bearer: world.apiKey)
        }
        let first = try await call(path, ["contentState": ["home": 1]])
        let again = try await call(path, ["contentState": ["home": 1]])
        #expect(first.status == 202 && again.json?["id"] == first.json?["id"], "\(again.text)")
        let other = try await call("\(Self.path)/\(phone.activity)/end", ["contentState": ["home": 1]])
        #expect(other.status == 409, "\(other.text)")
        let message = try #require(first.json?["id"]?.string)
        #expect(try await outcomes(world, message) == ["sent"])
        #expect(try await pushes(world, phone.running).count == 1)
    }

    // I5
    @Test func badInputIsAProblem() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 9)
        let path = "\(Self.path)/\(phone.activity)"
        let tokens = "/v1/devices/\(phone.id)/live-activity-tokens"
        let large: JSON = ["text": .string(String(repeating: "x", count: 4_096))]
        let cases: [(String, String, JSON, Int, String)] = [
            ("POST", Self.path, start([phone], ["alert": .null]), 422, "aps.alert is missing"),
            ("POST", Self.path, start([phone], ["contentState": .null]), 422, "aps.content-state is missing"),
            ("POST", Self.path, start([phone], ["attributesType": ""]), 422, "attributesType: must not be empty"),
            ("POST", Self.path, start([phone], ["attributes": 1]), 422, "attributes: must be an object"),
            ("POST", Self.path, start([phone], ["contentState": large]), 422, "payload is longer than 4096 bytes"),
            ("POST", Self.path, start([phone], ["priority": 7]), 422, "apns-priority must be 10, 5, 1"),
            ("POST", Self.path, start([]), 422, "to: is empty"),
            ("POST", "/v1/apps/none/live-activities", start([phone]), 404, "no such app"),
            ("POST", path + "/update", [:], 422, "aps.content-state is missing"),
            (
                "POST", path + "/update", ["contentState": .object([:]), "dismissalDate": 0], 422,
                "dismissalDate: is not a known"
            ),
            ("POST", path + "/end", ["staleDate": 0], 422, "staleDate: is not a known field"),
            ("POST", "\(Self.path)/none/end", [:], 404, "no device reported a token"),
            ("POST", "/v1/apps/none/live-activities/x/end", [:], 404, "no such app"),
            ("PUT", tokens, ["token": "aa"], 422, "activity: give either"),
            ("PUT", tokens, ["activity": "a", "attributesType": "b", "token": "aa"], 422, "activity: give either"),
            (
                "PUT", tokens, ["activity": "a", "token": "abc"], 422,
                "token: must be an even number of hexadecimal digits"
            ),
            ("PUT", tokens, ["activity": "", "token": "aa"], 422, "activity: must not be empty"),
            ("PUT", "/v1/devices/\(UUID())/live-activity-tokens", ["activity": "a"], 404, "no such device"),
        ]
        for (method, path, body, status, detail) in cases {
            let answer = try await world.native(method, path, body)
            #expect(answer.status == status, "\(method) \(path) \(body): \(answer.text)")
            #expect(answer.json?["detail"]?.string?.hasPrefix(detail) == true, "\(answer.text)")
        }
        let android: JSON = ["app": "shop", "platform": "android", "key": "activity-android"]
        let device = try #require(try await world.native("POST", "/v1/devices", android).json?["id"]?.string)
        let refused = try await world.native("PUT", "/v1/devices/\(device)/live-activity-tokens", ["activity": "a"])
        #expect(refused.status == 422, "\(refused.text)")
    }

    @Test func aDeviceHasAtMost64Tokens() async throws {
        let world = try SharedWorld.current
        let phone = try await phone(world, 10)
        for number in 0..<62 {
            try await report(world, phone, ["activity": .string("a-\(number)"), "token": "aa"])
        }
        let path = "/v1/devices/\(phone.id)/live-activity-tokens"
        let refused = try await world.native("PUT", path, ["activity": "one-more", "token": "aa"])
        #expect(refused.status == 422 && refused.text.contains("at most 64"), "\(refused.text)")
        try await report(world, phone, ["activity": "a-0", "token": "bb"])
        try await report(world, phone, ["activity": "a-1"])
        try await report(world, phone, ["activity": "one-more", "token": "aa"])
    }
}
