import Commands
import DatabaseSupport
import Model
import Testing

@testable import Store

/// Audiences that are described by an expression instead of a list.
@Suite struct AudienceTests {
    private func registration(_ key: String, user: UserID, token: String? = nil) -> Model.Command {
        let registration = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: .ios,
            token: token.map { DeviceToken(stored: $0) },
            user: user
        )
        return .registration(.register(registration))
    }

    private func register(_ world: CommandWorld, _ key: String, user: UserID, token: String? = nil) async {
        _ = await world.perform(registration(key, user: user, token: token))
    }

    private func submit(_ audience: Audience, _ world: CommandWorld) async -> CallResult {
        await world.submit(Submission(content: Content(body: "b"), audience: audience))
    }

    @Test func aListedUserReachesAllDevicesAndIsCountedAtOnce() async throws {
        let world = try await CommandWorld.make()
        await register(world, "k1", user: "u1", token: "aa")
        await register(world, "k2", user: "u1", token: "bb")
        await register(world, "k3", user: "u1")
        await register(world, "k4", user: "u2", token: "cc")
        let result = await submit(.users(["u1", "nobody", "u1"]), world)
        let message = try #require(try await world.message(result))
        // The user has two devices, one without a token; the other user has no device.
        #expect(result.replies == [.submission(.accepted(message.id, recipients: 4))])
        #expect(message.slices.map(\.targets.count) == [2] && message.audience == nil)
        #expect(message.slices.first?.addresses == [.user("u1"), .user("u1")])
        #expect(message.suppressed.map(\.reason) == [.noDevice, .noDevice])
        #expect(message.suppressed.map(\.address) == [.user("u1"), .user("nobody")])
    }

    // A device receives one push per message.
    @Test func twoIdentitiesOfAUserOnOneDeviceAreOneTarget() async throws {
        let world = try await CommandWorld.make()
        await register(world, "k1", user: "u1", token: "aa")
        var call = world.call
        call.vendor = .braze
        let registration = DeviceRegistration(key: "b1", platform: .ios, token: DeviceToken(stored: "aa"), user: "u1")
        _ = await world.handler.perform([.registration(.register(registration))], in: call)
        call.vendor = .native
        let submission = Submission(content: Content(body: "b"), audience: .users(["u1"]))
        let result = await world.handler.perform([.submission(.submit(submission))], in: call)
        let message = try #require(try await world.message(result))
        #expect(message.recipients == 1 && message.slices.map(\.targets.count) == [1] && message.suppressed.isEmpty)
    }

    @Test func usersWithTooManyDevicesToCountAreExpanded() async throws {
        let world = try await CommandWorld.make()
        await world.performAll((0...Audience.listedLimit).map { registration("k\($0)", user: "guest") })
        let result = await submit(.users(["guest", "guest"]), world)
        let message = try #require(try await world.message(result))
        #expect(result.replies == [.submission(.accepted(message.id, recipients: nil))])
        #expect(message.audience == ["users": ["guest"]])
        #expect(message.slices == [NewSlice(number: 0, work: .expand(after: nil))])
        _ = await world.registration(.unregister(.key("k0")))
        let fewer = try #require(try await world.message(submit(.users(["guest"]), world)))
        #expect(fewer.recipients == Audience.listedLimit && fewer.audience == nil)
    }

    @Test func groupsAreExpandedAndAnUnknownGroupIsNamed() async throws {
        let world = try await CommandWorld.make()
        #expect(await world.reply(.group(.put("g"))) == .group(.put(isNew: true)))
        let change = GroupChange(add: ["u1", "u2"])
        #expect(
            await world.reply(.group(.changeMembers("g", change)))
                == .group(.membersChanged(added: 2, removed: 0))
        )
        #expect(await submit(.groups(["g", "h"]), world).replies == [.refused(.unknownGroup("h"))])
        let result = await submit(.groups(["g", "g"]), world)
        let message = try #require(try await world.message(result))
        #expect(message.audience == ["groups": ["g"]])
        #expect(result.replies == [.submission(.accepted(message.id, recipients: nil))])
        #expect(result.handover.map(\.work) == [.expand(after: nil)])
    }

    @Test func aVendorThatNeedsACountGetsTheGroupsMaintainedCount() async throws {
        let world = try await CommandWorld.make(policy: CommandPolicy(countedVendors: [.rationalOwl]))
        for name in ["g", "h"] as [GroupName] { _ = await world.reply(.group(.put(name))) }
        _ = await world.reply(.group(.changeMembers("g", GroupChange(add: ["u1", "u2"]))))
        _ = await world.reply(.group(.changeMembers("h", GroupChange(add: ["u3"]))))
        let message = try #require(try await world.message(submit(.groups(["g", "h"]), world)))
        #expect(message.recipients == 3)
        let tagged = try #require(try await world.message(submit(.tags(try TagExpression("a")), world)))
        #expect(tagged.recipients == nil)
    }

    @Test func tagsAreExpandedAsTheyWereWritten() async throws {
        let world = try await CommandWorld.make()
        let expression = try TagExpression("a && !b")
        let result = await submit(.tags(expression), world)
        let message = try #require(try await world.message(result))
        #expect(message.audience == AudienceCoding.encode(.tags(expression)))
        #expect(message.slices == [NewSlice(number: 0, work: .expand(after: nil))])
    }

    @Test func emptyAndOversizedAudiencesAreRefused() async throws {
        let world = try await CommandWorld.make()
        let users = (0...Audience.listedLimit).map { UserID("u\($0)") }
        let groups = (0...Audience.groupLimit).map { GroupName("g\($0)") }
        let wide = (0..<10).map { "(x\($0) || y\($0))" }.joined(separator: " && ")
        let expression = try TagExpression(wide, limits: TagExpression.Limits(tags: 20))
        let refusals: [(Audience, Refusal)] = [
            (.users([]), .invalid("audience")), (.users([""]), .invalid("audience")),
            (.users(["a\u{0}"]), .invalid("audience")), (.users(users), .tooMany("audience", limit: 2000)),
            (.groups([]), .invalid("audience")), (.groups([""]), .invalid("audience")),
            (.groups(groups), .tooMany("audience", limit: 50)), (.tags(expression), .tooMany("tags", limit: 62)),
        ]
        for (audience, refusal) in refusals {
            #expect(await submit(audience, world).replies == [.refused(refusal)])
        }
    }

    @Test func aDeviceChangesTheMembershipOfItsOwnUserOnly() async throws {
        let world = try await CommandWorld.make()
        await register(world, "k1", user: "u1", token: "aa")
        await register(world, "k2", user: "u2")
        _ = await world.reply(.group(.put("g")))
        func reply(_ change: GroupChange, by device: DeviceCaller) async -> Reply? {
            var change = change
            change.device = device
            return await world.reply(.group(.changeMembers("g", change)))
        }
        let join = GroupChange(add: ["u1"])
        let joined = Reply.group(.membersChanged(added: 1, removed: 0))
        #expect(await reply(join, by: DeviceCaller(key: "k2")) == .refused(.unknownDevice))
        #expect(await reply(join, by: DeviceCaller(key: "k3")) == .refused(.unknownDevice))
        #expect(await reply(join, by: DeviceCaller(user: "u1")) == .refused(.unknownDevice))
        #expect(await reply(join, by: DeviceCaller(key: "k1")) == joined)
        let leave = GroupChange(remove: ["u1"])
        #expect(await reply(leave, by: DeviceCaller(key: "k2")) == .refused(.unknownDevice))
        let both = GroupChange(remove: ["u1", "u2"])
        #expect(await reply(both, by: DeviceCaller(key: "k1")) == .refused(.unknownDevice))
        let token = DeviceCaller(key: "other", token: DeviceToken(stored: "aa"))
        #expect(await reply(leave, by: token) == .group(.membersChanged(added: 0, removed: 1)))
    }

    @Test func changesOfGroupsAreBoundedAndTheirNamesStorable() async throws {
        let world = try await CommandWorld.make()
        func reply(_ command: GroupCommand) async -> Reply? { await world.reply(.group(command)) }
        #expect(await reply(.put("")) == .refused(.invalid("group")))
        #expect(await reply(.put("a\u{0}")) == .refused(.invalid("group")))
        #expect(await reply(.find("none")) == .refused(.unknownGroup("none")))
        #expect(await reply(.delete("none")) == .refused(.unknownGroup("none")))
        let one = GroupChange(add: ["u"])
        #expect(await reply(.changeMembers("none", one)) == .refused(.unknownGroup("none")))
        _ = await reply(.put("g"))
        #expect(await reply(.put("g")) == .group(.put(isNew: false)))
        #expect(await reply(.changeMembers("g", GroupChange())) == .refused(.invalid("members")))
        #expect(await reply(.changeMembers("g", GroupChange(add: [""]))) == .refused(.invalid("members")))
        let users = (0...GroupChange.limit).map { UserID("u\($0)") }
        let many = GroupChange(add: Array(users.prefix(500)), remove: Array(users.suffix(501)))
        #expect(await reply(.changeMembers("g", many)) == .refused(.tooMany("members", limit: 1000)))
        _ = await reply(.changeMembers("g", one))
        guard case .group(.found(let facts))? = await reply(.find("g")) else {
            Issue.record("no group")
            return
        }
        #expect(facts.name == "g" && facts.memberCount == 1)
        #expect(await reply(.delete("g")) == .group(.deleted))
        var call = world.call
        call.app = "other"
        let elsewhere = await world.handler.perform([.group(.put("g"))], in: call)
        #expect(elsewhere.replies == [.refused(.unknownBinding)])
    }

    @Test func theGroupsOfAUserAreListed() async throws {
        let world = try await CommandWorld.make()
        for name in ["b", "a", "c"] as [GroupName] { _ = await world.reply(.group(.put(name))) }
        _ = await world.reply(.group(.changeMembers("b", GroupChange(add: ["u1", "u2"]))))
        _ = await world.reply(.group(.changeMembers("a", GroupChange(add: ["u1"]))))
        guard case .group(.groups(let found))? = await world.reply(.group(.groups(of: "u1"))) else {
            Issue.record("no groups")
            return
        }
        #expect(found.map(\.name) == ["a", "b"] && found.map(\.memberCount) == [1, 2])
        #expect(await world.reply(.group(.groups(of: "nobody"))) == .group(.groups([])))
        #expect(await world.reply(.group(.groups(of: ""))) == .group(.groups([])))
        var braze = world.call
        braze.vendor = .braze
        let other = await world.handler.perform([.group(.groups(of: "u1"))], in: braze)
        #expect(other.replies == [.group(.groups([]))], "the groups of another dialect")
    }

    @Test func anIdentityCarriesSixtyTagsAtMost() async throws {
        let world = try await CommandWorld.make()
        func reply(_ count: Int) async -> Reply? {
            let tags = (0..<count).compactMap { Tag("t\($0)") }
            return await world.registration(.register(DeviceRegistration(key: "k", platform: .ios, tags: tags)))
        }
        #expect(await reply(61) == .refused(.invalid("tags")))
        guard case .registration(.registered)? = await reply(60) else {
            Issue.record("sixty tags were refused")
            return
        }
    }
}
