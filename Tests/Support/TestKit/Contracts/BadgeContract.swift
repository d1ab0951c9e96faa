import Commands
import DeliveryEngine
import Model

/// The rules of badges, numbers and users on devices.
enum BadgeContract {
    /// Of `CommandStore`.
    static let commands = [
        ContractRule("a user is set, moves, and is cleared; others of an exclusive one lose it") { world in
            var findings = Findings()
            let (first, second) = (world.newKey(), world.newKey())
            _ = try await world.register(first, token: world.newToken())
            _ = try await world.register(second, token: world.newToken())
            let set = UserChange.set("hong", name: "Hong")
            findings.equal(try await world.assign(first, set), AssignedUser(user: "hong"), "the first device")
            findings.equal(try await world.assign(first, set)?.hasMoved, false, "the same again")
            findings.equal(try await world.assign(second, set)?.hasMoved, true, "a second device")
            findings.equal(try await world.standing(first)?.user, "hong", "both are the user's")
            _ = try await world.assign(second, .set("hong", isExclusive: true))
            findings.equal(try await world.standing(first)?.user, nil, "the first after an exclusive set")
            findings.equal(try await world.assign(second, .keep)?.user, "hong", "kept")
            findings.equal(try await world.assign(second, .clear), AssignedUser(user: nil), "cleared")
            findings.equal(try await world.assign(world.newKey(), set), nil, "an unknown device")
            let other = try await world.run(.assignUser(world.scope, key: first, set), in: world.otherTenant)
            findings.equal(other, .assigned(nil), "another tenant's device")
            return findings.list
        },
        ContractRule("numbers of messages and groups count from 1, once per message") { world in
            var findings = Findings()
            let messages = [world.message(to: []), world.message(to: [])]
            for (index, message) in messages.enumerated() {
                _ = try await world.accept(message)
                let number = StoreAnswer.number(String(index + 1))
                let asked = StoreStatement.sequenceMessage(world.scope, message.id)
                findings.equal(try await world.run(asked), number, "number")
                findings.equal(try await world.run(asked), number, "number asked again")
            }
            let unknown = MessageID(rawValue: world.identifiers.uuid(at: world.now()))
            findings.equal(try await world.run(.sequenceMessage(world.scope, unknown)), .number(nil), "no message")
            for (index, title) in ["A", "B"].enumerated() {
                let made = try await world.run(.createGroup(world.scope, title: title))
                findings.equal(made, .groupCreated(GroupName(String(index + 1))), "group")
            }
            let all = try await world.run(.titledGroups(world.scope, nil, limit: 10))
            let groups = [TitledGroup(name: "1", title: "A"), TitledGroup(name: "2", title: "B")]
            findings.equal(all, .titledGroups(groups), "all groups")
            let key = world.newKey()
            _ = try await world.register(key, token: world.newToken())
            _ = try await world.assign(key, .set("hong", name: "Hong"))
            _ = try await world.run(.changeMembers(world.scope, "1", GroupChange(add: ["hong", "nobody"])))
            let members = try await world.run(.members(world.scope, "1", nil, limit: 10))
            let wanted = [
                GroupMember(group: groups[0], user: "hong", name: "Hong"),
                GroupMember(group: groups[0], user: "nobody", name: nil),
            ]
            findings.equal(members, .members(wanted), "members")
            let one = try await world.run(.members(world.scope, "1", "hong", limit: 10))
            findings.equal(one, .members([wanted[0]]), "one member")
            let none = try await world.run(.members(world.scope, "2", nil, limit: 10))
            findings.equal(none, .members([]), "nobody in it")
            let unknownGroup = try await world.run(.members(world.scope, "3", nil, limit: 10))
            findings.equal(unknownGroup, .members(nil), "no such group")
            return findings.list
        },
        ContractRule("recipients are found by user and by token, with their keys") { world in
            var findings = Findings()
            let (phone, tablet) = (world.newKey(), world.newKey())
            let (token, other) = (world.newToken(), world.newToken())
            _ = try await world.register(phone, token: token)
            _ = try await world.register(tablet, token: other)
            _ = try await world.assign(phone, .set("hong"))
            _ = try await world.assign(tablet, .set("hong"))
            func keys(_ users: [UserID]?, _ tokens: [DeviceToken]?) async throws -> Set<VendorDeviceKey> {
                let statement = StoreStatement.recipients(world.scope, users, tokens: tokens, limit: 100)
                guard case .recipients(let found)? = try await world.run(statement) else { return [] }
                findings.expect(found.allSatisfy { $0.user == "hong" }, "another user")
                return Set(found.map(\.key))
            }
            findings.equal(try await keys(["hong", "nobody"], nil), [phone, tablet], "by user")
            findings.equal(try await keys(["hong"], [token]), [phone], "by user and token")
            findings.equal(try await keys(nil, [other]), [tablet], "by token")
            findings.equal(try await keys(["nobody"], [other]), [], "nobody's")
            return findings.list
        },
        ContractRule("of the bearers of tokens only a group's members are its recipients") { world in
            var findings = Findings()
            let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
            let (guest, guestToken) = (world.newKey(), world.newToken())
            _ = try await world.register(guest, token: guestToken)
            for (group, user) in [("1", "hong"), ("2", "kim")] as [(GroupName, UserID)] {
                _ = try await world.run(.createGroup(world.scope, title: "a group"))
                _ = try await world.run(.changeMembers(world.scope, group, GroupChange(add: [user])))
            }
            func keys(_ groups: [GroupName], _ tokens: [DeviceToken], limit: Int = 100) async throws
                -> [VendorDeviceKey]
            {
                let statement = StoreStatement.groupRecipients(world.scope, groups, tokens: tokens, limit: limit)
                guard case .recipients(let found)? = try await world.run(statement) else { return ["no recipients"] }
                return found.map(\.key)
            }
            let all = [kim.tokens[1], hong.tokens[0], guestToken, world.newToken()]
            findings.equal(try await keys(["1"], all), [hong.keys[0]], "of the first group")
            findings.equal(
                try await keys(["1", "2"], all),
                [kim.keys[1], hong.keys[0]],
                "of both, in the tokens' order"
            )
            findings.equal(try await keys(["1", "2"], all, limit: 1).count, 1, "at most one")
            findings.equal(try await keys(["2"], hong.tokens), [], "of another's tokens")
            findings.equal(try await keys(["3"], all), [], "of no group")
            let other = StoreStatement.groupRecipients(world.scope, ["1"], tokens: all, limit: 100)
            findings.equal(try await world.run(other, in: world.otherTenant), .recipients([]), "of another tenant")
            _ = try await world.run(.changeMembers(world.scope, "1", GroupChange(remove: ["hong"])))
            findings.equal(try await keys(["1"], all), [], "of whom has left")
            return findings.list
        },
        ContractRule("a badge is its holder's: set, read, and of nobody where nobody answers") { world in
            var findings = Findings()
            let (phone, tablet) = (world.newKey(), world.newKey())
            _ = try await world.register(phone, token: world.newToken())
            _ = try await world.register(tablet, token: world.newToken())
            findings.equal(try await world.badge(BadgeHolder(key: phone), 3), 3, "a guest's")
            findings.equal(try await world.badge(BadgeHolder(key: tablet)), 0, "another guest's")
            _ = try await world.assign(phone, .set("hong"))
            _ = try await world.assign(tablet, .set("hong"))
            findings.equal(try await world.badge(BadgeHolder(key: phone)), 0, "the user's is another")
            _ = try await world.badge(BadgeHolder(key: phone), 7)
            findings.equal(try await world.badge(BadgeHolder(user: "hong")), 7, "the user's on any device")
            findings.equal(try await world.badge(BadgeHolder(key: tablet)), 7, "and on the other")
            findings.equal(try await world.badge(BadgeHolder(user: "nobody"), 5), nil, "nobody's")
            let other = try await world.run(
                .setBadge(world.scope, BadgeHolder(key: phone), 1),
                in: world.otherTenant
            )
            findings.equal(other, .badge(nil), "another tenant's")
            return findings.list
        },
    ]

