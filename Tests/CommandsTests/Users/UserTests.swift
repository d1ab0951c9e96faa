import DatabaseSupport
import Model
import TestKit
import Testing

@testable import Commands

/// Users as back ends describe them: attributes, acts, names.
@Suite struct UserTests {
    // MARK: Attributes

    private func edit(_ old: JSONObject, _ changes: AttributeChange...) -> JSONObject? {
        try? AttributeEditing.apply(changes, to: old).get()
    }

    @Test func attributesAreSetRemovedAndCounted() {
        #expect(edit(["a": 1], AttributeChange("b", .set("x"))) == ["a": 1, "b": "x"])
        #expect(edit(["a": 1], AttributeChange("a", .remove)) == JSONObject())
        #expect(edit(JSONObject(), AttributeChange("n", .increase("5"))) == ["n": 5])
        #expect(edit(["n": 5], AttributeChange("n", .increase("-7"))) == ["n": -2])
        #expect(edit(["n": 5], AttributeChange("n", .increase("0.5"))) == ["n": .number("5.5")])
        // A text that is not a number, and a result beyond the range of numbers.
        #expect(edit(["n": "5"], AttributeChange("n", .increase("1"))) == nil)
        #expect(edit(["n": .int(Int64.max)], AttributeChange("n", .increase("1"))) == nil)
        #expect(edit(["n": .number("1e308")], AttributeChange("n", .increase("1e308"))) == nil)
        #expect(edit(["n": 1], AttributeChange("n", .increase("x"))) == nil)
    }

    // docs/contracts/braze.md#3.3: sessions, reported in any order.
    @Test func theFirstAndTheLastTimeAreKept() {
        #expect(edit(JSONObject(), AttributeChange("a", .first("x"))) == ["a": "x"])
        #expect(edit(["a": 1], AttributeChange("a", .first("x"))) == ["a": 1])
        #expect(edit(JSONObject(), AttributeChange("t", .latest("2026-01-02"))) == ["t": "2026-01-02"])
        #expect(edit(["t": "2026-01-01"], AttributeChange("t", .latest("2026-01-02"))) == ["t": "2026-01-02"])
        #expect(edit(["t": "2026-01-03"], AttributeChange("t", .latest("2026-01-02"))) == ["t": "2026-01-03"])
        #expect(edit(["t": 7], AttributeChange("t", .latest("2026-01-02"))) == ["t": "2026-01-02"])
    }

    @Test func listsHoldEachValueOnce() {
        #expect(edit(JSONObject(), AttributeChange("l", .append(["a", "b", "a"]))) == ["l": ["b", "a"]])
        #expect(edit(["l": ["a", "b"]], AttributeChange("l", .append(["a"]))) == ["l": ["b", "a"]])
        #expect(edit(["l": ["a", 1]], AttributeChange("l", .withdraw([1, "x"]))) == ["l": ["a"]])
        #expect(edit(JSONObject(), AttributeChange("l", .withdraw(["x"]))) == JSONObject())
        #expect(edit(["l": "a"], AttributeChange("l", .append(["b"]))) == nil)
        let many = (0...CommandLimits.userListCount).map { JSON.int($0) }
        #expect(edit(JSONObject(), AttributeChange("l", .append(many))) == nil)
        #expect(edit(JSONObject(), AttributeChange("l", .append(many.dropLast()))) != nil)
    }

