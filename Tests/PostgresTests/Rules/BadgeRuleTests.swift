import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The rules of badges, numbers and users on devices.
@Suite struct BadgeRuleTests {
    @Test func aUserIsSetMovedClearedAndMadeExclusive() async throws {
        let world = try await RuleWorld.make()
        let (first, second) = (world.newKey(), world.newKey())
        _ = try await world.register(first, token: world.newToken())
        _ = try await world.register(second, token: world.newToken())
        let set = UserChange.set("hong", name: "Hong")
        #expect(try await world.assign(first, set) == AssignedUser(user: "hong"), "the first device")
        #expect(try await world.assign(first, set)?.hasMoved == false, "the same again")
        #expect(try await world.assign(second, set)?.hasMoved == true, "a second device")
        #expect(try await world.standing(first)?.user == "hong", "both are the user's")
        _ = try await world.assign(second, .set("hong", isExclusive: true))
        #expect(try await world.standing(first)?.user == nil, "the first after an exclusive set")
        #expect(try await world.assign(second, .keep)?.user == "hong", "kept")
        #expect(try await world.assign(second, .clear) == AssignedUser(user: nil), "cleared")
        #expect(try await world.assign(world.newKey(), set) == nil, "an unknown device")
        let other = try await world.run(AssignUser(world.scope, key: first, set), in: world.otherTenant)
        #expect(other == nil, "another tenant's device")
    }

    @Test func numbersOfMessagesAndGroupsCountFrom1OncePerMessage() async throws {
        let world = try await RuleWorld.make()
        let messages = [world.message(to: []), world.message(to: [])]
        for (index, message) in messages.enumerated() {
            _ = try await world.accept(message)
            let number = String(index + 1)
            let asked = SequenceMessage(world.scope, message.id)
            #expect(try await world.run(asked) == number, "number")
            #expect(try await world.run(asked) == number, "number, requested again")
        }
        let unknown = MessageID(rawValue: world.identifiers.uuid(at: world.now()))
        #expect(try await world.run(SequenceMessage(world.scope, unknown)) == nil, "no message")
        for (index, title) in ["A", "B"].enumerated() {
            let made = try await world.run(CreateGroup(world.scope, title: title))
            #expect(made == GroupName(String(index + 1)), "group")
        }
        let all = try await world.run(ListTitledGroups(world.scope, nil, limit: 10))
        let groups = [TitledGroup(name: "1", title: "A"), TitledGroup(name: "2", title: "B")]
        #expect(all == groups, "all groups")
        let key = world.newKey()
        _ = try await world.register(key, token: world.newToken())
        _ = try await world.assign(key, .set("hong", name: "Hong"))
        _ = try await world.run(ChangeMembers(world.scope, "1", GroupChange(add: ["hong", "nobody"])))
        let members = try await world.run(ListMembers(world.scope, "1", nil, limit: 10))
        let wanted = [
            GroupMember(group: groups[0], user: "hong", name: "Hong"),
            GroupMember(group: groups[0], user: "nobody", name: nil),
        ]
        #expect(members == wanted, "members")
        let one = try await world.run(ListMembers(world.scope, "1", "hong", limit: 10))
        #expect(one == [wanted[0]], "one member")
        let none = try await world.run(ListMembers(world.scope, "2", nil, limit: 10))
        #expect(none == [], "an empty group")
        let unknownGroup = try await world.run(ListMembers(world.scope, "3", nil, limit: 10))
        #expect(unknownGroup == nil, "an unknown group")
    }

    @Test func recipientsAreFoundByUserAndByTokenWithTheirKeys() async throws {
        let world = try await RuleWorld.make()
        let (phone, tablet) = (world.newKey(), world.newKey())
        let (token, other) = (world.newToken(), world.newToken())
        _ = try await world.register(phone, token: token)
        _ = try await world.register(tablet, token: other)
        _ = try await world.assign(phone, .set("hong"))
        _ = try await world.assign(tablet, .set("hong"))
        func keys(_ users: [UserID]?, _ tokens: [DeviceToken]?) async throws -> Set<VendorDeviceKey> {
            let among: FindRecipients.Among =
                users.map { .users($0, tokens: tokens) } ?? .everyone(tokens: tokens ?? [])
            let found = try await world.run(FindRecipients(world.scope, among, limit: 100))
            #expect(found.allSatisfy { $0.user == "hong" }, "another user")
            return Set(found.map(\.key))
        }
        #expect(try await keys(["hong", "nobody"], nil) == [phone, tablet], "by user")
        #expect(try await keys(["hong"], [token]) == [phone], "by user and token")
        #expect(try await keys(nil, [other]) == [tablet], "by token")
        #expect(try await keys(["nobody"], [other]) == [], "nobody's")
    }