    /// What erasing leaves of them. The world must be able to erase.
    static let erasures = [
        ContractRule("a device's badge goes with the device, the user's with the user") { world in
            var findings = Findings()
            guard let erase = world.erase else { return ["this world erases nothing"] }
            let (phone, tablet, token) = (world.newKey(), world.newKey(), world.newToken())
            guard let first = try await world.register(phone, token: token),
                try await world.register(tablet, token: world.newToken()) != nil
            else { return ["not registered"] }
            // What it counted as a guest's stays its own when a user comes.
            _ = try await world.badge(BadgeHolder(key: phone), 3)
            _ = try await world.badge(BadgeHolder(key: tablet), 4)
            _ = try await world.assign(phone, .set("hong"))
            _ = try await world.badge(BadgeHolder(key: phone), 7)
            try await erase(.device(first.device))
            findings.equal(try await world.badge(BadgeHolder(key: phone)), nil, "of the erased device")
            findings.equal(try await world.badge(BadgeHolder(key: tablet)), 4, "of another device")
            _ = try await world.register(phone, token: token)
            findings.equal(try await world.badge(BadgeHolder(key: phone)), 0, "of the same key, registered anew")
            _ = try await world.assign(phone, .set("hong"))
            findings.equal(try await world.badge(BadgeHolder(key: phone)), 7, "of the user, who was not erased")
            _ = try await world.assign(tablet, .set("hong"))
            try await erase(.user("hong"))
            findings.equal(try await world.badge(BadgeHolder(user: "hong")), nil, "of the erased user")
            for (key, token) in [(phone, token), (tablet, world.newToken())] {
                _ = try await world.register(key, token: token)
                findings.equal(try await world.badge(BadgeHolder(key: key)), 0, "of his device, registered anew")
                _ = try await world.assign(key, .set("hong"))
                findings.equal(try await world.badge(BadgeHolder(key: key)), 0, "of the user who comes anew")
            }
            return findings.list
        },
        ContractRule("what a message did to the badge of an erased device is forgotten: it counts again") { world in
            var findings = Findings()
            guard let erase = world.erase else { return ["this world erases nothing"] }
            let (key, other) = (world.newKey(), world.newKey())
            guard let made = try await world.register(key, token: world.newToken()),
                let kept = try await world.register(other, token: world.newToken())
            else { return ["not registered"] }
            let lease = try await world.counted(to: [made.identity, kept.identity], step: 2)
            findings.equal(try await world.badges(lease), [2, 2], "first")
            try await erase(.device(made.device))
            findings.equal(try await world.badges(lease).last, 2, "of the one that stayed")
            findings.equal(try await world.badge(BadgeHolder(key: other)), 2, "its counter")
            guard let again = try await world.register(key, token: world.newToken()) else { return ["not registered"] }
            let next = try await world.counted(to: [again.identity], step: 1)
            findings.equal(try await world.badges(next), [1], "of the same key, registered anew")
            return findings.list
        },
    ]

