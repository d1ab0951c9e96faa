import CommandSupport
import Coverage
import Foundation
import Model
import Testing

/// RationalOwl's tracking callback over real processes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CallbackTests {
    // docs/contracts/rationalowl.md#8.5, docs/contracts/rationalowl.md#8.6: changes are posted as a signed array; a refused call is repeated, also
    // after the gateway was killed; the states of one target never go back.
    @Test(
        .covers(
            "rationalowl",
            "/server/register/",
            "/msgClient/register",
            "/msgClient/setCallbackUrl",
            "/pushApp/installApp",
            "/msgClient/msgClientSendMsgByPhoneNum",
            "/pushApp/notiRead"
        ),
        .covers(
            "rationalowl",
            "tracking callback",
            partial: "the states of the fallback are never reported, because the gateway has no fallback engine"
        )
    ) func refusedCallbackIsRepeatedOverARestart() async throws {
        let receiver = CallbackReceiver(refusing: 1)
        try await World.with(serveArguments: ["--webhook-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await receiver.serving { port in try await tell(world, receiver, port) }
        }
    }

    private func tell(_ world: World, _ receiver: CallbackReceiver, _ port: Int) async throws {
        let sender = try await register(world, port)
        let key = String(repeating: "d1", count: 16)
        let installed = try await post(
            world,
            "/pushApp/installApp",
            [
                "cId": 303, "aId": .string(world.account), "dt": 2, "dRId": .string(key), "pn": "01012341234",
                "tk": .string(String(repeating: "ab", count: 32)), "env": "prod",
            ]
        )
        try #require(installed["rc"]?.int == 1)
        let sent = try await post(
            world,
            "/msgClient/msgClientSendMsgByPhoneNum",
            [
                "rId": .string(sender), "aId": .string(world.account), "ip": "203.0.113.10", "msg": ["body": "hello"],
                "dest": ["t": 2, "tg": [["pn": "01012341234"], ["pn": "01055556666"]]],
            ]
        )
        let message = try #require(sent["mId"]?.string, "\(JSONWriter.text(sent))")
        try await eventually("the first call comes") { receiver.attempts >= 1 }
        try await world.killGateway()
        try await lapse(world)
        try await world.startGateway()
        try await eventually("a call is taken", within: .seconds(70)) { !receiver.accepted.isEmpty }
        let first = try #require(receiver.accepted.first)
        #expect(first.signature?.hasPrefix("sha256=") == true)
        #expect(first.body.array?.first?["mId"]?.string == message)
        _ = try await world.http.call(
            "POST",
            "/pushApp/notiRead",
            ["cId": 311, "aId": .string(world.account), "dRId": .string(key), "mId": .string(message)]
        )
        try await eventually("the read receipt is reported") { states(receiver, "01012341234").last == 4 }
        let seen = states(receiver, "01012341234")
        #expect(seen.last == 4, "\(seen)")
        #expect(seen == seen.sorted(), "a target's state never goes back: \(seen)")
        #expect(states(receiver, "01055556666") == [6])
    }

    /// Killed before it noted the refusal, the gateway has left a lease of a minute, which lapses now.
    private func lapse(_ world: World) async throws {
        let leases = try await world.value(
            """
            WITH s AS (UPDATE gateway.sender SET next_at = now() WHERE owner IS NOT NULL RETURNING 1)
            SELECT count(*)::text AS value FROM s
            """
        )
        #expect(["0", "1"].contains(leases))
    }

    private func states(_ receiver: CallbackReceiver, _ phone: String) -> [Int64] {
        receiver.accepted.flatMap { $0.body.array ?? [] }.flatMap { $0["ds"]?.array ?? [] }
            .filter { $0["pn"]?.string == phone }.compactMap { $0["p"]?["s"]?.int }
    }

    private func register(_ world: World, _ port: Int) async throws -> String {
        let server = try await post(
            world,
            "/server/register/",
            ["serviceId": .string(world.service), "registerName": "shop", "privateNetwork": 1]
        )
        let sender = try #require(server["serverRegId"]?.string)
        let head: [(String, JSON)] = [
            ("rId", .string(sender)), ("aId", .string(world.account)), ("ip", "203.0.113.10"),
        ]
        _ = try await post(
            world,
            "/msgClient/register",
            .object(
                JSONObject([("cId", 1), ("r", 1), ("t", 12), ("sId", .string(world.service)), ("mcn", "shop")] + head)
            )
        )
        let set = try await post(
            world,
            "/msgClient/setCallbackUrl",
            .object(
                JSONObject(
                    [("sId", .string(world.service)), ("url", .string("http://127.0.0.1:\(port)/callback"))] + head
                )
            )
        )
        try #require(set["rc"]?.int == 1, "\(JSONWriter.text(set))")
        return sender
    }

    private func post(_ world: World, _ path: String, _ body: JSON) async throws -> JSON {
        let answer = try await world.http.call("POST", path, body)
        return try #require(answer.json, "\(path) \(answer.status) \(answer.text)")
    }
}