    @Test func ofSeveralTokensOnlyTheGroupsMembersAreRecipients() async throws {
        let world = try await RuleWorld.make()
        let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
        let (guest, guestToken) = (world.newKey(), world.newToken())
        _ = try await world.register(guest, token: guestToken)
        for (group, user) in [("1", "hong"), ("2", "kim")] as [(GroupName, UserID)] {
            _ = try await world.run(CreateGroup(world.scope, title: "a group"))
            _ = try await world.run(ChangeMembers(world.scope, group, GroupChange(add: [user])))
        }
        func keys(_ groups: [GroupName], _ tokens: [DeviceToken], limit: Int = 100) async throws
            -> [VendorDeviceKey]
        {
            let statement = FindRecipients(world.scope, .groups(groups, tokens: tokens), limit: limit)
            let found = try await world.run(statement)
            return found.map(\.key)
        }
        let all = [kim.tokens[1], hong.tokens[0], guestToken, world.newToken()]
        #expect(try await keys(["1"], all) == [hong.keys[0]], "of the first group")
        #expect(try await keys(["1", "2"], all) == [kim.keys[1], hong.keys[0]], "of both, in the tokens' order")
        #expect(try await keys(["1", "2"], all, limit: 1).count == 1, "at most one")
        #expect(try await keys(["2"], hong.tokens) == [], "of another's tokens")
        #expect(try await keys(["3"], all) == [], "of an unknown group")
        let other = FindRecipients(world.scope, .groups(["1"], tokens: all), limit: 100)
        #expect(try await world.run(other, in: world.otherTenant) == [], "of another tenant")
        _ = try await world.run(ChangeMembers(world.scope, "1", GroupChange(remove: ["hong"])))
        #expect(try await keys(["1"], all) == [], "after the user left the group")
    }

    @Test func aBadgeIsSetAndReadAndNilForAnUnknownHolder() async throws {
        let world = try await RuleWorld.make()
        let (phone, tablet) = (world.newKey(), world.newKey())
        _ = try await world.register(phone, token: world.newToken())
        _ = try await world.register(tablet, token: world.newToken())
        #expect(try await world.badge(BadgeHolder(key: phone), 3) == 3, "a guest's")
        #expect(try await world.badge(BadgeHolder(key: tablet)) == 0, "another guest's")
        _ = try await world.assign(phone, .set("hong"))
        _ = try await world.assign(tablet, .set("hong"))
        #expect(try await world.badge(BadgeHolder(key: phone)) == 0, "the user's is another")
        _ = try await world.badge(BadgeHolder(key: phone), 7)
        #expect(try await world.badge(BadgeHolder(user: "hong")) == 7, "the user's on any device")
        #expect(try await world.badge(BadgeHolder(key: tablet)) == 7, "and on the other")
        #expect(try await world.badge(BadgeHolder(user: "nobody"), 5) == nil, "nobody's")
        let other = try await world.run(
            SetBadge(world.scope, BadgeHolder(key: phone), 1),
            in: world.otherTenant
        )
        #expect(other == nil, "another tenant's")
    }