    /// Of `DeliveryStore` and `CommandStore` together.
    static let deliveries = [
        ContractRule("a message counts once per holder; a retry carries the badge of its first attempt") { world in
            var findings = Findings()
            let reader = try await world.reader("hong")
            let first = try await world.counted(to: reader.identities, step: 1)
            findings.equal(try await world.badges(first), [1, 1], "two devices of a user, first message")
            let second = try await world.counted(to: reader.identities, step: 5)
            findings.equal(try await world.badges(second), [6, 6], "second message")
            findings.equal(try await world.badges(first), [1, 1], "the first message again")
            findings.equal(try await world.badge(reader.holder), 6, "the counter")
            return findings.list
        },
        ContractRule("Keep takes one off at the first read of a message, whichever device; Reset and Update each time")
        { world in
            var findings = Findings()
            let reader = try await world.reader("hong")
            var leases: [SliceLease] = []
            for _ in 0..<3 {
                let lease = try await world.counted(to: reader.identities, step: 1)
                _ = try await world.badges(lease)
                _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "node")
                leases.append(lease)
            }
            func read(_ lease: SliceLease, _ key: VendorDeviceKey, _ change: BadgeChange?) async throws -> Int {
                let statement = StoreStatement.acknowledge(
                    world.scope,
                    .id(lease.key.message),
                    BadgeHolder(key: key),
                    .read,
                    change,
                    at: world.now()
                )
                guard case .acknowledged(let reply, let badge)? = try await world.run(statement) else { return -1 }
                findings.expect(reply != .orphan, "an orphan")
                return badge
            }
            let (phone, tablet) = (reader.keys[0], reader.keys[1])
            findings.equal(try await read(leases[0], phone, .keep), 2, "first read")
            findings.equal(try await read(leases[0], phone, .keep), 2, "the same again")
            findings.equal(try await read(leases[0], tablet, .keep), 2, "the same on the other device")
            findings.equal(try await read(leases[1], tablet, .keep), 1, "another message")
            findings.equal(try await read(leases[1], tablet, .set(10)), 10, "Update")
            findings.equal(try await read(leases[1], tablet, .set(10)), 10, "Update again")
            findings.equal(try await read(leases[2], phone, nil), 10, "no option")
            findings.equal(try await read(leases[2], phone, .keep), 10, "Keep of what was read before")
            findings.equal(try await read(leases[2], phone, .set(0)), 0, "Reset")
            return findings.list
        },
        ContractRule("a receipt by number finds its delivery by token, key or user; an unknown number changes no badge")
        { world in
            var findings = Findings()
            let reader = try await world.reader("hong")
            let lease = try await world.counted(to: reader.identities, step: 2)
            _ = try await world.badges(lease)
            _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "node")
            guard case .number(let number?)? = try await world.run(.sequenceMessage(world.scope, lease.key.message))
            else {
                return ["no number"]
            }
            func receipt(_ number: String, _ holder: BadgeHolder, _ kind: ReceiptKind, _ change: BadgeChange?)
                async throws -> StoreAnswer?
            {
                try await world.run(
                    .acknowledge(world.scope, .number(number), holder, kind, change, at: world.now())
                )
            }
            let byToken = try await receipt(number, BadgeHolder(token: reader.tokens[0]), .received, nil)
            findings.equal(byToken, .acknowledged(.recorded, badge: 2), "by token")
            let byKey = try await receipt(number, BadgeHolder(key: reader.keys[1]), .received, nil)
            findings.equal(byKey, .acknowledged(.recorded, badge: 2), "by key")
            let byUser = try await receipt(number, BadgeHolder(user: "hong"), .read, nil)
            findings.equal(byUser, .acknowledged(.recorded, badge: 2), "by user")
            let unknown = try await receipt("99999", BadgeHolder(user: "hong"), .read, .keep)
            findings.equal(unknown, .acknowledged(.orphan, badge: 2), "no such number")
            let stranger = try await receipt(number, BadgeHolder(user: "kim"), .read, .keep)
            findings.equal(stranger, .acknowledged(.orphan, badge: 0), "nobody")
            return findings.list
        },
        ContractRule("a template is filled with each user's own variables and attributes") { world in
            var findings = Findings()
            let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
            var message = world.message(to: hong.identities + kim.identities, claim: world.claim)
            message.content.isTemplate = true
            _ = try await world.accept(message)
            let variables = [UserVariables(user: "hong", values: ["VAR1": "a"])]
            _ = try await world.run(.putVariables(message.id, variables))
            let profile = StoredProfile(user: "kim", attributes: ["city": "Seoul"])
            _ = try await world.run(.putUsers(world.scope, UserWrite(profiles: [profile])))
            let work = try await world.deliveries.load(world.handover(message))
            findings.equal(work?.targets[0]?.variables, ["VAR1": "a"], "his own")
            findings.equal(work?.targets[2]?.variables, [:], "nobody's")
            findings.equal(work?.targets[2]?.person.attributes, ["city": "Seoul"], "what is kept of the user")
            findings.equal(work?.targets[0]?.person.attributes, [:], "nothing is kept")
            return findings.list
        },
    ]
}

