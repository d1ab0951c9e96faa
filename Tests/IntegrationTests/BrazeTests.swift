import AsyncHTTPClient
import CommandSupport
import Coverage
import Foundation
import Model
import NIOCore
import NIOHTTP1
import Testing

/// Braze over real HTTP, PostgreSQL and simulator (docs/contracts/braze.md#4, docs/contracts/braze.md#5.5, docs/contracts/braze.md#6).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BrazeTests {
    private static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    private static let trackKey = "00000000-aaaa-4bbb-8ccc-eeeeeeeeeeee"

    @Test(.covers("braze", "POST /messages/send")) func keysAndSends() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await bind(world)
            try await access(world)
            try await importDevices(world)
            try await sends(world)
            try await broadcast(world)
            try await templates(world)
            try await tracks(world)
            try await refusals(world)
        }
    }

    // MARK: Calls

    private struct Answer {
        var status: Int
        var headers: HTTPHeaders
        var text: String

        var json: JSON? { try? JSONParser.parse(text) }
    }

    private func call(
        _ world: World,
        _ path: String,
        _ body: String,
        key: String? = key,
        type: String = "application/json"
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(world.http.base)\(path)")
        request.method = .POST
        if let key { request.headers.add(name: "authorization", value: "Bearer \(key)") }
        request.headers.add(name: "content-type", value: type)
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, text: String(buffer: buffer))
    }

    private static func token(_ number: Int) -> String { String(format: "%064x", 0xBA00 + number) }

    /// The pushes that the simulator received for a token, as headers and body.
    private func pushes(_ world: World, _ number: Int) async throws -> [JSON] {
        let answer = try await world.control.call(
            "GET",
            "/_simulator/requests?token=\(Self.token(number))&limit=50"
        )
        return answer.json?["requests"]?.array ?? []
    }

    /// Waits for the given number of pushes to a device and returns the newest.
    private func push(_ world: World, _ number: Int, count: Int) async throws -> JSON {
        try await eventually("\(count) pushes to \(number)") { try await pushes(world, number).count >= count }
        let found = try await pushes(world, number)
        #expect(found.count == count, "of device \(number)")
        return try #require(found.last)
    }

    // MARK: Steps

    private func bind(_ world: World) async throws {
        let path = world.material.path("tenants.yaml")
        let file = try String(contentsOfFile: path, encoding: .utf8)
        let binding = """

                      braze:
                        sdkKey: 11111111-2222-4333-8444-555555555555
                        restKeyEnv: BRAZE_REST_KEY
                        restKeys:
                          - { name: crm, valueEnv: BRAZE_TRACK_KEY, permissions: [users.track] }

            """
        try (file + binding).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await world.apply(
            environment: ["BRAZE_REST_KEY": Self.key, "BRAZE_TRACK_KEY": Self.trackKey]
        )
        try #require(applied.status == 0, "\(applied.log)")
        // A running gateway follows within a second: the key is then good, and the body is not.
        try await eventually("the binding is served") {
            try await call(world, "/messages/send", "{}").status == 400
        }
        let stored = try await world.value(
            "SELECT string_agg(b::text, ' ') AS value FROM gateway.binding b WHERE vendor = 'braze'"
        )
        #expect(!stored.isEmpty)
        #expect(!stored.contains(Self.key) && !stored.contains(Self.trackKey), "keys are hashes")
    }

    // docs/contracts/braze.md#4.1, docs/contracts/braze.md#5.11
    private func access(_ world: World) async throws {
        for key in [nil, "nobody's", Self.trackKey, world.apiKey] {
            let answer = try await call(world, "/messages/send", "{}", key: key)
            #expect(answer.status == 401)
            #expect(answer.json == ["message": "Invalid API Key"])
            #expect(answer.headers.first(name: "content-type") == "application/json")
        }
        for path in ["/users/rename", "/users/track/x", "/canvas/trigger/send", "/messages/x"] {
            let answer = try await call(world, path, "{}")
            #expect(answer.status == 404, "\(path)")
            #expect(answer.json == ["message": "Not Found"])
        }
    }

    /// Two devices of one user and one of another, imported as by an operator.
    private func importDevices(_ world: World) async throws {
        let lines = [(1, "u-1"), (2, "u-1"), (3, "u-2")].map { number, user in
            JSONWriter.text([
                "key": .string("d-\(number)"), "platform": "ios", "token": .string(Self.token(number)),
                "user": .string(user),
            ])
        }
        let answer = try await call(
            world,
            "/v1/apps/shop/imports?vendor=braze",
            lines.joined(separator: "\n") + "\n",
            key: world.apiKey,
            type: "application/x-ndjson"
        )
        try #require((200...202).contains(answer.status), "\(answer.text)")
    }

    // docs/contracts/braze.md#5.1: a token is sent twice, with and without an id of its device, and its user receives
    // one push.
    private func tracks(_ world: World) async throws {
        #expect(try await call(world, "/users/track", "{}", key: "nobody's").status == 401)
        for (number, device) in [(8, #","device_id":"d-8""#), (9, "")] {
            let body = """
                {"attributes":[{"external_id":"t-\(number)","push_tokens":\
                [{"app_id":"11111111-2222-4333-8444-555555555555","token":"\(Self.token(number))"\(device)}]},\
                {"external_id":"t-\(number)","first_name":"Mina"}]}
                """
            for _ in 0..<2 {
                let answer = try await call(world, "/users/track", body, key: Self.trackKey)
                #expect(answer.status == 201, "\(answer.text)")
                #expect(answer.json?["attributes_processed"] == 2)
            }
            let send = #"{"external_user_ids":["t-\#(number)"],"messages":{"apple_push":{"alert":"Hi"}}}"#
            #expect(try await call(world, "/messages/send", send).status == 201)
            _ = try await push(world, number, count: 1)
        }
        let count = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.identity WHERE vendor = 'braze' AND user_id LIKE 't-%'"
        )
        #expect(count == "2")
        // Nothing usable becomes commands, and the answer is the vendor's all the same (docs/contracts/braze.md#4.2).
        let nothing = try await call(world, "/users/track", #"{"events":[{"external_id":"t-8","name":"e"}]}"#)
        #expect(nothing.status == 400)
        #expect(nothing.json?["errors"]?.array?.count == 1, "\(nothing.text)")
    }

    // docs/contracts/braze.md#5.5, docs/contracts/braze.md#6.2, docs/contracts/braze.md#6.4
    private func sends(_ world: World) async throws {
        let body = """
            {"external_user_ids":["u-1","nobody"],"messages":{"apple_push":{"alert":{"title":"Order shipped","body":"Tap"},\
            "badge":1,"sound":"default","custom_uri":"myapp://orders/42","use_webview":false,"extra":{"order_id":"42"},\
            "collapse_id":"order-42"}}}
            """
        let answer = try await call(world, "/messages/send/", body)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer.json?["message"] == "success")
        let dispatch = try #require(answer.json?["dispatch_id"]?.string)
        #expect(dispatch.count == 32)
        var references: Set<String> = []
        for number in [1, 2] {
            let push = try await push(world, number, count: 1)
            #expect(push["headers"]?["apns-push-type"] == "alert")
            #expect(push["headers"]?["apns-priority"] == "10")
            #expect(push["headers"]?["apns-collapse-id"] == "order-42")
            var payload = try #require(push["payload"]?.object)
            let reference = try #require(payload["ab"]?["c"]?.string)
            #expect(payload["ab"]?.object?.count == 1 && reference.count == 43)
            references.insert(reference)
            let bytes = try #require(
                Data(base64Encoded: reference.replacing("-", with: "+").replacing("_", with: "/") + "=")
            )
            #expect(HexCoding.encode(Array(bytes.prefix(16))) == dispatch)
            payload["ab"] = nil
            #expect(
                payload == [
                    "aps": ["alert": ["title": "Order shipped", "body": "Tap"], "badge": 1, "sound": "default"],
                    "ab_uri": "myapp://orders/42", "ab_use_webview": false, "order_id": "42",
                ]
            )
        }
        #expect(references.count == 2, "each target has its own")
        #expect(try await pushes(world, 3).isEmpty)

        let silent =
            #"{"external_user_ids":["u-2"],"messages":{"apple_push":{"content-available":true,"extra":{"order_id":"42"}}}}"#
        #expect(try await call(world, "/messages/send", silent).status == 201)
        let push = try await push(world, 3, count: 1)
        #expect(push["headers"]?["apns-push-type"] == "background")
        #expect(push["headers"]?["apns-priority"] == "5")
        #expect(push["payload"]?["aps"] == ["content-available": 1])
        // A user whom nobody knows is no error (docs/contracts/braze.md#5.5).
        let nobody = #"{"external_user_ids":["nobody"],"messages":{"apple_push":{"alert":"Hi"}}}"#
        #expect(try await call(world, "/messages/send", nobody).status == 201)
    }

    private func broadcast(_ world: World) async throws {
        let body = #"{"broadcast":true,"messages":{"apple_push":{"alert":"All"}}}"#
        #expect(try await call(world, "/messages/send", body).status == 201)
        for number in 1...3 {
            let push = try await push(world, number, count: 2)
            #expect(push["payload"]?["aps"] == ["alert": "All"])
        }
    }

    // docs/contracts/braze.md#5.6: rendered for each user, except those for whom the template aborts.
    private func templates(_ world: World) async throws {
        let body = #"""
            {"external_user_ids":["u-1","u-2"],"messages":{"apple_push":{"alert":{"title":"{{${user_id} | upcase}}",\#
            "body":"{% if ${user_id} == 'u-2' %}{% abort_message('not you') %}{% endif %}Hi {{${first_name} | default: 'you'}}"},\#
            "extra":{"send":"{{campaign.${dispatch_id}}}"}}}}
            """#
        let answer = try await call(world, "/messages/send", body)
        #expect(answer.status == 201, "\(answer.text)")
        let push = try await push(world, 1, count: 3)
        #expect(push["payload"]?["aps"]?["alert"] == ["title": "U-1", "body": "Hi you"])
        #expect(push["payload"]?["send"] == answer.json?["dispatch_id"])
        try await eventually("the one whom the template leaves out") {
            try await world.value(
                "SELECT count(*)::text AS value FROM gateway.delivery WHERE state = 'suppressed' AND reason = 'withheld'"
            ) == "1"
        }
        #expect(try await pushes(world, 3).count == 2, "nobody is rung whom the template leaves out")
    }

    // docs/contracts/braze.md#4.2, docs/contracts/braze.md#5.11
    private func refusals(_ world: World) async throws {
        let unreadable = try await call(world, "/messages/send", #"{"external_user_ids":["u-1","#)
        #expect(unreadable.status == 400)
        #expect(unreadable.json == ["error": "The body is not valid JSON."])
        let pushes = [
            #"{"alert":"Hi","buttons":[{"action_id":"ab_pb_yes","action":"OPEN_APP"}]}"#:
                "'buttons' is not available on this gateway",
            #"{"alert":"Hi {{content_blocks.${x}}}"}"#:
                "The Liquid expression '{{content_blocks.${x}}}' is not available on this gateway",
            #"{"alert":"Hi","extra":{"aps":{"badge":3}}}"#: "Invalid Extra Push Payload",
            #"{"alert":"\#(String(repeating: "x", count: 1900))"}"#: "Apple Push Length Exceeded",
        ]
        for (push, text) in pushes {
            let body = #"{"external_user_ids":["u-1"],"messages":{"apple_push":\#(push)}}"#
            let answer = try await call(world, "/messages/send", body)
            #expect(answer.status == 400)
            #expect(answer.json?["message"]?.string == text)
        }
    }
}