    /// The badges and marks that remain after an erasure.
    @Test func erasingADeviceOrAUserErasesItsBadge() async throws {
        let world = try await RuleWorld.make()
        let erase = world.erase
        let (phone, tablet, token) = (world.newKey(), world.newKey(), world.newToken())
        guard let first = try await world.register(phone, token: token),
            try await world.register(tablet, token: world.newToken()) != nil
        else { return fail("not registered") }
        // The count of the device without a user stays with the device when a user registers on it.
        _ = try await world.badge(BadgeHolder(key: phone), 3)
        _ = try await world.badge(BadgeHolder(key: tablet), 4)
        _ = try await world.assign(phone, .set("hong"))
        _ = try await world.badge(BadgeHolder(key: phone), 7)
        try await erase(.device(first.device))
        #expect(try await world.badge(BadgeHolder(key: phone)) == nil, "of the erased device")
        #expect(try await world.badge(BadgeHolder(key: tablet)) == 4, "of another device")
        _ = try await world.register(phone, token: token)
        #expect(try await world.badge(BadgeHolder(key: phone)) == 0, "badge of the same key, registered again")
        _ = try await world.assign(phone, .set("hong"))
        #expect(try await world.badge(BadgeHolder(key: phone)) == 7, "badge of the user, which was not erased")
        _ = try await world.assign(tablet, .set("hong"))
        try await erase(.user("hong"))
        #expect(try await world.badge(BadgeHolder(user: "hong")) == nil, "of the erased user")
        for (key, token) in [(phone, token), (tablet, world.newToken())] {
            _ = try await world.register(key, token: token)
            #expect(try await world.badge(BadgeHolder(key: key)) == 0, "badge of the user's device, registered again")
            _ = try await world.assign(key, .set("hong"))
            #expect(try await world.badge(BadgeHolder(key: key)) == 0, "badge of the user, registered again")
        }
    }

    @Test func erasingADeviceErasesItsMarksSoAMessageCountsAgain() async throws {
        let world = try await RuleWorld.make()
        let erase = world.erase
        let (key, other) = (world.newKey(), world.newKey())
        guard let made = try await world.register(key, token: world.newToken()),
            let kept = try await world.register(other, token: world.newToken())
        else { return fail("not registered") }
        let lease = try await world.counted(to: [made.identity, kept.identity], step: 2)
        #expect(try await world.badges(lease) == [2, 2], "first")
        try await erase(.device(made.device))
        #expect(try await world.badges(lease).last == 2, "of the one that stayed")
        #expect(try await world.badge(BadgeHolder(key: other)) == 2, "its counter")
        guard let again = try await world.register(key, token: world.newToken()) else { return fail("not registered") }
        let next = try await world.counted(to: [again.identity], step: 1)
        #expect(try await world.badges(next) == [1], "badge of the same key, registered again")
    }

