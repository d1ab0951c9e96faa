import CommandSupport
import Foundation
import Model
import Testing

/// The level `possession`, over real processes: the nonce arrives in a silent push, and the app answers it without a key.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DevicePossessionTests {
    private static func token(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    /// Imports a device, whose user is a claim, and returns its id.
    private func device(_ world: World, _ key: String, user: String, token: String) async throws -> String {
        let row: JSON = [
            "platform": "ios", "key": .string(key), "user": .string(user), "token": .string(token),
        ]
        let done = try await world.native("POST", "/v1/apps/shop/imports?format=ndjson", row)
        try #require(done.status == 200, "\(done.text)")
        return try #require(try await shown(world, key)["id"]?.string)
    }

    private func shown(_ world: World, _ key: String) async throws -> JSON {
        let answer = try await world.native("GET", "/v1/devices?app=shop&key=\(key)")
        return try #require(answer.json?["devices"]?.array?.first, "\(answer.text)")
    }

    private func level(_ world: World, _ key: String) async throws -> String? {
        try await shown(world, key)["identities"]?.array?.first?["assurance"]?.string
    }

    private func pushes(_ world: World, _ token: String) async throws -> [JSON] {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)")
        return answer.json?["requests"]?.array ?? []
    }

    private func answer(_ world: World, _ nonce: String) async throws -> HTTPCaller.Answer {
        try await world.http.call("POST", "/v1/possession", ["nonce": .string(nonce)])
    }

    @Test func aDeviceShowsThatItHasItsToken() async throws {
        let world = try World(serveArguments: ["--limits-unknown", "0.001/4"])
        do {
            try await world.startSimulator()
            try await world.startGateway()
            try #require(try await world.apply().status == 0)
            try await possess(world)
        } catch { Issue.record(error) }
        await world.close()
    }

    private func possess(_ world: World) async throws {
        let owner = try await device(world, "owner", user: "kim", token: Self.token("a"))
        _ = try await device(world, "stranger", user: "kim", token: Self.token("b"))
        let challenge = try await world.native("POST", "/v1/devices/\(owner)/challenge")
        #expect(challenge.status == 202 && challenge.json?["device"]?.string == owner, "\(challenge.text)")
        let push = try #require(try await pushes(world, Self.token("a")).first)
        #expect(push["headers"]?["apns-push-type"] == "background" && push["headers"]?["apns-priority"] == "5")
        #expect(push["payload"]?["aps"] == ["content-available": 1], "\(push)")
        let nonce = try #require(push["payload"]?["gatewayNonce"]?.string)
        #expect(nonce.utf8.count == 32)
        #expect(!challenge.text.contains(nonce), "the back end does not get the nonce")
        let stored = try await world.value(
            "SELECT count(*)::text AS value FROM gateway.challenge c WHERE c::text LIKE '%\(nonce)%'"
        )
        #expect(stored == "0", "only a digest is stored")

        let wrong = try await answer(world, String(repeating: "0", count: 32))
        #expect(wrong.status == 404 && wrong.text.contains("PG-1005"), "\(wrong.text)")
        #expect(try await level(world, "owner") == "claimed")
        #expect(try await answer(world, nonce).status == 204)
        #expect(try await level(world, "owner") == "possession")
        #expect(try await answer(world, nonce).status == 404, "a nonce is used once")
        let events = try await world.native("GET", "/v1/events?kinds=possession&limit=10").text
        #expect(events.contains(#""kind":"possession""#), "\(events)")

        // A message that needs the level does not reach the device that only claims the user.
        let body: JSON = [
            "app": "shop", "to": ["keys": ["owner", "stranger"]], "body": "b", "minAssurance": "possession",
        ]
        let sent = try await world.native("POST", "/v1/messages", body)
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        try await eventually("the owner gets it") {
            try await world.native("GET", "/v1/messages/\(id)").json?["funnel"]?["sent"] == 1
        }
        #expect(try await pushes(world, Self.token("b")).isEmpty)
        let suppressed = try await world.native("GET", "/v1/messages/\(id)/deliveries?state=suppressed")
        #expect(
            suppressed.json?["deliveries"]?.array?.map { $0["reason"]?.string } == ["assurance"],
            "\(suppressed.text)"
        )

        // A token that Apple refuses, and the limits of callers without a key.
        _ = try await world.control.call(
            "POST",
            "/_simulator/script",
            [["token": .string(Self.token("b")), "status": 410, "reason": "Unregistered"]]
        )
        let dead = try #require(try await shown(world, "stranger")["id"]?.string)
        let refused = try await world.native("POST", "/v1/devices/\(dead)/challenge")
        #expect(refused.status == 422 && refused.text.contains("PG-1013"), "\(refused.text)")
        let large = try await world.http.call(
            "POST",
            "/v1/possession",
            ["nonce": .string(String(repeating: "n", count: 5000))]
        )
        #expect(large.status == 413, "\(large.text)")
        var last = 0
        for _ in 0..<6 where last != 429 { last = try await answer(world, "wrong").status }
        #expect(last == 429)
        #expect(try await world.native("GET", "/v1/devices/\(owner)").status == 200, "keys are not affected")
    }
}
