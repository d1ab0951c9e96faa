import Commands
import DeliveryEngine
import FoundationEssentials
import Model

/// The rules of users as back ends describe them.
enum UserContract {
    private static func profiles(_ world: ContractWorld, _ names: [UserName], in tenant: TenantID? = nil) async throws
        -> [StoredProfile?]
    {
        guard case .profiles(let found)? = try await world.run(.profiles(world.scope, names), in: tenant) else {
            return []
        }
        return found
    }

    private static func put(_ world: ContractWorld, _ write: UserWrite) async throws -> StoreAnswer? {
        try await world.run(.putUsers(world.scope, write))
    }

    private static func act(_ user: UserID, _ digest: Character, _ name: String, at: Timestamp) -> UserWrite.Act {
        UserWrite.Act(
            user: user,
            digest: String(repeating: digest, count: 32),
            kind: .event,
            name: name,
            at: at,
            data: ["p": 1]
        )
    }

    private static func tallies(_ world: ContractWorld, _ users: [UserID], limit: Int = 10) async throws
        -> [UsersOwn<ActTally>]
    {
        let asked = StoreStatement.userDetails(world.scope, .tallies, users, limit: limit)
        guard case .userTallies(let found)? = try await world.run(asked) else { return [] }
        return found
    }

    /// Of `CommandStore`.
    static let commands = [
        ContractRule("a user is kept, and changed by whoever has read it last") { world in
            var findings = Findings()
            let profile = StoredProfile(user: "hong", attributes: ["city": "Seoul"])
            findings.equal(try await profiles(world, [.id("hong")]), [nil], "nobody")
            findings.equal(try await put(world, UserWrite(profiles: [profile])), .usersPut(isRepeat: false), "put")
            var kept = profile
            kept.revision = 1
            findings.equal(try await profiles(world, [.id("x"), .id("hong")]), [nil, kept], "kept")
            findings.equal(try await profiles(world, [.id("hong")], in: world.otherTenant), [nil], "another tenant")
            kept.attributes = ["city": "Busan"]
            _ = try await put(world, UserWrite(profiles: [kept]))
            // Both of these have read what is no more.
            for late in [profile, kept] {
                do {
                    _ = try await put(world, UserWrite(profiles: [StoredProfile(user: "kim"), late]))
                    findings.equal("done", "refused", "a late change")
                } catch let error as StoreError {
                    findings.equal(error.code, .conflict, "a late change")
                }
            }
            kept.revision = 2
            findings.equal(try await profiles(world, [.id("hong"), .id("kim")]), [kept, nil], "nothing of it is done")
            return findings.list
        },
        ContractRule("a user with a device only is known, and chooses for all devices") { world in
            var findings = Findings()
            let key = world.newKey()
            let token = world.newToken()
            _ = try await world.register(key, token: token, user: "hong")
            findings.equal(try await profiles(world, [.id("hong")]), [StoredProfile(user: "hong")], "by a device")
            let known = try await world.run(.knownTokens(world.scope, [token, world.newToken()]))
            findings.equal(known, .tokens([token]), "tokens")
            let (over, later) = (world.newToken(), world.newToken())
            let now = Int(world.now().seconds)
            _ = try await world.register(world.newKey(), endingAt: .int(now - 1), token: over)
            _ = try await world.register(world.newKey(), endingAt: .int(now + 3600), token: later)
            let ending = try await world.run(.knownTokens(world.scope, [over, later]))
            findings.equal(ending, .tokens([later]), "tokens of who ends")
            _ = try await put(world, UserWrite(profiles: [StoredProfile(user: "hong", acceptsPush: false)]))
            let devices = try await world.run(.userDetails(world.scope, .devices, ["hong", "x"], limit: 5))
            let device = UserDevice(key: key, platform: .ios, token: token, acceptsPush: false)
            findings.equal(devices, .userDevices([UsersOwn(user: "hong", value: device)]), "devices")
            return findings.list
        },
        ContractRule("a device whose system shows no pushes takes none, whatever its user chose") { world in
            var findings = Findings()
            func takesPush(_ attributes: JSONObject, _ user: StoredProfile) async throws -> Bool? {
                let registration = DeviceRegistration(key: "d", platform: .ios, user: "hong", attributes: attributes)
                _ = try await world.run(
                    .register(
                        world.scope,
                        key: "d",
                        registration,
                        identity: IdentityID(UUID()),
                        device: DeviceID(UUID()),
                        at: world.now()
                    )
                )
                _ = try await put(world, UserWrite(profiles: [user]))
                let answer = try await world.run(.userDetails(world.scope, .devices, ["hong"], limit: 5))
                guard case .userDevices(let devices)? = answer else { return nil }
                findings.equal(devices.first?.value.attributes, attributes, "what the device told")
                return devices.first?.value.acceptsPush
            }
            var user = StoredProfile(user: "hong", acceptsPush: true)
            findings.equal(try await takesPush(["deniesPush": true], user), false, "denied")
            user.revision = 1
            findings.equal(try await takesPush(["x": 1], user), true, "no more")
            user.revision = 2
            user.acceptsPush = false
            findings.equal(try await takesPush(["deniesPush": false], user), false, "the user's own choice")
            return findings.list
        },
        ContractRule("what users consent to is kept, and known to messages that are for those who asked") { world in
            var findings = Findings()
            let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
            let said: [String: ConsentState] = ["news \"é": .subscribed, "sale": .unsubscribed]
            var asked = StoredProfile(user: "hong", acceptsPush: true, isOptedIn: true, consents: said)
            let silent = StoredProfile(user: "kim", acceptsPush: true)
            _ = try await put(world, UserWrite(profiles: [asked, silent]))
            asked.revision = 1
            findings.equal(try await profiles(world, [.id("hong")]), [asked], "as it was said")
            func optedIn(_ rule: ConsentRule) async throws -> [Bool?] {
                var message = world.message(to: hong.identities + kim.identities, claim: world.claim)
                message.content.consent = rule
                _ = try await world.accept(message)
                let work = try await world.deliveries.load(world.handover(message))
                findings.equal(work?.notification.content.consent, rule, "the message's rule")
                return (0..<4).map { work?.targets[$0]?.isOptedIn }
            }
            findings.equal(try await optedIn(.optedIn), [true, true, false, false], "who asked")
            // No look-up for others.
            findings.equal(try await optedIn(.subscribed), [false, false, false, false], "not looked at")
            findings.equal(try await optedIn(.all), [false, false, false, false], "not looked at either")
            asked.isOptedIn = false
            asked.consents["sale"] = .subscribed
            _ = try await put(world, UserWrite(profiles: [asked]))
            asked.revision = 2
            findings.equal(try await profiles(world, [.id("hong")]), [asked], "changed")
            findings.equal(try await optedIn(.optedIn), [false, false, false, false], "nobody any more")
            return findings.list
        },
        ContractRule("an act is there once, and counted once; a batch with a key once") { world in
            var findings = Findings()
            let (early, late) = (world.now(), world.now() + .seconds(60))
            let acts = [
                act("hong", "a", "seen", at: late), act("hong", "b", "seen", at: early),
                act("hong", "a", "seen", at: late), act("nobody", "c", "seen", at: early),
            ]
            let write = UserWrite(profiles: [StoredProfile(user: "hong")], acts: acts)
            _ = try await put(world, write)
            let tally = ActTally(kind: .event, name: "seen", count: 2, firstAt: early, lastAt: late)
            findings.equal(try await tallies(world, ["hong", "nobody"]), [UsersOwn(user: "hong", value: tally)], "two")
            _ = try await put(world, UserWrite(acts: acts))
            findings.equal(try await tallies(world, ["hong"]).map(\.value.count), [2], "the same again")
            let keyed = UserWrite(repeatKey: "k", acts: [act("hong", "d", "bought", at: early)])
            findings.equal(try await put(world, keyed), .usersPut(isRepeat: false), "a batch")
            let again = UserWrite(repeatKey: "k", acts: [act("hong", "e", "bought", at: early)])
            findings.equal(try await put(world, again), .usersPut(isRepeat: true), "its repeat")
            findings.equal(try await tallies(world, ["hong"]).map(\.value.count), [1, 2], "nothing of the repeat")
            findings.equal(try await tallies(world, ["hong"], limit: 1).map(\.value.name), ["seen"], "the latest")
            return findings.list
        },
        ContractRule("an alias is one user's, leads to its devices, and moves along") { world in
            var findings = Findings()
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
            findings.equal(found.map { $0?.user }, ["ghost", "hong", nil], "whose they are")
            let name = UserName.alias(one).text
            let resolve = StoreStatement.resolveNames(world.scope, [name, "hong", "\u{1F}x\u{1F}1"], limit: 10)
            guard case .resolvedUsers(let targets)? = try await world.run(resolve) else { return ["no answer"] }
            findings.equal(targets.map(\.user), [name], "the alias's device")
            _ = try await put(world, UserWrite(moves: [.init(from: "ghost", to: "hong")]))
            findings.equal(
                try await profiles(world, [.id("ghost"), .alias(one)]).map { $0?.user },
                [nil, "hong"],
                "moved"
            )
            findings.equal(try await tallies(world, ["hong"]).map(\.value.count), [2], "what both did")
            findings.equal(try await world.standing(key)?.user, "hong", "the device")
            let aliases = try await world.run(.userDetails(world.scope, .aliases, ["hong"], limit: 10))
            let both = [one, two].map { UsersOwn(user: UserID("hong"), value: $0) }
            findings.equal(aliases, .userAliases(both), "aliases")
            return findings.list
        },
        ContractRule("who becomes another brings groups and devices, which hear what the other said") { world in
            var findings = Findings()
            let group: GroupName = "staff"
            _ = try await world.run(.putGroup(world.scope, group))
            let change = GroupChange(add: ["old", "kim"], remove: [])
            _ = try await world.run(.changeMembers(world.scope, group, change))
            let (key, token) = (world.newKey(), world.newToken())
            _ = try await world.register(key, token: token, user: "old")
            let profiles = [StoredProfile(user: "old"), StoredProfile(user: "hong", acceptsPush: false)]
            _ = try await put(world, UserWrite(profiles: profiles, moves: [.init(from: "old", to: "hong")]))
            let device = UserDevice(key: key, platform: .ios, token: token, acceptsPush: false)
            let devices = try await world.run(.userDetails(world.scope, .devices, ["hong", "old"], limit: 5))
            findings.equal(devices, .userDevices([UsersOwn(user: "hong", value: device)]), "devices")
            guard case .members(let members)? = try await world.run(.members(world.scope, group, nil, limit: 9)) else {
                return ["no answer"]
            }
            findings.equal(members?.map(\.user), ["hong", "kim"], "members")
            guard case .groups(let counted)? = try await world.run(.groups(world.scope, [group])) else {
                return ["no answer"]
            }
            findings.equal(counted.map(\.memberCount), [2], "counted")
            return findings.list
        },
        ContractRule("what a user was sent is grouped by members of the messages' data") { world in
            var findings = Findings()
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
                let asked = StoreStatement.userDetails(
                    world.scope,
                    .messages(by: members),
                    ["hong", "x"],
                    limit: limit
                )
                guard case .userMessages(let found)? = try await world.run(asked, in: tenant) else { return [] }
                findings.expect(found.allSatisfy { $0.user == "hong" && $0.value.lastAt <= world.now() }, "whose, when")
                return found.map(\.value)
            }
            let winter: JSONObject = ["campaign": ["name": "W \"é"], "v": "1", "other": 1]
            let first = try await send(winter)
            _ = try await send(["v": "2"])
            _ = try await send(winter)
            _ = try await send(["campaign": ["name": "lost"]], .failed)
            _ = try await send([:])
            _ = try await world.run(.receipt(world.scope, first, Reporter(key: key), .read, at: world.now()))
            let all = try await sent(["campaign", "v"])
            let expected: Set<JSONObject> = [["campaign": ["name": "W \"é"], "v": "1"], ["v": "2"]]
            findings.equal(Set(all.map(\.data)), expected, "groups")
            findings.equal(all.count, 2, "each once")
            findings.equal(all.filter(\.isRead).map { $0.data["v"] }, ["1"], "read")
            findings.equal(try await sent(["campaign"]).map(\.data), [["campaign": ["name": "W \"é"]]], "one member")
            findings.equal(try await sent(["campaign"]).map(\.isRead), [true], "read once is read")
            // Which of them is the newest is not told by ids of one millisecond.
            findings.expect(try await sent(["campaign", "v"], limit: 1).count <= 1, "so many are looked at")
            findings.equal(try await sent(["absent"]), [], "no such member")
            findings.equal(try await sent(["v"], in: world.otherTenant), [], "another tenant's")
            return findings.list
        },
        ContractRule("erased users are gone from their dialect, with what hangs on them") { world in
            var findings = Findings()
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
            let erase = StoreStatement.eraseUsers(world.scope, ["hong", "nobody"], by: "test")
            findings.equal(try await world.run(erase), .count(1), "one")
            findings.equal(try await world.run(erase), .count(0), "none any more")
            let left = try await profiles(world, [.id("hong"), .alias(alias), .id("kim")])
            findings.equal(left.map { $0?.user }, [nil, nil, "kim"], "who is left")
            findings.equal(try await tallies(world, ["hong"]), [], "what it did")
            findings.equal(try await world.facts(key), nil, "its device")
            // Another dialect's user on a device that both used is that dialect's.
            let native = AppScope(app: world.scope.app, vendor: .native)
            let other = try await world.run(.profiles(native, [.id("hong")]))
            findings.equal(other, .profiles([StoredProfile(user: "hong")]), "the same name elsewhere")
            findings.equal(
                try await world.run(.knownTokens(native, [token, sharedToken])),
                .tokens([sharedToken]),
                "tokens"
            )
            return findings.list
        },
    ]
}
