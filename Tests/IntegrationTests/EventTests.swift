import AsyncHTTPClient
import Crypto
import Foundation
import Gateway
import Model
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import Testing

@testable import CommandSupport

/// Events and webhooks over real processes, with the API alone (docs/webhooks.md).
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld(serveArguments: ["--webhook-allow", "127.0.0.0/8"]))
struct EventTests {
    // MARK: Calls

    private func adminKey(_ world: World, sourceLocation: SourceLocation) async throws -> String {
        let name = "ops-" + SystemIdentifiers().randomHex(byteCount: 4)
        let made = try await world.command(
            ["key", "create", "--tenant", "acme", "--name", name, "--scopes", "admin", "--json"]
        )
        try #require(made.status == 0, "\(made.log)", sourceLocation: sourceLocation)
        let start = try #require(made.log.firstIndex(of: "{"), sourceLocation: sourceLocation)
        let end = try #require(made.log.lastIndex(of: "}"), sourceLocation: sourceLocation)
        let json = try JSONParser.parse(String(made.log[start...end]))
        return try #require(json["key"]?.string, sourceLocation: sourceLocation)
    }

    /// A caller with the scope `admin`.
    private struct Admin {
        let world: World
        let key: String

        func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> HTTPCaller.Answer {
            try await world.http.call(method, path, body, bearer: key)
        }
    }

    private func admin(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Admin {
        let world = try SharedWorld.current
        return Admin(world: world, key: try await adminKey(world, sourceLocation: sourceLocation))
    }

    private struct Webhook {
        let id: String
        let secret: String
        var path: String { "/v1/webhooks/\(id)" }
    }

    /// Creates a webhook that calls a port of this machine.
    private func subscribe(
        _ admin: Admin,
        _ port: Int,
        order: String = "log",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Webhook {
        let made = try await admin.call(
            "POST",
            "/v1/webhooks",
            ["url": .string("http://127.0.0.1:\(port)/hook"), "order": .string(order)]
        )
        try #require(made.status == 201, "\(made.text)", sourceLocation: sourceLocation)
        return Webhook(
            id: try #require(made.json?["id"]?.string, sourceLocation: sourceLocation),
            secret: try #require(made.json?["secret"]?.string, sourceLocation: sourceLocation)
        )
    }

    private func register(
        _ world: World,
        _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        let answer = try await world.native(
            "POST",
            "/v1/devices",
            ["app": "shop", "platform": "ios", "key": .string("key-" + name), "token": .string(token)]
        )
        return try #require(answer.json?["id"]?.string, "\(answer.text)", sourceLocation: sourceLocation)
    }

    private func send(
        _ world: World,
        to device: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let sent = try await world.native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["devices": [.string(device)]], "body": "hello"]
        )
        return try #require(sent.json?["id"]?.string, "\(sent.text)", sourceLocation: sourceLocation)
    }

    /// Causes three events: registers a device, turns its pushes off, and turns them on.
    private func threeEvents(
        _ world: World,
        _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let device = try await register(world, name, sourceLocation: sourceLocation)
        for accepts in [false, true] {
            let answer = try await world.native("PATCH", "/v1/devices/\(device)", ["acceptsPush": .bool(accepts)])
            #expect(answer.status == 200, "\(answer.text)", sourceLocation: sourceLocation)
        }
        return device
    }

    private func received(by receiver: CallbackReceiver) -> [JSON] {
        receiver.accepted.flatMap { $0.body["events"]?.array ?? [] }
    }

    private func events(_ world: World, _ query: String) async throws -> [JSON] {
        let page = try await world.native("GET", "/v1/events?\(query)")
        return page.text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
    }

    /// The offset of the newest event.
    private func head(_ world: World) async throws -> Int64 {
        try await events(world, "limit=1000").last?["offset"]?.int ?? 0
    }

    // MARK: Creating webhooks

    @Test func aWebhookNeedsTheScopeAdmin() async throws {
        let world = try SharedWorld.current
        #expect(try await world.native("POST", "/v1/webhooks", ["url": "http://127.0.0.1:9/hook"]).status == 403)
    }

    @Test func anInvalidWebhookIsRefused() async throws {
        let admin = try await admin()
        let url: JSON = "http://127.0.0.1:9/hook"
        for wrong in [
            ["url": "ftp://a.example/"], ["url": "http://10.0.0.1/"], ["url": url, "kinds": ["sunt"]],
            // Loopback is allowed here, but people do not recognize it in these forms.
            ["url": "http://127.1:9/"], ["url": "http://2130706433:9/"], ["url": "http://0x7f.1:9/"],
            ["url": url, "secret": "short"], ["url": url, "events": []], ["url": url, "active": "yes"],
            ["url": url, "order": "app"], [:],
        ] as [JSON] {
            let answer = try await admin.call("POST", "/v1/webhooks", wrong)
            #expect(answer.status == 422, "\(JSONWriter.text(wrong)) \(answer.text)")
        }
    }

