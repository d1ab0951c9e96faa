import CommandSupport
import EngineStore
import Foundation
import Model
import NIOHTTP1
import PostgresClient
import Store
import Testing

@testable import Gateway
@testable import NativeHTTP

/// Audience sizes, nodes, the queue, bindings and credentials through the native API, on real PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct NativeOperatorTests {
    private func run(_ stage: NativeStage, _ sql: String) async throws {
        _ = try await stage.database.engine.run(Statement(sql), tenant: nil)
    }

    private func size(_ stage: NativeStage, _ to: JSON, as bearer: String? = nil) async throws -> JSON {
        let answer = try await stage.native(.POST, "/v1/apps/shop/audience-size", ["to": to], as: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.json ?? .null
    }

    @Test func anAudienceIsCountedAsAMessageWouldReachIt() async throws {
        try await NativeStage.on { stage in
            for number in 0..<12 {
                let answer = try await stage.native(
                    .POST,
                    "/v1/devices",
                    [
                        "app": "shop", "platform": "ios", "key": .string("k-\(number)"),
                        "user": .string("u-\(number / 2)"), "tags": number % 3 == 0 ? ["seoul", "vip"] : ["busan"],
                    ]
                )
                #expect(answer.status == 201, "\(answer.text)")
            }
            let group: JSON = ["add": ["u-0", "u-1", "u-9"]]
            #expect(try await stage.native(.PUT, "/v1/apps/shop/groups/early").status == 201)
            #expect(try await stage.native(.POST, "/v1/apps/shop/groups/early/members", group).status == 200)
            let audiences: [(JSON, Int)] = [
                ("everyone", 12), (["tags": "seoul"], 4), (["tags": "seoul || busan"], 12), (["tags": "!vip"], 8),
                (["groups": ["early"]], 4), (["users": ["u-0", "u-5", "nobody"]], 4), (["keys": ["k-1", "x"]], 2),
            ]
            for (to, count) in audiences {
                let answer = try await size(stage, to)
                #expect(answer["count"] == .int(count) && answer["precision"] == "exact", "\(to): \(answer)")
                // The number of targets of a message is the same.
                guard to["keys"] == nil, to["users"] == nil else { continue }
                let sent = try await stage.native(.POST, "/v1/messages", ["app": "shop", "to": to, "body": "b"])
                #expect(sent.status == 202, "\(sent.text)")
            }
            #expect(try await size(stage, "everyone", as: stage.otherKey)["count"] == 0)
            let wrong = try await stage.native(.POST, "/v1/apps/shop/audience-size", ["to": ["tags": "a &&"]])
            #expect(wrong.status == 422 && wrong.text.contains("to.tags: "), "\(wrong.text)")
            let none = try await stage.native(.POST, "/v1/apps/none/audience-size", ["to": "everyone"])
            #expect(none.status == 404)
        }
    }

    @Test func theTargetsThatGetNothingAreCounted() async throws {
        try await NativeStage.on { stage in
            for number in 0..<6 {
                let device: JSON = [
                    "app": "shop", "platform": "ios", "key": .string("k-\(number)"), "user": .string("u-\(number)"),
                    "tags": ["seoul"],
                ]
                #expect(try await stage.native(.POST, "/v1/devices", device).status == 201)
            }
            try await run(
                stage,
                "UPDATE gateway.identity SET accepts_push = false WHERE tenant_id = 'own' AND key IN ('k-1', 'k-2')"
            )
            try await run(
                stage,
                """
                UPDATE gateway.device SET time_zone = 'Asia/Seoul' WHERE tenant_id = 'own' AND device_id = (
                    SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = 'own' AND i.key = 'k-3')
                """
            )
            // Quiet from 22:00 until 08:00 on the clock of the device.
            try await run(
                stage,
                """
                UPDATE gateway.app SET defaults = defaults
                    || '{"timeZone": "UTC"}'
                    || '{"quiet": {"from": 1320, "to": 480, "zone": null, "lanes": [2, 3], "hold": "delay"}}'
                WHERE tenant_id = 'own' AND app_id = 'shop'
                """
            )
            let times: [(JSON, Int)] = [
                ("2030-01-01T12:00:00Z", 0), ("2030-01-01T14:00:00Z", 1), ("2030-01-01T03:00:00Z", 3),
                (["local": "2030-01-01T12:00:00"], 0), (["local": "2030-01-01T03:00:00"], 4),
            ]
            for to in ["everyone", ["tags": "seoul"], ["users": ["u-0", "u-1", "u-2", "u-3", "u-4", "u-5"]]] as [JSON] {
                for (due, quiet) in times {
                    let body: JSON = ["to": to, "excluded": true, "sendAt": due]
                    let answer = try await stage.native(.POST, "/v1/apps/shop/audience-size", body)
                    let expected: JSON = ["count": 6, "precision": "exact", "optedOut": 2, "quiet": .int(quiet)]
                    #expect(answer.json == expected, "\(to), \(due): \(answer.text)")
                }
            }
            // Listed targets are not read, and without `excluded` none are.
            for body in [["to": ["keys": ["k-1"]], "excluded": true], ["to": "everyone"]] as [JSON] {
                let answer = try await stage.native(.POST, "/v1/apps/shop/audience-size", body)
                #expect(answer.json?["optedOut"] == .null && answer.json?["quiet"] == .null, "\(answer.text)")
            }
        }
    }

    @Test func aLargeAudienceIsCountedUpToALimit() async throws {
        try await NativeStage.on { stage in
            try await run(
                stage,
                """
                INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, state, user_id, registered_at, created_at)
                SELECT 'own', gen_random_uuid(), 'shop', 'native', 'k-' || n, 'active', 'u-' || n, now(), now() FROM generate_series(1, 15000) n
                """
            )
            try await run(
                stage,
                """
                INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
                SELECT 'own', 'shop', 'native', 'seoul', i.identity_id FROM gateway.identity i WHERE i.tenant_id = 'own'
                """
            )
            try await run(
                stage,
                "INSERT INTO gateway.identity_count (tenant_id, app_id, vendor, bucket, active) VALUES ('own', 'shop', 'native', 0, 15000)"
            )
            let tagged = try await size(stage, ["tags": "seoul"])
            let count = tagged["count"]?.int ?? 0
            #expect(tagged["precision"] == "atLeast" && count >= 10_000 && count <= 15_000, "\(tagged)")
            let everyone = try await size(stage, "everyone")
            let none = JSON.null
            #expect(
                everyone == ["count": 15000, "precision": "exact", "optedOut": none, "quiet": none],
                "\(everyone)"
            )
            // More are not looked at.
            let body: JSON = ["to": "everyone", "excluded": true]
            let excluded = try await stage.native(.POST, "/v1/apps/shop/audience-size", body)
            #expect(excluded.json == everyone, "\(excluded.text)")
            try await run(stage, "UPDATE gateway.app SET shares_devices = true WHERE tenant_id = 'own'")
            #expect(try await size(stage, "everyone")["precision"] == "about")
        }
    }

    @Test func theQueueShowsLanesAndCredentialsThatHoldSlices() async throws {
        try await NativeStage.on { stage in
            try await stage.register("k", token: "aa01")
            _ = try await stage.send(to: "k")
            let answer = try await stage.native(.GET, "/v1/queue", as: stage.readKey)
            let lane = answer.json?["lanes"]?.array?.first { $0["lane"] == "transactional" }
            #expect(lane?["open"] == 1 && lane?["paused"] == false && lane?["more"] == false, "\(answer.text)")
            try await run(
                stage,
                "UPDATE gateway.slice SET held_by = 'apple', state = 'ready', next_at = now() - interval '5 s' WHERE tenant_id = 'own'"
            )
            try await run(stage, "UPDATE gateway.lane SET is_paused = true WHERE tenant_id = 'own'")
            let held = try await stage.native(.GET, "/v1/queue").json
            #expect(held?["heldBy"] == [["credential": "apple", "slices": 1]], "\(held ?? .null)")
            let due = held?["lanes"]?.array?.first { $0["lane"] == "transactional" }
            #expect(
                due?["due"] == 1 && due?["paused"] == true && due?["oldestDueAt"]?.string != nil,
                "\(held ?? .null)"
            )
            // I6
            let other = try await stage.native(.GET, "/v1/queue", as: stage.otherKey).json
            #expect(other?["heldBy"] == [] && (other?["lanes"]?.array ?? []).allSatisfy { $0["open"] == 0 })
        }
    }

    @Test func nodesAreListedInPages() async throws {
        try await NativeStage.on { stage in
            for node in ["n-1", "n-2", "n-3"] {
                try await run(stage, "INSERT INTO gateway.node (node_id) VALUES ('\(node)') ON CONFLICT DO NOTHING")
            }
            var found: [String] = []
            var after = ""
            while true {
                let page = try await stage.native(.GET, "/v1/nodes?limit=2\(after)").json
                found += (page?["nodes"]?.array ?? []).compactMap { $0["node"]?.string }
                guard let next = page?["next"]?.string else { break }
                after = "&after=\(next)"
            }
            #expect(Set(found).isSuperset(of: ["n-1", "n-2", "n-3"]) && found == found.sorted())
            try await run(stage, "DELETE FROM gateway.node WHERE node_id LIKE 'n-_'")
        }
    }

    @Test func credentialsAndBindingsShowNoSecret() async throws {
        try await NativeStage.on { stage in
            let credentials = try await stage.native(.GET, "/v1/credentials")
            let apple = credentials.json?["credentials"]?.array?.first
            #expect(apple?["credential"] == "apple" && apple?["keyId"] == "KEY0000001", "\(credentials.text)")
            // Its sealed secret is not one: the check says so.
            #expect(apple?["usable"] == false && apple?["uses"]?.array?.count == 2)
            let bindings = try await stage.native(.GET, "/v1/apps/shop/bindings")
            let hub = bindings.json?["bindings"]?.array?.first
            #expect(hub?["vendor"] == "notificationhubs" && hub?["kind"] == "hub", "\(bindings.text)")
            #expect(
                hub?["key"] != "native-hub" && hub?["settings"]?["sealed.primary/Full"] == "***",
                "\(bindings.text)"
            )
            #expect(!bindings.text.contains("a key of the native hub") && !bindings.text.contains("native-hub"))
            for path in ["/v1/credentials", "/v1/apps/shop/bindings", "/v1/nodes"] {
                #expect(try await stage.native(.GET, path, as: stage.readKey).status == 403, "\(path)")
            }
            // I6
            let other = try await stage.native(.GET, "/v1/apps/shop/bindings", as: stage.otherKey)
            #expect(other.json?["bindings"] == [], "\(other.text)")
        }
    }
}
