import CommandSupport
import Foundation
import Model
import Testing

/// Commands for Apple's devices, through the running gateway: options of `send`, `activity` and `channel`.
@Suite(.serialized, .sharedWorld(), .timeLimit(.minutes(10)))
struct AppleCommandTests {
    private func run(_ world: World, _ arguments: String...) async throws -> (status: Int32?, log: String) {
        try await world.apiCommand(arguments)
    }

    private func requests(_ world: World, _ token: String) async throws -> [JSON] {
        let path = "/_simulator/requests?token=\(HTTPCaller.encode(token))"
        return try await world.control.call("GET", path).json?["requests"]?.array ?? []
    }

    private func register(_ world: World, _ key: String, _ token: String) async throws -> String {
        let body: JSON = ["app": "shop", "platform": "ios", "key": .string(key), "token": .string(token)]
        let answer = try await world.native("POST", "/v1/devices", body)
        return try #require(answer.json?["id"]?.string, "\(answer.text)")
    }

    @Test func sendTakesApplesOptions() async throws {
        let world = try SharedWorld.current
        let token = String(repeating: "c1", count: 32)
        let device = try await register(world, "cli-1", token)
        let sent = try await run(
            world,
            "send",
            "--app",
            "shop",
            "--device",
            device,
            "--body",
            "Hi",
            "--priority",
            "5",
            "--collapse-id",
            "c",
            "--interruption-level",
            "passive",
            "--relevance-score",
            "0.25",
            "--target-content-id",
            "w",
            "--mutable-content",
            "--content-available",
            "--expiration",
            "0"
        )
        #expect(sent.status == 0, "\(sent.log)")
        let push = try await first("the push") { try await requests(world, token).first }
        #expect(push["headers"]?["apns-priority"] == "5" && push["headers"]?["apns-collapse-id"] == "c", "\(push)")
        #expect(push["headers"]?["apns-expiration"] == "0")
        #expect(
            push["payload"]?["aps"] == [
                "alert": ["body": "Hi"], "sound": "default", "content-available": 1, "mutable-content": 1,
                "target-content-id": "w", "interruption-level": "passive", "relevance-score": .number("0.25"),
            ]
        )
        let refused = try await run(
            world,
            "send",
            "--app",
            "shop",
            "--device",
            device,
            "--body",
            "Hi",
            "--priority",
            "7"
        )
        #expect(refused.status == 1 && refused.log.contains("apns-priority must be 10, 5, 1"), "\(refused.log)")
        let silent = try await run(world, "send", "--app", "shop", "--device", device, "--push-type", "background")
        #expect(silent.status == 0, "\(silent.log)")
        let usage = try await run(world, "send", "--app", "shop", "--device", device)
        #expect(usage.status == 2 && usage.log.contains("--body"), "\(usage.log)")
    }

    @Test func activityStartsUpdatesAndEnds() async throws {
        let world = try SharedWorld.current
        let (own, start, running) = (
            String(repeating: "c2", count: 32), String(repeating: "c3", count: 32), String(repeating: "c4", count: 32)
        )
        let device = try await register(world, "cli-2", own)
        for body in [
            ["attributesType": "ScoreAttributes", "token": .string(start)],
            ["activity": "match 9", "token": .string(running)],
        ] as [JSON] {
            let path = "/v1/devices/\(device)/live-activity-tokens"
            #expect(try await world.native("PUT", path, body).status == 204)
        }
        let started = try await run(
            world,
            "activity",
            "start",
            "--app",
            "shop",
            "--device",
            device,
            "--attributes-type",
            "ScoreAttributes",
            "--attributes",
            #"{"match":"9"}"#,
            "--content-state",
            #"{"home":0}"#,
            "--title",
            "Kick-off",
            "--body",
            "0:0"
        )
        #expect(started.status == 0 && started.log.contains("1 recipients"), "\(started.log)")
        let updated = try await run(
            world,
            "activity",
            "update",
            "match 9",
            "--app",
            "shop",
            "--content-state",
            #"{"home":1}"#,
            "--priority",
            "5",
            "--json"
        )
        #expect(updated.status == 0 && (try? JSONParser.parse(updated.log))?["id"] != nil, "\(updated.log)")
        let ended = try await run(
            world,
            "activity",
            "end",
            "match 9",
            "--app",
            "shop",
            "--dismissal-date",
            "2026-12-25T13:30:00Z"
        )
        #expect(ended.status == 0, "\(ended.log)")
        try await eventually("start, update and end arrived") {
            let events = try await requests(world, start) + requests(world, running)
            return Set(events.compactMap { $0["payload"]?["aps"]?["event"]?.string }) == ["start", "update", "end"]
        }
        let unknown = try await run(world, "activity", "end", "match 10", "--app", "shop")
        #expect(unknown.status == 1 && unknown.log.contains("404 (PG-1005)"), "\(unknown.log)")
        let usage = try await run(
            world,
            "activity",
            "update",
            "match 9",
            "--app",
            "shop",
            "--content-state",
            "{}",
            "--title",
            "alone"
        )
        #expect(usage.status == 2, "\(usage.log)")
    }

    @Test func channelIsCreatedShownSentToAndDeleted() async throws {
        let world = try SharedWorld.current
        let created = try await run(world, "channel", "create", "--app", "shop", "--storage", "newest", "--json")
        let channel = try #require((try? JSONParser.parse(created.log))?["channel"]?.string, "\(created.log)")
        let listed = try await run(world, "channel", "list", "--app", "shop")
        #expect(listed.log.contains(channel), "\(listed.log)")
        let shown = try await run(world, "channel", "show", channel, "--app", "shop")
        #expect(shown.status == 0 && shown.log.contains("keeps newest"), "\(shown.log)")
        let sent = try await run(
            world,
            "channel",
            "send",
            channel,
            "--app",
            "shop",
            "--event",
            "update",
            "--content-state",
            #"{"home":1}"#
        )
        #expect(sent.status == 0 && sent.log.contains("accepted as"), "\(sent.log)")
        #expect(try await requests(world, channel).map { $0["payload"]?["aps"]?["event"] } == ["update"])
        #expect(try await run(world, "channel", "delete", channel, "--app", "shop").status == 0)
        let gone = try await run(world, "channel", "show", channel, "--app", "shop")
        #expect(gone.status == 1 && gone.log.contains("no such channel"), "\(gone.log)")
        let sandbox = try await run(world, "channel", "list", "--app", "shop", "--environment", "test")
        #expect(sandbox.status == 1 && sandbox.log.contains("PG-1002"), "\(sandbox.log)")
    }
}
