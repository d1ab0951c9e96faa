import CommandSupport
import Foundation
import Model
import Testing

/// A node opens a credential when it hears of it, some time after `apply` has ended.
@Sendable private func untilChannelsAnswer(_ world: World) async throws {
    try await eventually("the node opens the credential", within: .seconds(30)) {
        try await world.native("GET", "/v1/apps/shop/channels?limit=1").status == 200
    }
}

/// Broadcast channels through the native API, at the simulator's host for channels.
@Suite(.serialized, .sharedWorld(untilChannelsAnswer), .timeLimit(.minutes(10)))
struct ChannelTests {
    private static let path = "/v1/apps/shop/channels"

    private func create(_ world: World, _ storage: String) async throws -> String {
        let answer = try await world.native("POST", Self.path, ["storage": .string(storage)])
        try #require(answer.status == 201, "\(answer.text)")
        #expect(answer.json?["storage"] == .string(storage) && answer.json?["environment"] == "production")
        return try #require(answer.json?["channel"]?.string)
    }

    private func path(_ channel: String) -> String { "\(Self.path)/\(HTTPCaller.encode(channel))" }

    private func listed(_ world: World) async throws -> [String] {
        let answer = try await world.native("GET", "\(Self.path)?limit=1000")
        try #require(answer.status == 200, "\(answer.text)")
        return (answer.json?["channels"]?.array ?? []).compactMap { $0["channel"]?.string }
    }

    /// The pushes that the simulator received for a channel.
    private func broadcasts(_ world: World, _ channel: String) async throws -> [JSON] {
        let token = HTTPCaller.encode(channel)
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(token)")
        return answer.json?["requests"]?.array ?? []
    }

    @Test func aChannelIsCreatedShownListedAndDeleted() async throws {
        let world = try SharedWorld.current
        let channels = [try await create(world, "newest"), try await create(world, "none")]
        for (channel, storage) in zip(channels, ["newest", "none"]) {
            let shown = try await world.native("GET", path(channel))
            #expect(shown.status == 200 && shown.json?["storage"] == .string(storage), "\(shown.text)")
            #expect(shown.json?["channel"] == .string(channel))
        }
        #expect(Set(try await listed(world)).isSuperset(of: channels))
        #expect(try await world.native("DELETE", path(channels[0])).status == 204)
        #expect(!(try await listed(world)).contains(channels[0]))
        for answer in [
            try await world.native("GET", path(channels[0])), try await world.native("DELETE", path(channels[0])),
        ] {
            #expect(answer.status == 404 && answer.json?["code"] == "PG-1005", "\(answer.text)")
        }
    }

    @Test func pagesOfChannelsFollowEachOther() async throws {
        let world = try SharedWorld.current
        for _ in 0..<3 { _ = try await create(world, "none") }
        let all = try await listed(world)
        var pages: [String] = []
        var after = ""
        while pages.count < all.count {
            let page = try await world.native("GET", "\(Self.path)?limit=2\(after)").json
            pages += (page?["channels"]?.array ?? []).compactMap { $0["channel"]?.string }
            guard let next = page?["next"]?.string else { break }
            after = "&after=\(HTTPCaller.encode(next))"
        }
        #expect(pages == all && all == all.sorted())
    }

