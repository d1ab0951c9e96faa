import DeliveryEngine
import FoundationEssentials
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The rules of users as back ends describe them.
@Suite struct UserRuleTests {
    private func profiles(_ world: RuleWorld, _ names: [UserName], in tenant: TenantID? = nil) async throws
        -> [StoredProfile?]
    {
        try await world.run(FindProfiles(world.scope, names), in: tenant)
    }

    private func put(_ world: RuleWorld, _ write: UserWrite) async throws -> Bool {
        try await world.run(PutUsers(world.scope, write))
    }

    private func act(_ user: UserID, _ digest: Character, _ name: String, at: Timestamp) -> UserWrite.Act {
        UserWrite.Act(
            user: user,
            digest: String(repeating: digest, count: 32),
            kind: .event,
            name: name,
            at: at,
            data: ["p": 1]
        )
    }

    private func tallies(_ world: RuleWorld, _ users: [UserID], limit: Int = 10) async throws
        -> [UsersOwn<ActTally>]
    {
        try await world.run(ListTallies(world.scope, of: users, limit: limit))
    }

    @Test func aUserIsChangedOnlyFromItsCurrentRevision() async throws {
        let world = try await RuleWorld.make()
        let profile = StoredProfile(user: "hong", attributes: ["city": "Seoul"])
        #expect(try await profiles(world, [.id("hong")]) == [nil], "nobody")
        #expect(try await put(world, UserWrite(profiles: [profile])) == false, "put")
        var kept = profile
        kept.revision = 1
        #expect(try await profiles(world, [.id("x"), .id("hong")]) == [nil, kept], "kept")
        #expect(try await profiles(world, [.id("hong")], in: world.otherTenant) == [nil], "another tenant")
        kept.attributes = ["city": "Busan"]
        _ = try await put(world, UserWrite(profiles: [kept]))
        // Both profiles have an outdated revision.
        for late in [profile, kept] {
            do {
                _ = try await put(world, UserWrite(profiles: [StoredProfile(user: "kim"), late]))
                #expect("done" == "refused", "a late change")
            } catch let error as StoreError {
                #expect(error.code == .conflict, "a late change")
            }
        }
        kept.revision = 2
        #expect(
            try await profiles(world, [.id("hong"), .id("kim")]) == [kept, nil],
            "no part of the batch is written"
        )
    }

    @Test func aUserWithoutAProfileIsKnownByItsDevices() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let token = world.newToken()
        _ = try await world.register(key, token: token, user: "hong")
        #expect(try await profiles(world, [.id("hong")]) == [StoredProfile(user: "hong")], "by a device")
        let known = try await world.run(FindKnownTokens(world.scope, [token, world.newToken()]))
        #expect(known == [token], "tokens")
        let (over, later) = (world.newToken(), world.newToken())
        let now = Int(world.now().seconds)
        _ = try await world.register(world.newKey(), endingAt: .int(now - 1), token: over)
        _ = try await world.register(world.newKey(), endingAt: .int(now + 3600), token: later)
        let ending = try await world.run(FindKnownTokens(world.scope, [over, later]))
        #expect(ending == [later], "tokens of an ended identity")
        _ = try await put(world, UserWrite(profiles: [StoredProfile(user: "hong", acceptsPush: false)]))
        let devices = try await world.run(ListUserDevices(world.scope, of: ["hong", "x"], limit: 5))
        let device = UserDevice(key: key, platform: .ios, token: token, acceptsPush: false)
        #expect(devices == [UsersOwn(user: "hong", value: device)], "devices")
    }

    @Test func aDeviceWhoseSystemShowsNoPushesReceivesNone() async throws {
        let world = try await RuleWorld.make()
        func takesPush(_ attributes: JSONObject, _ user: StoredProfile) async throws -> Bool? {
            let registration = DeviceRegistration(key: "d", platform: .ios, user: "hong", attributes: attributes)
            _ = try await world.run(
                RegisterDevice(
                    world.scope,
                    key: "d",
                    registration,
                    identity: IdentityID(UUID()),
                    device: DeviceID(UUID()),
                    at: world.now()
                )
            )
            _ = try await put(world, UserWrite(profiles: [user]))
            let devices = try await world.run(ListUserDevices(world.scope, of: ["hong"], limit: 5))
            #expect(devices.first?.value.attributes == attributes, "attributes reported by the device")
            return devices.first?.value.acceptsPush
        }
        var user = StoredProfile(user: "hong", acceptsPush: true)
        #expect(try await takesPush(["deniesPush": true], user) == false, "denied")
        user.revision = 1
        #expect(try await takesPush(["x": 1], user) == true, "after the attribute is removed")
        user.revision = 2
        user.acceptsPush = false
        #expect(try await takesPush(["deniesPush": false], user) == false, "the user's own choice")
    }

    @Test func consentsAreStoredAndUsedByMessagesThatRequireThem() async throws {
        let world = try await RuleWorld.make()
        let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
        let said: [String: ConsentState] = ["news \"é": .subscribed, "sale": .unsubscribed]
        var asked = StoredProfile(user: "hong", acceptsPush: true, isOptedIn: true, consents: said)
        let silent = StoredProfile(user: "kim", acceptsPush: true)
        _ = try await put(world, UserWrite(profiles: [asked, silent]))
        asked.revision = 1
        #expect(try await profiles(world, [.id("hong")]) == [asked], "as it was said")
        func optedIn(_ rule: ConsentRule) async throws -> [Bool?] {
            var message = world.message(to: hong.identities + kim.identities, claim: world.claim)
            message.content.consent = rule
            _ = try await world.accept(message)
            let work = try await world.deliveries.load(world.handover(message))
            #expect(work?.notification.content.consent == rule, "the message's rule")
            return (0..<4).map { work?.targets[$0]?.isOptedIn }
        }
        #expect(try await optedIn(.optedIn) == [true, true, false, false], "opted in")
        // Other messages cause no lookup.
        #expect(try await optedIn(.subscribed) == [false, false, false, false], "not looked at")
        #expect(try await optedIn(.all) == [false, false, false, false], "not looked at either")
        asked.isOptedIn = false
        asked.consents["sale"] = .subscribed
        _ = try await put(world, UserWrite(profiles: [asked]))
        asked.revision = 2
        #expect(try await profiles(world, [.id("hong")]) == [asked], "changed")
        #expect(try await optedIn(.optedIn) == [false, false, false, false], "no user left")
    }

    @Test func actsAndBatchesWithAKeyAreStoredAndCountedOnce() async throws {
        let world = try await RuleWorld.make()
        let (early, late) = (world.now(), world.now() + .seconds(60))
        let acts = [
            act("hong", "a", "seen", at: late), act("hong", "b", "seen", at: early),
            act("hong", "a", "seen", at: late), act("nobody", "c", "seen", at: early),
        ]
        let write = UserWrite(profiles: [StoredProfile(user: "hong")], acts: acts)
        _ = try await put(world, write)
        let tally = ActTally(kind: .event, name: "seen", count: 2, firstAt: early, lastAt: late)
        #expect(try await tallies(world, ["hong", "nobody"]) == [UsersOwn(user: "hong", value: tally)], "two")
        _ = try await put(world, UserWrite(acts: acts))
        #expect(try await tallies(world, ["hong"]).map(\.value.count) == [2], "the same again")
        let keyed = UserWrite(repeatKey: "k", acts: [act("hong", "d", "bought", at: early)])
        #expect(try await put(world, keyed) == false, "a batch")
        let again = UserWrite(repeatKey: "k", acts: [act("hong", "e", "bought", at: early)])
        #expect(try await put(world, again) == true, "its repeat")
        #expect(try await tallies(world, ["hong"]).map(\.value.count) == [1, 2], "no effect of the repeat")
        #expect(try await tallies(world, ["hong"], limit: 1).map(\.value.name) == ["seen"], "the latest")
    }

    @Test func anAliasBelongsToOneUserAndMovesWithIt() async throws {
        let world = try await RuleWorld.make()
        let (one, two) = (UserAlias(label: "crm", name: "1"), UserAlias(label: "crm", name: "2"))
        let write = UserWrite(
            profiles: [
                StoredProfile(user: "ghost", isAnonymous: true, attributes: ["a": 1]), StoredProfile(user: "hong"),
            ],
            aliases: [.init(one, of: "ghost"), .init(two, of: "hong"), .init(one, of: "hong")],
            acts: [act("ghost", "a", "seen", at: world.now()), act("hong", "a", "seen", at: world.now())]
        )
        _ = try await put(world, write)
        let key = world.newKey()
        _ = try await world.register(key, token: world.newToken(), user: "ghost")
        let found = try await profiles(world, [.alias(one), .alias(two), .alias(UserAlias(label: "x", name: "1"))])
        #expect(found.map { $0?.user } == ["ghost", "hong", nil], "the owners")
        let name = UserName.alias(one).text
        let resolve = ResolveUsers(world.scope, [name, "hong", "\u{1F}x\u{1F}1"], by: .names, limit: 10)
        let targets = try await world.run(resolve)
        #expect(targets.map(\.user) == [name], "the alias's device")
        _ = try await put(world, UserWrite(moves: [.init(from: "ghost", to: "hong")]))
        #expect(try await profiles(world, [.id("ghost"), .alias(one)]).map { $0?.user } == [nil, "hong"], "moved")
        #expect(try await tallies(world, ["hong"]).map(\.value.count) == [2], "what both did")
        #expect(try await world.standing(key)?.user == "hong", "the device")
        let aliases = try await world.run(ListAliases(world.scope, of: ["hong"], limit: 10))
        let both = [one, two].map { UsersOwn(user: UserID("hong"), value: $0) }
        #expect(aliases == both, "aliases")
    }

    @Test func aMergedUserBringsGroupsAndDevicesThatTakeOverThePushSetting() async throws {
        let world = try await RuleWorld.make()
        let group: GroupName = "staff"
        _ = try await world.run(PutGroup(world.scope, group))
        let change = GroupChange(add: ["old", "kim"], remove: [])
        _ = try await world.run(ChangeMembers(world.scope, group, change))
        let (key, token) = (world.newKey(), world.newToken())
        _ = try await world.register(key, token: token, user: "old")
        let profiles = [StoredProfile(user: "old"), StoredProfile(user: "hong", acceptsPush: false)]
        _ = try await put(world, UserWrite(profiles: profiles, moves: [.init(from: "old", to: "hong")]))
        let device = UserDevice(key: key, platform: .ios, token: token, acceptsPush: false)
        let devices = try await world.run(ListUserDevices(world.scope, of: ["hong", "old"], limit: 5))
        #expect(devices == [UsersOwn(user: "hong", value: device)], "devices")
        let members = try await world.run(ListMembers(world.scope, group, nil, limit: 9))
        #expect(members?.map(\.user) == ["hong", "kim"], "members")
        let counted = try await world.run(FindGroups(world.scope, [group]))
        #expect(counted.map(\.memberCount) == [2], "counted")
    }

    @Test func aUsersMessagesAreGroupedByMembersOfTheirData() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let made = try await world.register(key, token: world.newToken(), user: "hong")
        func send(_ data: JSONObject, _ state: DeliveryState = .sent) async throws -> MessageID {
            var message = world.message(to: [made?.identity].compactMap(\.self))
            message.content.data = data
            _ = try await world.accept(message)
            for lease in try await world.claim(message.id, by: "n1") {
                var progress = world.progress(lease, state, .finished)
                for place in progress.results.indices { progress.results[place].user = "hong" }
                _ = try await world.deliveries.record(progress, by: "n1")
            }
            return message.id
        }
        func sent(_ members: [String], limit: Int = 10, in tenant: TenantID? = nil) async throws -> [SentMessages] {
            let asked = ListSentMessages(world.scope, to: ["hong", "x"], by: members, limit: limit)
            let found = try await world.run(asked, in: tenant)
            #expect(found.allSatisfy { $0.user == "hong" && $0.value.lastAt <= world.now() }, "user and time")
            return found.map(\.value)
        }
        let winter: JSONObject = ["campaign": ["name": "W \"é"], "v": "1", "other": 1]
        let first = try await send(winter)
        _ = try await send(["v": "2"])
        _ = try await send(winter)
        _ = try await send(["campaign": ["name": "lost"]], .failed)
        _ = try await send([:])
        _ = try await world.run(RecordReceipt(world.scope, first, Reporter(key: key), .read, at: world.now()))
        let all = try await sent(["campaign", "v"])
        let expected: Set<JSONObject> = [["campaign": ["name": "W \"é"], "v": "1"], ["v": "2"]]
        #expect(Set(all.map(\.data)) == expected, "groups")
        #expect(all.count == 2, "each once")
        #expect(all.filter(\.isRead).map { $0.data["v"] } == ["1"], "read")
        #expect(try await sent(["campaign"]).map(\.data) == [["campaign": ["name": "W \"é"]]], "one member")
        #expect(try await sent(["campaign"]).map(\.isRead) == [true], "one read device is enough")
        // Ids of the same millisecond do not show which of them is the newest.
        #expect(try await sent(["campaign", "v"], limit: 1).count <= 1, "so many are looked at")
        #expect(try await sent(["absent"]) == [], "an unknown member")
        #expect(try await sent(["v"], in: world.otherTenant) == [], "another tenant's")
    }

    @Test func erasingUsersErasesTheirDataInTheirDialect() async throws {
        let world = try await RuleWorld.make()
        let (key, token) = (world.newKey(), world.newToken())
        _ = try await world.register(key, token: token, user: "hong")
        let shared = world.newKey()
        let sharedToken = world.newToken()
        _ = try await world.register(shared, token: sharedToken, user: "hong")
        _ = try await world.register(world.newKey(), token: sharedToken, user: "hong", vendor: .native)
        let alias = UserAlias(label: "crm", name: "1")
        let write = UserWrite(
            profiles: [StoredProfile(user: "hong"), StoredProfile(user: "kim")],
            aliases: [.init(alias, of: "hong")],
            acts: [act("hong", "a", "seen", at: world.now())]
        )
        _ = try await put(world, write)
        let erase = EraseUsers(world.scope, ["hong", "nobody"], by: "test")
        #expect(try await world.run(erase) == 1, "one")
        #expect(try await world.run(erase) == 0, "none any more")
        let left = try await profiles(world, [.id("hong"), .alias(alias), .id("kim")])
        #expect(left.map { $0?.user } == [nil, nil, "kim"], "the remaining users")
        #expect(try await tallies(world, ["hong"]) == [], "what it did")
        #expect(try await world.facts(key) == nil, "its device")
        // A user of another dialect on a shared device belongs to that dialect.
        let native = AppScope(app: world.scope.app, vendor: .native)
        let other = try await world.run(FindProfiles(native, [.id("hong")]))
        #expect(other == [StoredProfile(user: "hong")], "the same name elsewhere")
        #expect(try await world.run(FindKnownTokens(native, [token, sharedToken])) == [sharedToken], "tokens")
    }
}