    // A mark names the user.
    @Test func erasingUsersOfADialectErasesTheirMarksInIt() async throws {
        let world = try await RuleWorld.make()
        for (index, scope) in [world.scope, world.inbox].enumerated() {
            var identities: [IdentityID] = []
            for user in ["hong", "kim"] as [UserID] {
                let (key, token) = (world.newKey(), world.newToken())
                let made = try await world.register(key, token: token, user: user, vendor: scope.vendor)
                identities.append(try #require(made).identity)
            }
            let lease = try await world.counted(to: identities, step: index + 1, in: scope)
            #expect(try await world.badges(lease) == [index + 1, index + 1], "of \(scope.vendor)")
        }
        #expect(try await world.run(EraseUsers(world.scope, ["hong"], by: "test")) == 1)
        #expect(try await world.marks() == ["1 user:kim", "2 user:hong", "2 user:kim"], "those that stay")
    }

    // A message of the native API reaches devices of a dialect, whose SDK reports the read with a badge.
    @Test(arguments: [false, true])
    func erasingUsersOfADialectErasesTheirMarksOfOtherMessages(_ isKnownElsewhere: Bool) async throws {
        let world = try await RuleWorld.make()
        let reader = try await world.reader("hong")
        try await world.readNative(reader.identities, reader.holder)
        if isKnownElsewhere {
            let (key, token) = (world.newKey(), world.newToken())
            _ = try await world.register(key, token: token, user: "hong", vendor: world.inbox.vendor)
        }
        #expect(try await world.marks() == [" user:hong"], "the mark of the read")
        #expect(try await world.run(EraseUsers(world.scope, ["hong"], by: "test")) == 1)
        #expect(try await world.marks() == (isKnownElsewhere ? [" user:hong"] : []), "after the erasure")
    }

    @Test func erasingADeviceErasesItsMarksOfOtherMessages() async throws {
        let world = try await RuleWorld.make()
        let key = world.newKey()
        let made = try #require(try await world.register(key, token: world.newToken()))
        try await world.readNative([made.identity], BadgeHolder(key: key))
        #expect(try await world.marks() == [" key:\(key.rawValue)"], "the mark of the read")
        try await world.erase(.device(made.device))
        #expect(try await world.marks().isEmpty, "after the erasure")
    }

    @Test func aMessageCountsOncePerHolderAndARetryCarriesTheSameBadge() async throws {
        let world = try await RuleWorld.make()
        let reader = try await world.reader("hong")
        let first = try await world.counted(to: reader.identities, step: 1)
        #expect(try await world.badges(first) == [1, 1], "two devices of a user, first message")
        let second = try await world.counted(to: reader.identities, step: 5)
        #expect(try await world.badges(second) == [6, 6], "second message")
        #expect(try await world.badges(first) == [1, 1], "the first message again")
        #expect(try await world.badge(reader.holder) == 6, "the counter")
    }

    // Cancelling makes every slice due, so that the node which writes it off loads it.
    @Test func aMessageThatIsNotSentCountsForNobody() async throws {
        let world = try await RuleWorld.make()
        let reader = try await world.reader("hong")
        let canceled = try await world.counted(to: reader.identities, step: 1)
        #expect(try await world.control(canceled, .cancel) == 1, "cancels")
        #expect(try await world.badges(canceled) == [nil, nil], "badges of a canceled message")
        let expired = try await world.counted(to: reader.identities, step: 1)
        try await world.pass(.seconds(3601))
        #expect(try await world.badges(expired) == [nil, nil], "badges of an expired message")
        let paused = try await world.counted(to: reader.identities, step: 1)
        #expect(try await world.control(paused, .pause) == 1, "pauses")
        #expect(try await world.badges(paused) == [nil, nil], "badges of a paused message")
        #expect(try await world.badge(reader.holder) == 0, "the counter")
        #expect(try await world.control(paused, .resume) == 1, "resumes")
        #expect(try await world.badges(paused) == [1, 1], "badges of the resumed message")
    }

    @Test func keepSubtractsAtTheFirstReadResetAndUpdateSetEachTime() async throws {
        let world = try await RuleWorld.make()
        let reader = try await world.reader("hong")
        var leases: [SliceLease] = []
        for _ in 0..<3 {
            let lease = try await world.counted(to: reader.identities, step: 1)
            _ = try await world.badges(lease)
            _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "node")
            leases.append(lease)
        }
        func read(_ lease: SliceLease, _ key: VendorDeviceKey, _ change: BadgeChange?) async throws -> Int {
            let statement = AcknowledgeMessage(
                world.scope,
                .id(lease.key.message),
                BadgeHolder(key: key),
                .read,
                change,
                at: world.now()
            )
            let answer = try await world.run(statement)
            #expect(answer.reply != .orphan, "an orphan")
            return answer.badge
        }
        let (phone, tablet) = (reader.keys[0], reader.keys[1])
        #expect(try await read(leases[0], phone, .keep) == 2, "first read")
        #expect(try await read(leases[0], phone, .keep) == 2, "the same again")
        #expect(try await read(leases[0], tablet, .keep) == 2, "the same on the other device")
        #expect(try await read(leases[1], tablet, .keep) == 1, "another message")
        #expect(try await read(leases[1], tablet, .set(10)) == 10, "Update")
        #expect(try await read(leases[1], tablet, .set(10)) == 10, "Update again")
        #expect(try await read(leases[2], phone, nil) == 10, "no option")
        #expect(try await read(leases[2], phone, .keep) == 10, "Keep of an earlier read message")
        #expect(try await read(leases[2], phone, .set(0)) == 0, "Reset")
    }

    @Test func aReceiptByNumberFindsItsDeliveryByTokenKeyOrUser() async throws {
        let world = try await RuleWorld.make()
        let reader = try await world.reader("hong")
        let lease = try await world.counted(to: reader.identities, step: 2)
        _ = try await world.badges(lease)
        _ = try await world.deliveries.record(world.progress(lease, .sent, .finished), by: "node")
        guard let number = try await world.run(SequenceMessage(world.scope, lease.key.message))
        else {
            return fail("no number")
        }
        func receipt(_ number: String, _ holder: BadgeHolder, _ kind: ReceiptKind, _ change: BadgeChange?)
            async throws -> Acknowledgement
        {
            try await world.run(
                AcknowledgeMessage(world.scope, .number(number), holder, kind, change, at: world.now())
            )
        }
        let byToken = try await receipt(number, BadgeHolder(token: reader.tokens[0]), .received, nil)
        #expect(byToken == Acknowledgement(reply: .recorded, badge: 2), "by token")
        let byKey = try await receipt(number, BadgeHolder(key: reader.keys[1]), .received, nil)
        #expect(byKey == Acknowledgement(reply: .recorded, badge: 2), "by key")
        let byUser = try await receipt(number, BadgeHolder(user: "hong"), .read, nil)
        #expect(byUser == Acknowledgement(reply: .recorded, badge: 2), "by user")
        let unknown = try await receipt("99999", BadgeHolder(user: "hong"), .read, .keep)
        #expect(unknown == Acknowledgement(reply: .orphan, badge: 2), "an unknown number")
        let stranger = try await receipt(number, BadgeHolder(user: "kim"), .read, .keep)
        #expect(stranger == Acknowledgement(reply: .orphan, badge: 0), "nobody")
    }

