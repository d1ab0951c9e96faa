import CommandSupport
import Foundation
import Model
import Testing

/// Tags, groups and users in the native API, from registration to the push.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct AudienceTests {
    @Test func eachAudienceRingsWhomItMeansOnce() async throws {
        try await World.with { world in
            try #require(try await world.apply().status == 0)
            try await register(world)
            try await groups(world)
            try await sends(world)
            try await refusals(world)
        }
    }

    /// Six devices: two for each of three users. The even ones are in Seoul, the first two are for tests.
    private func register(_ world: World) async throws {
        for index in 0..<6 {
            let tags: [String] = (index.isMultiple(of: 2) ? ["Seoul"] : []) + (index < 2 ? ["test"] : [])
            let answer = try await world.native(
                "POST",
                "/v1/devices",
                [
                    "app": "shop", "platform": "ios", "token": .string(String(format: "%064x", index + 1)),
                    "key": .string("device-\(index)"), "user": .string("user-\(index / 2)"),
                    "tags": .array(tags.map { .string($0) }),
                ]
            )
            try #require(answer.status == 201, "\(answer.text)")
            let id = try #require(answer.json?["id"]?.string)
            guard index == 5 else { continue }
            let patched = try await world.native("PATCH", "/v1/devices/\(id)", ["tags": ["vip", "Busan"]])
            let shown = patched.json?["identities"]?.array?.first?["tags"]
            #expect(shown == ["busan", "vip"], "\(patched.text)")
        }
    }

    private func groups(_ world: World) async throws {
        let path = "/v1/apps/shop/groups/early%20birds"
        #expect(try await world.native("GET", path).status == 404)
        #expect(try await world.native("PUT", path).status == 201)
        #expect(try await world.native("PUT", path).status == 200)
        let members: JSON = ["add": ["user-0", "user-2", "nobody"], "remove": ["user-1"]]
        let changed = try await world.native("POST", path + "/members", members)
        #expect(changed.status == 200 && changed.json == ["added": 3, "removed": 0], "\(changed.text)")
        let shown = try await world.native("GET", path)
        #expect(shown.json?["members"]?.int == 3 && shown.json?["group"]?.string == "early birds", "\(shown.text)")
        #expect(try await world.native("PUT", "/v1/apps/nowhere/groups/g").status == 404)
        #expect(try await world.native("POST", "/v1/apps/shop/groups/none/members", members).status == 404)
        for body in [[:], ["add": []], ["add": ["u"], "more": 1], ["remove": "u"]] as [JSON] {
            #expect(try await world.native("POST", path + "/members", body).status == 422)
        }
        #expect(try await world.native("PATCH", path).status == 405)
    }

    private func sends(_ world: World) async throws {
        // Named at once while it can be counted; null while it is expanded.
        let audiences: [(JSON, recipients: Int?, sent: Int)] = [
            (["users": ["user-0", "user-2"]], 4, 4), (["users": ["user-0", "nobody"]], 3, 2),
            (["groups": ["early birds"]], nil, 4), (["tags": "seoul && !test"], nil, 2), (["tags": "!seoul"], nil, 3),
            (["tags": "vip || test"], nil, 3), (["tags": "nobody_has_that"], nil, 0), ("everyone", nil, 6),
        ]
        for (to, recipients, sent) in audiences {
            let answer = try await world.native("POST", "/v1/messages", ["app": "shop", "to": to, "body": "b"])
            try #require(answer.status == 202, "\(answer.text)")
            #expect(answer.json?["recipients"]?.int == recipients.map { Int64($0) }, "\(JSONWriter.text(to))")
            let funnel = try await world.funnel(of: try #require(answer.json?["id"]?.string))
            #expect(funnel["sent"]?.int == Int64(sent), "\(JSONWriter.text(to)): \(JSONWriter.text(funnel))")
        }
        #expect(try await world.pairs() == (24, 0))
        #expect(try await world.native("DELETE", "/v1/users/user-2").status == 200)
        let shown = try await world.native("GET", "/v1/apps/shop/groups/early%20birds")
        #expect(shown.json?["members"]?.int == 2, "\(shown.text)")
        #expect(try await world.native("DELETE", "/v1/apps/shop/groups/early%20birds").status == 204)
    }

    private func refusals(_ world: World) async throws {
        let wrong: [(JSON, Int)] = [
            (["tags": "a &&"], 422), (["groups": ["early birds"]], 404), (["users": []], 422), ("all", 422),
            (["users": ["u"], "phones": ["010"]], 422), (7, 422),
        ]
        for (to, status) in wrong {
            let answer = try await world.native("POST", "/v1/messages", ["app": "shop", "to": to, "body": "b"])
            #expect(answer.status == status, "\(JSONWriter.text(to)): \(answer.text)")
        }
        let device: JSON = ["app": "shop", "platform": "ios", "key": "k", "tags": ["a b"]]
        #expect(try await world.native("POST", "/v1/devices", device).status == 422)
    }
}