    @Test func aBroadcastUpdatesAndEndsTheActivitiesOfAChannel() async throws {
        let world = try SharedWorld.current
        let channel = try await create(world, "newest")
        let expiration = Int64(Date().timeIntervalSince1970) + 600
        let update: JSON = [
            "event": "update", "contentState": ["home": 2], "priority": 5, "expiration": .int(expiration * 1000),
            "timestamp": 1_790_000_000_000, "staleDate": 1_790_000_600_000, "relevanceScore": 80,
            "alert": ["title": ["key": "GOAL", "arguments": ["2"]], "body": "2:0", "sound": "goal"],
        ]
        let sent = try await world.native("POST", path(channel) + "/send", update)
        #expect(sent.status == 200 && sent.json?["requestId"]?.string?.isEmpty == false, "\(sent.text)")
        let ended = try await world.native(
            "POST",
            path(channel) + "/send",
            ["event": "end", "dismissalDate": "2026-12-25T13:30:00Z"]
        )
        #expect(ended.status == 200, "\(ended.text)")
        let pushes = try await broadcasts(world, channel)
        #expect(pushes.count == 2 && pushes.allSatisfy { $0["findings"] == [] }, "\(pushes)")
        let first = try #require(pushes.first)
        #expect(first["headers"]?["apns-push-type"] == "liveactivity" && first["headers"]?["apns-priority"] == "5")
        #expect(first["headers"]?["apns-expiration"] == .string("\(expiration)"))
        #expect(
            first["payload"] == [
                "aps": [
                    "timestamp": 1_790_000_000, "event": "update", "content-state": ["home": 2],
                    "alert": ["title": ["loc-key": "GOAL", "loc-args": ["2"]], "body": "2:0", "sound": "goal"],
                    "stale-date": 1_790_000_600, "relevance-score": 80,
                ]
            ]
        )
        let last = pushes.last?["payload"]?["aps"]
        #expect(last?["event"] == "end" && last?["dismissal-date"] == 1_798_205_400, "\(pushes)")
        #expect(pushes.last?["headers"]?["apns-expiration"] == "0")
    }

    // I5: neither bad input nor Apple's refusal is a 5xx.
    @Test func badInputAndRefusalsAreProblems() async throws {
        let world = try SharedWorld.current
        let channel = try await create(world, "none")
        let state: JSON = ["home": 1]
        let cases: [(String, String, JSON?, Int, String)] = [
            ("POST", Self.path, ["storage": "all"], 422, "PG-1002"), ("POST", Self.path, [:], 422, "PG-1002"),
            ("POST", "/v1/apps/none/channels", ["storage": "none"], 404, "PG-1005"),
            ("GET", "\(Self.path)?environment=test", nil, 422, "PG-1002"),
            ("GET", path("no channel"), nil, 404, "PG-1005"),
            ("GET", path("dHN0"), nil, 404, "PG-1005"),
            ("POST", path("dHN0") + "/send", ["event": "end"], 404, "PG-1005"),
            ("POST", path(channel) + "/send", ["event": "update"], 422, "PG-1002"),
            ("POST", path(channel) + "/send", ["event": "start", "contentState": state], 422, "PG-1002"),
            ("POST", path(channel) + "/send", ["event": "end", "priority": 3], 422, "PG-1002"),
            (
                "POST", path(channel) + "/send",
                ["event": "update", "contentState": state, "dismissalDate": 0], 422, "PG-1002"
            ),
            (
                "POST", path(channel) + "/send",
                ["event": "update", "contentState": ["x": .string(String(repeating: "x", count: 5_200))]], 422,
                "PG-1002"
            ),
            // The channel keeps nothing, so Apple takes no other expiration than zero.
            (
                "POST", path(channel) + "/send",
                ["event": "update", "contentState": state, "expiration": "2030-01-01T00:00:00Z"], 422, "PG-1013"
            ),
        ]
        for (method, path, body, status, code) in cases {
            let answer = try await world.native(method, path, body)
            #expect(
                answer.status == status && answer.json?["code"] == .string(code),
                "\(method) \(path): \(answer.text)"
            )
        }
    }

    // A push service that does not answer has a problem code of its own.
    @Test func aServiceThatIsAwayIsAProblemOfItsOwn() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            let channel = try await create(world, "none")
            try await world.killSimulator()
            let answer = try await world.native("GET", path(channel))
            #expect(answer.status == 502 && answer.json?["code"] == "PG-2002", "\(answer.text)")
            try await world.startSimulator()
            try await eventually("the channels are there again") {
                try await world.native("GET", Self.path).status == 200
            }
        }
    }
}
