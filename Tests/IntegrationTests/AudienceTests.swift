import CommandSupport
import Foundation
import Gateway
import Model
import Testing

/// Tags, groups and users in the native API, from registration to the push.
///
/// All tests share six devices: two for each of three users. The even ones are in Seoul, the first two are for tests, the
/// last is for important guests. The first and the last user are early birds.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.registerAudience() })
struct AudienceTests {
    private var world: World { get throws { try SharedWorld.current } }

    @Test func newTagsOfADeviceReplaceItsTagsInLowerCase() async throws {
        let found = try await world.native("GET", "/v1/devices?key=device-5")
        let id = try #require(found.json?["devices"]?.array?.first?["id"]?.string, "\(found.text)")
        for tags in [["seoul"], ["vip", "Busan"]] as [JSON] {
            let patched = try await world.native("PATCH", "/v1/devices/\(id)", ["tags": tags])
            #expect(patched.status == 200, "\(patched.text)")
        }
        let shown = try await world.native("GET", "/v1/devices/\(id)")
        #expect(shown.json?["identities"]?.array?.first?["tags"] == ["busan", "vip"], "\(shown.text)")
    }

    @Test func aTagWithASpaceIsRefused() async throws {
        let device: JSON = ["app": "shop", "platform": "ios", "key": "k", "tags": ["a b"]]
        #expect(try await world.native("POST", "/v1/devices", device).status == 422)
    }

    // MARK: Groups

    @Test func aGroupIsCreatedOnceCountsItsMembersAndIsRemoved() async throws {
        let path = "/v1/apps/shop/groups/night%20owls"
        #expect(try await world.native("GET", path).status == 404)
        #expect(try await world.native("PUT", path).status == 201)
        #expect(try await world.native("PUT", path).status == 200)
        let members: JSON = ["add": ["user-0", "user-2", "nobody"], "remove": ["user-1"]]
        let changed = try await world.native("POST", path + "/members", members)
        #expect(changed.status == 200 && changed.json == ["added": 3, "removed": 0], "\(changed.text)")
        let shown = try await world.native("GET", path)
        #expect(shown.json?["members"]?.int == 3 && shown.json?["group"]?.string == "night owls", "\(shown.text)")
        #expect(try await world.native("DELETE", path).status == 204)
        #expect(try await world.native("GET", path).status == 404)
    }

    @Test func anUnknownGroupOrAnInvalidChangeIsRefused() async throws {
        let path = "/v1/apps/shop/groups/early%20birds"
        #expect(try await world.native("PUT", "/v1/apps/nowhere/groups/g").status == 404)
        #expect(try await world.native("POST", "/v1/apps/shop/groups/none/members", ["add": ["u"]]).status == 404)
        for body in [[:], ["add": []], ["add": ["u"], "more": 1], ["remove": "u"]] as [JSON] {
            let answer = try await world.native("POST", path + "/members", body)
            #expect(answer.status == 422, "\(JSONWriter.text(body))")
        }
        #expect(try await world.native("PATCH", path).status == 405)
    }

    @Test func anErasedUserLeavesItsGroups() async throws {
        let world = try world
        try await world.registerMember("leaver", of: "leaver", tags: [])
        let path = "/v1/apps/shop/groups/leavers"
        #expect(try await world.native("PUT", path).status == 201)
        #expect(try await world.native("POST", path + "/members", ["add": ["leaver", "user-0"]]).status == 200)
        #expect(try await world.native("DELETE", "/v1/users/leaver").status == 200)
        let shown = try await world.native("GET", path)
        #expect(shown.json?["members"]?.int == 1, "\(shown.text)")
    }

    // MARK: Sends

    /// The recipients are counted at once if the audience names its users. nil: they are found during the expansion.
    private static let audiences: [(JSON, Int?, Int)] = [
        (["users": ["user-0", "user-2"]], 4, 4), (["users": ["user-0", "nobody"]], 3, 2),
        (["groups": ["early birds"]], nil, 4), (["tags": "seoul && !test"], nil, 2), (["tags": "!seoul"], nil, 3),
        (["tags": "vip || test"], nil, 3), (["tags": "nobody_has_that"], nil, 0), ("everyone", nil, 6),
    ]

    @Test(arguments: audiences)
    func eachDeviceOfAnAudienceGetsOnePush(to: JSON, recipients: Int?, sent: Int) async throws {
        let world = try world
        let before = try await world.pairs()
        let answer = try await world.native("POST", "/v1/messages", ["app": "shop", "to": to, "body": "b"])
        try #require(answer.status == 202, "\(answer.text)")
        #expect(answer.json?["recipients"]?.int == recipients.map { Int64($0) })
        let funnel = try await world.funnel(of: try #require(answer.json?["id"]?.string))
        #expect(funnel["sent"]?.int == Int64(sent), "\(JSONWriter.text(funnel))")
        let after = try await world.pairs()
        #expect(after.distinct - before.distinct == sent && after.repeats == before.repeats)
    }

    @Test(
        arguments: [
            (["tags": "a &&"], 422), (["groups": ["nobody's"]], 404), (["users": []], 422), ("all", 422),
            (["users": ["u"], "phones": ["010"]], 422), (7, 422),
        ] as [(JSON, Int)]
    )
    func anInvalidAudienceIsRefused(to: JSON, status: Int) async throws {
        let answer = try await world.native("POST", "/v1/messages", ["app": "shop", "to": to, "body": "b"])
        #expect(answer.status == status, "\(answer.text)")
    }
}

extension World {
    fileprivate func registerMember(
        _ key: String,
        of user: String,
        tags: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let token = SystemIdentifiers().randomHex(byteCount: 32)
        let device: JSON = [
            "app": "shop", "platform": "ios", "token": .string(token), "key": .string(key), "user": .string(user),
            "tags": .array(tags.map { .string($0) }),
        ]
        let answer = try await native("POST", "/v1/devices", device)
        try #require(answer.status == 201, "\(answer.text)", sourceLocation: sourceLocation)
    }

    fileprivate func registerAudience() async throws {
        for index in 0..<6 {
            let tags =
                (index.isMultiple(of: 2) ? ["Seoul"] : []) + (index < 2 ? ["test"] : []) + (index == 5 ? ["vip"] : [])
            try await registerMember("device-\(index)", of: "user-\(index / 2)", tags: tags)
        }
        let group = "/v1/apps/shop/groups/early%20birds"
        try #require(try await native("PUT", group).status == 201)
        try #require(try await native("POST", group + "/members", ["add": ["user-0", "user-2"]]).status == 200)
    }
}
