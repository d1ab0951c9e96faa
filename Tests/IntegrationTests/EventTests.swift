import AsyncHTTPClient
import Crypto
import Foundation
import Model
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Testing

@testable import CommandSupport

/// Events and webhooks over real processes, with the API alone (docs/webhooks.md).
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EventTests {
    @Test func eventsAreReadFollowedAndToldSigned() async throws {
        let receiver = CallbackReceiver(refusing: 1)
        try await World.with(serveArguments: ["--webhook-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            let key = try await adminKey(world)
            try await receiver.serving { port in
                let secret = try await subscribe(world, key, port)
                try await tell(world, key, receiver, secret)
                try await read(world)
                try await follow(world)
            }
        }
    }

    private func adminKey(_ world: World) async throws -> String {
        let made = try await world.command(
            ["key", "create", "--tenant", "acme", "--name", "ops", "--scopes", "admin", "--json"]
        )
        try #require(made.status == 0, "\(made.log)")
        let start = try #require(made.log.firstIndex(of: "{"))
        let end = try #require(made.log.lastIndex(of: "}"))
        let json = try JSONParser.parse(String(made.log[start...end]))
        return try #require(json["key"]?.string)
    }

    private func admin(_ world: World, _ key: String, _ method: String, _ path: String, _ body: JSON? = nil)
        async throws
        -> HTTPCaller.Answer
    {
        try await world.http.call(method, path, body, bearer: key)
    }

    /// Creates the webhook, after invalid ones were refused.
    private func subscribe(_ world: World, _ key: String, _ port: Int) async throws -> (id: String, secret: String) {
        let url = JSON.string("http://127.0.0.1:\(port)/hook")
        #expect(try await world.native("POST", "/v1/webhooks", ["url": url]).status == 403)
        for wrong in [
            ["url": "ftp://a.example/"], ["url": "http://10.0.0.1/"], ["url": url, "kinds": ["sunt"]],
            ["url": url, "secret": "short"], ["url": url, "events": []], ["url": url, "active": "yes"], [:],
        ] as [JSON] {
            let answer = try await admin(world, key, "POST", "/v1/webhooks", wrong)
            #expect(answer.status == 422, "\(JSONWriter.text(wrong)) \(answer.text)")
        }
        let made = try await admin(world, key, "POST", "/v1/webhooks", ["url": url])
        try #require(made.status == 201, "\(made.text)")
        let id = try #require(made.json?["id"]?.string)
        let secret = try #require(made.json?["secret"]?.string)
        #expect(secret.hasPrefix("whsec_") && made.json?["state"]?.string == "active")
        let seen = try await world.native("GET", "/v1/webhooks/\(id)")
        #expect(seen.status == 200 && !seen.text.contains(secret))
        let all = try await world.native("GET", "/v1/webhooks")
        #expect(all.json?["webhooks"]?.array?.count == 1 && !all.text.contains(secret))
        return (id, secret)
    }

    private func register(_ world: World, _ name: String) async throws -> String {
        let token = String(repeating: name, count: 32)
        let answer = try await world.native(
            "POST",
            "/v1/devices",
            ["app": "shop", "platform": "ios", "key": .string("key-" + name), "token": .string(token)]
        )
        return try #require(answer.json?["id"]?.string, "\(answer.text)")
    }

    /// Events arrive signed, also after a refused call; a replay delivers them again.
    private func tell(
        _ world: World,
        _ key: String,
        _ receiver: CallbackReceiver,
        _ webhook: (id: String, secret: String)
    ) async throws {
        let device = try await register(world, "a1")
        _ = try await world.native("PATCH", "/v1/devices/\(device)", ["acceptsPush": false])
        _ = try await world.native("PATCH", "/v1/devices/\(device)", ["acceptsPush": true])
        let sent = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["devices": [.string(device)]], "body": "hello"]
        )
        let message = try #require(sent.json?["id"]?.string, "\(sent.text)")
        let wanted = ["registered", "preference_changed", "preference_changed", "accepted", "sent"]
        try await eventually("the receiver has every event") { received(receiver).count >= wanted.count }
        #expect(received(receiver).map { $0["kind"]?.string } == wanted)
        #expect(received(receiver).map { $0["offset"]?.int } == [1, 2, 3, 4, 5])
        #expect(received(receiver).last?["message"]?.string == message)
        #expect(received(receiver).last?["device"]?.string == device)
        #expect(received(receiver).last?["address"]?.string?.isEmpty == false)
        for call in receiver.accepted {
            let header = try #require(call.signature)
            let parts = try #require(header.firstMatch(of: /^t=([0-9]+),kid=(whk_[0-9a-f]+),v1=([0-9a-f]{64})$/))
            let signed = Data("\(parts.1).".utf8) + Data(call.bytes)
            let code = HMAC<SHA256>.authenticationCode(
                for: signed,
                using: SymmetricKey(data: Data(webhook.secret.utf8))
            )
            #expect(Array(code) == HexCoding.decode(String(parts.3)))
            #expect(call.body["webhook"]?.string == webhook.id)
        }
        let path = "/v1/webhooks/\(webhook.id)"
        let caughtUp = State(cursor: 5, state: "active")
        try await eventually("the cursor follows") { try await state(world, path) == caughtUp }

        #expect(try await admin(world, key, "POST", path + "/replay", ["from": 6]).status == 422)
        #expect(try await world.native("POST", path + "/replay", ["from": 3]).status == 403)
        let before = received(receiver).count
        let replay = try await admin(world, key, "POST", path + "/replay", ["from": 3])
        #expect(replay.status == 200, "\(replay.text)")
        try await eventually("the replay is delivered") { received(receiver).count >= before + 2 }
        #expect(received(receiver).dropFirst(before).map { $0["offset"]?.int } == [4, 5])
        let paused = try await admin(world, key, "PATCH", path, ["active": false, "kinds": ["sent"]])
        #expect(paused.json?["state"]?.string == "paused" && paused.json?["kinds"]?.array == ["sent"])
        #expect(try await admin(world, key, "DELETE", path).status == 204)
        #expect(try await admin(world, key, "DELETE", path).status == 404)
        #expect(try await admin(world, key, "PUT", path).status == 405)
    }

    private struct State: Equatable {
        var cursor: Int64?
        var state: String?
    }

    private func state(_ world: World, _ path: String) async throws -> State {
        let json = try await world.native("GET", path).json
        return State(cursor: json?["cursor"]?.int, state: json?["state"]?.string)
    }

    private func received(_ receiver: CallbackReceiver) -> [JSON] {
        receiver.accepted.flatMap { $0.body["events"]?.array ?? [] }
    }

    /// Pages by offset, with filters; invalid parameters are refused.
    private func read(_ world: World) async throws {
        let page = try await world.native("GET", "/v1/events?after=1&limit=2")
        let lines = page.text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
        #expect(lines.map { $0["offset"]?.int } == [2, 3] && lines.count == 2)
        let some = try await world.native("GET", "/v1/events?kinds=accepted,sent&app=shop")
        #expect(some.text.split(separator: "\n").count == 2)
        #expect(try await world.native("GET", "/v1/events?app=none").text.isEmpty)
        for wrong in ["after=x", "after=-1", "after=6", "after=9223372036854775807", "kinds=sunt", "limit=0"] {
            #expect(try await world.native("GET", "/v1/events?\(wrong)").status == 422, "\(wrong)")
        }
    }

    /// A stream delivers events while it is open, and returns the position for resuming when its node shuts down.
    private func follow(_ world: World) async throws {
        let lines = NIOLockedValueBox<[String]>([])
        var request = HTTPClientRequest(url: world.http.base + "/v1/events?follow=true&after=4")
        request.headers.add(name: "authorization", value: "Bearer \(world.apiKey)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        #expect(response.status == .ok && response.headers.first(name: "X-Event-Head") == "5")
        let reader = Task {
            var text = ""
            for try await buffer in response.body {
                text += String(buffer: buffer)
                let whole = text.split(separator: "\n").map(String.init)
                lines.withLockedValue { $0 = whole }
            }
        }
        try await eventually("the first line comes") { lines.withLockedValue { $0.count } >= 1 }
        _ = try await register(world, "b2")
        try await eventually("the second line comes") { lines.withLockedValue { $0.count } >= 2 }
        let status = await world.gateway?.stop()
        #expect(status == 0)
        try await reader.value
        let events = lines.withLockedValue { $0 }.compactMap { try? JSONParser.parse($0) }
        #expect(events.map { $0["kind"]?.string } == ["sent", "registered", "stream_ended"])
        #expect(events.map { $0["offset"]?.int } == [5, 6, 6])
    }
}