    @Test func aNewWebhookIsActiveAndShowsItsSecretOnce() async throws {
        let admin = try await admin()
        let made = try await admin.call("POST", "/v1/webhooks", ["url": "http://127.0.0.1:9/hook"])
        let id = try #require(made.json?["id"]?.string, "\(made.text)")
        let secret = try #require(made.json?["secret"]?.string)
        #expect(secret.hasPrefix("whsec_") && made.json?["state"]?.string == "active")
        #expect(made.json?["order"]?.string == "log")
        let seen = try await admin.world.native("GET", "/v1/webhooks/\(id)")
        #expect(seen.status == 200 && !seen.text.contains(secret))
        let all = try await admin.world.native("GET", "/v1/webhooks")
        #expect(all.text.contains(id) && !all.text.contains(secret))
        #expect(try await admin.call("DELETE", "/v1/webhooks/\(id)").status == 204)
    }

    @Test func aWebhookIsPausedAndDeletedOnce() async throws {
        let admin = try await admin()
        let webhook = try await subscribe(admin, 9)
        let paused = try await admin.call("PATCH", webhook.path, ["active": false, "kinds": ["sent"]])
        #expect(paused.json?["state"]?.string == "paused" && paused.json?["kinds"]?.array == ["sent"])
        #expect(try await admin.call("DELETE", webhook.path).status == 204)
        #expect(try await admin.call("DELETE", webhook.path).status == 404)
        #expect(try await admin.call("PUT", webhook.path).status == 405)
    }

    // MARK: Calls of webhooks

    @Test func eventsArriveSignedAndInOrderAlsoAfterARefusedCall() async throws {
        let admin = try await admin()
        let receiver = CallbackReceiver(refusing: 1)
        try await receiver.serving { port in
            let webhook = try await subscribe(admin, port)
            let device = try await threeEvents(admin.world, "signed")
            let message = try await send(admin.world, to: device)
            let wanted = ["registered", "preference_changed", "preference_changed", "accepted", "sent"]
            try await eventually("the receiver has every event") { received(by: receiver).count >= wanted.count }
            let events = received(by: receiver)
            #expect(events.map { $0["kind"]?.string } == wanted)
            let start = try #require(events.first?["offset"]?.int)
            #expect(events.map { $0["offset"]?.int } == (start..<start + 5).map(\.self))
            #expect(events.last?["message"]?.string == message)
            #expect(events.last?["device"]?.string == device)
            #expect(events.last?["address"]?.string?.isEmpty == false)
            for call in receiver.accepted { try expectSigned(call, by: webhook) }
            try await eventually("the cursor follows") {
                let shown = try await admin.world.native("GET", webhook.path).json
                return shown?["cursor"]?.int == start + 4 && shown?["state"]?.string == "active"
            }
            #expect(try await admin.call("DELETE", webhook.path).status == 204)
        }
    }

    @Test func eventsOfADeviceArriveInOrderWithTheOrderOfDevices() async throws {
        let admin = try await admin()
        let receiver = CallbackReceiver(refusing: 1)
        try await receiver.serving { port in
            let webhook = try await subscribe(admin, port, order: "device")
            #expect(try await admin.call("GET", webhook.path).json?["order"]?.string == "device")
            var devices: [String] = []
            for name in ["lane-1", "lane-2", "lane-3"] { devices.append(try await threeEvents(admin.world, name)) }
            try await eventually("the receiver has every event") {
                Set(received(by: receiver).compactMap { $0["offset"]?.int }).count == 9
            }
            let events = received(by: receiver)
            for device in devices {
                var kinds: [Int64: String] = [:]
                for event in events where event["device"]?.string == device {
                    guard let offset = event["offset"]?.int, kinds[offset] == nil else { continue }
                    #expect(kinds.keys.allSatisfy { $0 < offset })
                    kinds[offset] = event["kind"]?.string
                }
                #expect(kinds.values.sorted() == ["preference_changed", "preference_changed", "registered"])
            }
            for call in receiver.accepted { try expectSigned(call, by: webhook) }
            #expect(try await admin.call("DELETE", webhook.path).status == 204)
        }
    }