/// A user with two devices.
struct ContractReader {
    var user: UserID
    var keys: [VendorDeviceKey] = []
    var tokens: [DeviceToken] = []
    var identities: [IdentityID] = []

    var holder: BadgeHolder { BadgeHolder(user: user) }
}

extension ContractWorld {
    var claim: NewMessage.Claim { NewMessage.Claim(node: "node", lease: Self.lease) }

    func assign(_ key: VendorDeviceKey, _ change: UserChange) async throws -> AssignedUser? {
        guard case .assigned(let user)? = try await run(.assignUser(scope, key: key, change)) else { return nil }
        return user
    }

    func standing(_ key: VendorDeviceKey) async throws -> IdentityStanding? {
        guard case .standing(let standing)? = try await run(.standing(scope, key: key)) else { return nil }
        return standing
    }

    func badge(_ holder: BadgeHolder, _ count: Int? = nil) async throws -> Int? {
        guard case .badge(let badge)? = try await run(.setBadge(scope, holder, count)) else { return nil }
        return badge
    }

    func reader(_ user: UserID) async throws -> ContractReader {
        var reader = ContractReader(user: user)
        for _ in 0..<2 {
            let (key, token) = (newKey(), newToken())
            guard let made = try await register(key, token: token) else { continue }
            _ = try await assign(key, .set(user))
            reader.keys.append(key)
            reader.tokens.append(token)
            reader.identities.append(made.identity)
        }
        return reader
    }

    /// A message that counts, accepted and leased.
    func counted(to identities: [IdentityID], step: Int) async throws -> SliceLease {
        var message = message(to: identities, claim: claim)
        message.content.badgeStep = step
        _ = try await accept(message)
        return handover(message)
    }

    /// What the pushes of a lease carry.
    func badges(_ lease: SliceLease) async throws -> [Int?] {
        let work = try await deliveries.load(lease)
        return lease.targets.indices.map { work?.targets[$0]?.badge }
    }
}