    @Test func aTemplateIsRenderedWithEachUsersVariablesAndAttributes() async throws {
        let world = try await RuleWorld.make()
        let (hong, kim) = (try await world.reader("hong"), try await world.reader("kim"))
        var message = world.message(to: hong.identities + kim.identities, claim: world.claim)
        message.content.isTemplate = true
        _ = try await world.accept(message)
        let variables = [UserVariables(user: "hong", values: ["VAR1": "a"])]
        _ = try await world.run(PutVariables(message.id, variables))
        let profile = StoredProfile(user: "kim", attributes: ["city": "Seoul"])
        _ = try await world.run(PutUsers(world.scope, UserWrite(profiles: [profile])))
        let work = try await world.deliveries.load(world.handover(message))
        #expect(work?.targets[0]?.variables == ["VAR1": "a"], "the user's own values")
        #expect(work?.targets[2]?.variables == [:], "nobody's")
        #expect(work?.targets[2]?.person.attributes == ["city": "Seoul"], "what is kept of the user")
        #expect(work?.targets[0]?.person.attributes == [:], "nothing is kept")
    }
}

/// A user with two devices.
struct RuleReader {
    var user: UserID
    var keys: [VendorDeviceKey] = []
    var tokens: [DeviceToken] = []
    var identities: [IdentityID] = []

    var holder: BadgeHolder { BadgeHolder(user: user) }
}

extension RuleWorld {
    var claim: NewMessage.Claim { NewMessage.Claim(node: "node", lease: Self.lease) }

    func assign(_ key: VendorDeviceKey, _ change: UserChange) async throws -> AssignedUser? {
        try await run(AssignUser(scope, key: key, change))
    }

    func standing(_ key: VendorDeviceKey) async throws -> IdentityStanding? {
        try await run(FindStanding(scope, key: key))
    }

    func badge(_ holder: BadgeHolder, _ count: Int? = nil) async throws -> Int? {
        try await run(SetBadge(scope, holder, count))
    }

    func reader(_ user: UserID) async throws -> RuleReader {
        var reader = RuleReader(user: user)
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

    func control(_ lease: SliceLease, _ control: MessageControl) async throws -> Int? {
        try await run(ControlMessage(scope, lease.key.message, control, by: nil))
    }

    /// A message that counts badges, accepted and leased.
    func counted(to identities: [IdentityID], step: Int, in scope: AppScope? = nil) async throws -> SliceLease {
        var message = message(to: identities, claim: claim)
        message.scope = scope ?? self.scope
        message.content.badgeStep = step
        _ = try await accept(message)
        return handover(message)
    }

    /// Sends a message of the native API to devices of the dialect, and reads it in the dialect with a badge of 3.
    func readNative(_ identities: [IdentityID], _ holder: BadgeHolder) async throws {
        let lease = try await counted(to: identities, step: 1, in: AppScope(app: app, vendor: .native))
        _ = try await deliveries.record(progress(lease, .sent, .finished), by: "node")
        let message = AcknowledgeMessage.Reference.id(lease.key.message)
        let read = AcknowledgeMessage(scope, message, holder, .read, .set(3), at: now())
        #expect(try await run(read) == Acknowledgement(reply: .recorded, badge: 3), "the read")
    }

    /// The numbers and holders of the tenant's marks.
    func marks() async throws -> [String] {
        let sql = """
            SELECT concat(k.badge, ' ', k.holder) AS mark FROM gateway.badge_mark k WHERE k.tenant_id = $1 ORDER BY mark
            """
        return try await rows(sql, [.id(tenant)]).map { try $0.text("mark") }
    }

    /// The badges that the pushes of a lease carry.
    func badges(_ lease: SliceLease) async throws -> [Int?] {
        let work = try await deliveries.load(lease)
        return lease.targets.indices.map { work?.targets[$0]?.badge }
    }
}