    @Test func objectsAreMergedMemberByMember() {
        let old: JSONObject = ["o": ["a": ["x": 1, "y": 2], "b": 3]]
        #expect(
            edit(old, AttributeChange("o", .merge(["a": ["y": .null, "z": 4], "b": ["c": 5]])))
                == ["o": ["a": ["x": 1, "z": 4], "b": ["c": 5]]]
        )
        #expect(edit(["o": 7], AttributeChange("o", .merge(["a": 1]))) == ["o": ["a": 1]])
    }

    @Test func attributesAreBounded() {
        let full = JSONObject((0..<CommandLimits.userAttributes).map { ("a\($0)", .int($0)) })
        #expect(edit(full, AttributeChange("a0", .set("x"))) != nil)
        #expect(edit(full, AttributeChange("one more", .set("x"))) == nil)
        let long = JSON.string(String(repeating: "x", count: CommandLimits.userAttributeBytes))
        #expect(edit(JSONObject(), AttributeChange("a", .set(long))) == nil)
        func nested(_ depth: Int) -> JSON { depth == 0 ? 1 : ["o": nested(depth - 1)] }
        #expect(edit(JSONObject(), AttributeChange("a", .set(nested(CommandLimits.userAttributeDepth)))) != nil)
        #expect(edit(JSONObject(), AttributeChange("a", .set(nested(CommandLimits.userAttributeDepth + 1)))) == nil)
    }

    // MARK: Batches

    private func act(_ user: UserName, _ name: String, at: Timestamp, only: Bool = false) -> UserAct {
        UserAct(user: user, updatesOnly: only, kind: .event, name: name, at: at, data: ["p": 1])
    }

    private func described(_ world: CommandWorld, _ names: [UserName]) async -> [DescribedUser?] {
        guard case .user(.described(let users))? = await world.reply(.user(.describe(names))) else { return [] }
        return users
    }

    @Test func aBatchWithAKeyIsWrittenOnce() async throws {
        let world = try await CommandWorld.make()
        let patch = UserPatch(user: .id("hong"), changes: [AttributeChange("n", .increase("1"))])
        let acts = [act(.id("hong"), "seen", at: world.clock.now()), act(.id("hong"), "seen", at: world.clock.now())]
        let batch = UserBatch(patches: [patch], acts: acts, repeatKey: "k")
        for _ in 0..<2 {
            let reply = await world.reply(.user(.track(batch)))
            #expect(reply == .user(.tracked(patches: [nil], acts: [nil, nil])))
        }
        var user = try #require(await described(world, [.id("hong")]).first ?? nil)
        #expect(user.attributes == ["n": 1])
        // Two equal acts in one batch are two acts.
        #expect(user.tallies.map(\.count) == [2])
        // Without a repeat key the acts are recognized, and the increment of the attribute is not.
        _ = await world.reply(.user(.track(UserBatch(patches: [patch], acts: acts))))
        user = try #require(await described(world, [.id("hong")]).first ?? nil)
        #expect(user.attributes == ["n": 2] && user.tallies.map(\.count) == [2])
    }

    @Test func anErrorAffectsItsOwnElementOnly() async throws {
        let world = try await CommandWorld.make()
        let long = String(repeating: "x", count: CommandLimits.actNameBytes + 1)
        let batch = UserBatch(
            patches: [
                UserPatch(user: .id("hong"), changes: [AttributeChange("n", .set("x"))]),
                UserPatch(user: .id("hong"), changes: [AttributeChange("n", .increase("1"))]),
                UserPatch(user: .id("\u{1F}x"), changes: []),
                UserPatch(user: .id("nobody"), updatesOnly: true, changes: [AttributeChange("n", .set(1))]),
            ],
            acts: [
                act(.id("hong"), long, at: world.clock.now()),
                act(.id("ghost"), "e", at: world.clock.now(), only: true),
                act(.id("kim"), "e", at: world.clock.now()),
            ]
        )
        #expect(
            await world.reply(.user(.track(batch)))
                == .user(
                    .tracked(
                        patches: [nil, .invalid("attributes.n"), .invalid("user"), nil],
                        acts: [.invalid("name"), nil, nil]
                    )
                )
        )
        let users = await described(world, ["hong", "nobody", "ghost", "kim"].map { .id($0) })
        #expect(users.map { $0?.user } == ["hong", nil, nil, "kim"])
        #expect(users.first??.attributes == ["n": "x"])
    }

    @Test func devicesAreImportedWithTheirUser() async throws {
        let world = try await CommandWorld.make()
        func device(_ digit: String) -> DeviceRegistration {
            let token = DeviceToken(stored: String(repeating: digit, count: 64))
            return DeviceRegistration(key: VendorDeviceKey("d\(digit)"), platform: .ios, token: token)
        }
        let batch = UserBatch(patches: [
            UserPatch(user: .id("hong"), acceptsPush: false, devices: [device("a"), device("b")]),
            UserPatch(user: nil, devices: [device("a"), device("c")]),
        ])
        _ = await world.reply(.user(.track(batch)))
        let user = try #require(await described(world, [.id("hong")]).first ?? nil)
        #expect(user.devices.map(\.key) == ["da", "db"])
        #expect(user.devices.allSatisfy { !$0.acceptsPush })
        // Imported once more: a device with a known token keeps its user.
        let again = UserBatch(patches: [UserPatch(user: nil, devices: [device("a")])])
        _ = await world.reply(.user(.track(again)))
        #expect(await described(world, [.id("hong")]).first??.devices.map(\.key) == ["da", "db"])
    }

    // MARK: Names

    @Test func anAliasBecomesAUser() async throws {
        let world = try await CommandWorld.make()
        let alias = UserAlias(label: "crm", name: "7")
        #expect(
            await world.reply(
                .user(.name([NamedUser(user: nil, alias: alias), NamedUser(user: "ghost", alias: alias)]))
            )
                == .user(.named(1))
        )
        let tracked = UserBatch(
            patches: [
                UserPatch(
                    user: .alias(alias),
                    updatesOnly: true,
                    changes: [AttributeChange("city", .set("Seoul")), AttributeChange("n", .set(1))]
                ), UserPatch(user: .id("hong"), changes: [AttributeChange("n", .set(2))]),
            ],
            acts: [act(.alias(alias), "seen", at: world.clock.now())]
        )
        _ = await world.reply(.user(.track(tracked)))
        let before = await described(world, [.alias(alias), .id("hong")])
        #expect(before.map { $0?.isAnonymous } == [true, false])
        let identify = UserCommand.identify([NamedUser(user: "hong", alias: alias)])
        #expect(await world.reply(.user(identify)) == .user(.identified(1)))
        let after = await described(world, [.alias(alias)])
        // Existing values of the user have precedence.
        #expect(after.first??.user == "hong" && after.first??.attributes == ["n": 2, "city": "Seoul"])
        #expect(after.first??.tallies.map(\.count) == [1] && after.first??.aliases == [alias])
        #expect(await world.reply(.user(.erase([.alias(alias), .id("x")]))) == .user(.erased(1)))
        #expect(await described(world, [.alias(alias), .id("hong")]) == [nil, nil])
    }

    @Test func aUserIsMergedIntoAnother() async throws {
        let world = try await CommandWorld.make()
        let alias = UserAlias(label: "crm", name: "7")
        let device = DeviceRegistration(key: "d", platform: .ios, token: DeviceToken(stored: "aa"))
        let batch = UserBatch(
            patches: [
                UserPatch(
                    user: .id("old"),
                    changes: [AttributeChange("city", .set("Seoul")), AttributeChange("n", .set(1))],
                    acceptsPush: true,
                    consents: ["news": .subscribed, "sale": .subscribed],
                    devices: [device]
                ),
                UserPatch(
                    user: .id("hong"),
                    changes: [AttributeChange("n", .set(2))],
                    acceptsPush: false,
                    consents: ["news": .unsubscribed]
                ), UserPatch(user: .alias(alias)),
            ],
            acts: [act(.id("old"), "seen", at: world.clock.now()), act(.id("hong"), "seen", at: world.clock.now())]
        )
        _ = await world.reply(.user(.track(batch)))
        let merges = [
            UserMerge(.id("old"), into: .id("hong")), UserMerge(.alias(alias), into: .id("hong")),
            // An unknown user, the user itself, and a user who was merged away.
            UserMerge(.id("x"), into: .id("hong")), UserMerge(.id("hong"), into: .id("y")),
            UserMerge(.id("hong"), into: .id("hong")), UserMerge(.id("hong"), into: .id("old")),
        ]
        #expect(await world.reply(.user(.merge(merges))) == .user(.merged(2)))
        let found = await described(world, [.id("old"), .id("hong"), .alias(alias)])
        let user = try #require(found[1])
        #expect(found[0] == nil && found[2]?.user == "hong")
        #expect(user.attributes == ["n": 2, "city": "Seoul"])
        #expect(user.consents == ["news": .unsubscribed, "sale": .subscribed])
        // Both users had the same act at the same time: it is stored once, and the tally is the sum of both.
        #expect(user.tallies.map(\.count) == [2])
        #expect(user.devices.map(\.key) == ["d"] && user.devices.map(\.acceptsPush) == [false])
        #expect(await world.reply(.user(.merge([UserMerge(.id(""), into: .id("hong"))]))) == .refused(.invalid("user")))
        #expect(await world.reply(.user(.merge(merges))) == .user(.merged(0)))
    }

    @Test func tooManyAreRefusedAtOnce() async throws {
        let world = try await CommandWorld.make()
        let names = (0...CommandLimits.usersPerCall).map { UserName.id(UserID("u\($0)")) }
        let limit = CommandLimits.usersPerCall
        #expect(await world.reply(.user(.describe(names))) == .refused(.tooMany("users", limit: limit)))
        #expect(await world.reply(.user(.erase(names))) == .refused(.tooMany("users", limit: limit)))
        let patches = names.map { UserPatch(user: $0) }
        #expect(
            await world.reply(.user(.track(UserBatch(patches: patches)))) == .refused(.tooMany("patches", limit: limit))
        )
    }
}