    private func expectSigned(
        _ call: CallbackReceiver.Received,
        by webhook: Webhook,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let header = try #require(call.signature, sourceLocation: sourceLocation)
        let parts = try #require(
            header.firstMatch(of: /^t=([0-9]+),kid=(whk_[0-9a-f]+),v1=([0-9a-f]{64})$/),
            sourceLocation: sourceLocation
        )
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(parts.1).".utf8) + Data(call.bytes),
            using: SymmetricKey(data: Data(webhook.secret.utf8))
        )
        #expect(Array(code) == HexCoding.decode(String(parts.3)), sourceLocation: sourceLocation)
        #expect(call.body["webhook"]?.string == webhook.id, sourceLocation: sourceLocation)
    }

    @Test func aReplaySendsTheEventsAfterAPositionAgain() async throws {
        let admin = try await admin()
        let receiver = CallbackReceiver(refusing: 0)
        try await receiver.serving { port in
            let webhook = try await subscribe(admin, port)
            _ = try await threeEvents(admin.world, "replayed")
            try await eventually("the receiver has every event") { received(by: receiver).count >= 3 }
            let offsets = received(by: receiver).compactMap { $0["offset"]?.int }
            try #require(offsets.count == 3)
            let path = webhook.path + "/replay"
            #expect(try await admin.call("POST", path, ["from": .int(offsets[2] + 1)]).status == 422)
            #expect(try await admin.world.native("POST", path, ["from": .int(offsets[0])]).status == 403)
            let replay = try await admin.call("POST", path, ["from": .int(offsets[0])])
            #expect(replay.status == 200, "\(replay.text)")
            try await eventually("the replay is delivered") { received(by: receiver).count >= 5 }
            #expect(received(by: receiver).dropFirst(3).map { $0["offset"]?.int } == [offsets[1], offsets[2]])
            #expect(try await admin.call("DELETE", webhook.path).status == 204)
        }
    }

    // MARK: Reading

    @Test func eventsAreReadInPagesAndByKindAndApp() async throws {
        let world = try SharedWorld.current
        let head = try await head(world)
        let device = try await threeEvents(world, "read")
        let page = try await events(world, "after=\(head)&limit=2")
        #expect(page.map { $0["offset"]?.int } == [head + 1, head + 2])
        _ = try await send(world, to: device)
        let query = "after=\(head)&kinds=accepted,sent&app=shop"
        try await eventually("both events are listed") { try await events(world, query).count == 2 }
        #expect(try await world.native("GET", "/v1/events?app=none").text.isEmpty)
    }

    /// An offset that was read before a restore or a failover may belong to another event now.
    @Test func aStaleGenerationIsRefused() async throws {
        let world = try SharedWorld.current
        let generation = try await world.eventGeneration()
        #expect(UUID(uuidString: generation) != nil)
        #expect(try await world.native("GET", "/v1/events?generation=\(generation)&limit=1").status == 200)
        #expect(try await world.native("GET", "/v1/events?generation=\(generation.uppercased())").status == 200)
        for follow in ["false", "true"] {
            let stale = "after=0&generation=\(UUID())&follow=\(follow)"
            let answer = try await world.native("GET", "/v1/events?\(stale)")
            #expect(answer.status == 410 && answer.json?["code"] == "PG-1014", "\(answer.text)")
        }
        #expect(try await world.eventGeneration() == generation)
    }

    @Test func anInvalidPositionOrFilterIsRefused() async throws {
        let world = try SharedWorld.current
        let beyond = "after=\(try await head(world) + 1)"
        for wrong in ["after=x", "after=-1", beyond, "after=9223372036854775807", "kinds=sunt", "limit=0"] {
            #expect(try await world.native("GET", "/v1/events?\(wrong)").status == 422, "\(wrong)")
        }
    }

    /// The test has its own gateway, because it stops the gateway.
    @Test func aStreamDeliversEventsAndItsPositionWhenItsNodeStops() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            _ = try await register(world, "before")
            let lines = NIOLockedValueBox<[String]>([])
            var request = HTTPClientRequest(url: world.http.base + "/v1/events?follow=true&after=0")
            request.headers.add(name: "authorization", value: "Bearer \(world.apiKey)")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
            #expect(response.status == .ok && response.headers.first(name: "X-Event-Head") == "1")
            let reader = Task {
                var text = ""
                for try await buffer in response.body {
                    text += String(buffer: buffer)
                    let whole = text.split(separator: "\n").map(String.init)
                    lines.withLockedValue { $0 = whole }
                }
            }
            try await eventually("the first line has arrived") { lines.withLockedValue { $0.count } >= 1 }
            _ = try await register(world, "during")
            try await eventually("the second line has arrived") { lines.withLockedValue { $0.count } >= 2 }
            let status = await world.gateway?.stop()
            #expect(status == 0)
            try await reader.value
            let written = lines.withLockedValue { $0 }
            let answer = HTTPCaller.Answer(response, Array(written.joined(separator: "\n").utf8))
            DeclaredAnswers.check("GET", "/v1/events?follow=true", answer)
            let events = written.compactMap { try? JSONParser.parse($0) }
            #expect(events.map { $0["kind"]?.string } == ["registered", "registered", "stream_ended"])
            #expect(events.map { $0["offset"]?.int } == [1, 2, 2])
            #expect(events.last?["generation"]?.string == response.headers.first(name: "X-Event-Generation"))
        }
    }
}
