import DatabaseSupport
import DeliveryEngine
import Model
import Testing

@testable import EngineStore
@testable import Store

/// The rules of groups, tags and audiences.
@Suite struct AudienceRuleTests {
    @Test func groupsAreCreatedOnceCountedExactlyAndDeletedWithTheirMembers() async throws {
        let world = try await RuleWorld.make()
        #expect(try await world.run(PutGroup(world.scope, "g")) == true, "first put")
        #expect(try await world.run(PutGroup(world.scope, "g")) == false, "second put")
        let nowhere = AppScope(app: "nowhere", vendor: .rationalOwl)
        #expect(try await world.run(PutGroup(nowhere, "g")) == nil, "an unknown app's group")
        #expect(
            try await world.change("g", add: ["u1", "u2", "u2", "u3"]) == MemberCounts(added: 3, removed: 0),
            "first change"
        )
        #expect(
            try await world.change("g", add: ["u3", "u4"], remove: ["u1", "u3", "u9"])
                == MemberCounts(added: 2, removed: 2),
            "a user in both lists is a member"
        )
        #expect(try await world.members("g") == 3, "members")
        #expect(try await world.run(DeleteGroup(world.scope, "g")) == 1, "delete")
        #expect(try await world.run(DeleteGroup(world.scope, "g")) == 0, "second delete")
        #expect(try await world.members("g") == nil, "members of a deleted group")
        #expect(try await world.change("g", add: ["u1"]) == nil, "a change of a deleted group")
        _ = try await world.run(PutGroup(world.scope, "g"))
        #expect(try await world.members("g") == 0, "members of its namesake")
    }

    @Test func groupsAreVisibleInTheirTenantAndDialectOnly() async throws {
        let world = try await RuleWorld.make()
        _ = try await world.run(PutGroup(world.scope, "g"))
        _ = try await world.change("g", add: ["u1"])
        let braze = AppScope(app: world.app, vendor: .braze)
        #expect(try await world.run(FindGroups(braze, ["g"])) == [], "in another dialect")
        let other = world.otherTenant
        #expect(try await world.run(FindGroups(world.scope, ["g"]), in: other) == [], "a foreign group")
        let change = GroupChange(remove: ["u1"])
        #expect(try await world.run(ChangeMembers(world.scope, "g", change), in: other) == nil, "a foreign change")
        #expect(try await world.run(DeleteGroup(world.scope, "g"), in: other) == 0, "a foreign delete")
        #expect(try await world.members("g") == 1, "members after it")
    }

    @Test func aUserResolvesToItsActiveIdentitiesUpToTheLimit() async throws {
        let world = try await RuleWorld.make()
        var wanted: [IdentityID] = []
        for _ in 0..<3 {
            let made = try await world.register(world.newKey(), token: world.newToken(), user: "u1")
            if let made { wanted.append(made.identity) }
        }
        let tokenless = try await world.register(world.newKey(), user: "u2")
        let gone = world.newKey()
        _ = try await world.register(gone, token: world.newToken(), user: "u1")
        _ = try await world.run(UnregisterDevices(world.scope, .key(gone)))
        _ = try await world.register(world.newKey(), token: world.newToken(), user: "u1", vendor: .braze)
        let found = try await world.resolve(["u2", "nobody", "u1"], limit: 10)
        #expect(found.map(\.user) == ["u2", "u1", "u1", "u1"], "users")
        #expect(found.map(\.found.isReachable) == [false, true, true, true], "reachable")
        #expect(found.first?.found.identity == tokenless?.identity, "an identity without a token")
        #expect(found.dropFirst().map(\.found.identity) == wanted.sorted(), "identities")
        #expect(try await world.resolve(["u1", "u2"], limit: 2).count == 2, "with a limit")
        #expect(try await world.resolve(["u1"], limit: 10, in: world.otherTenant) == [], "another tenant's")
    }

    @Test func aPageMaySplitTheDevicesOfAUser() async throws {
        let world = try await RuleWorld.make()
        var wanted: [IdentityID] = []
        for user in ["u1", "u2", "u2", "u2", "u4"] as [UserID] {
            if let made = try await world.register(world.newKey(), token: world.newToken(), user: user) {
                wanted.append(made.identity)
            }
        }
        _ = try await world.register(world.newKey(), token: world.newToken(), user: "u9")
        for pageSize in [1, 2, 100] {
            let seen = try await world.expanded(.users(["u4", "u2", "nobody", "u1"]), pageSize: pageSize)
            #expect(seen == wanted.sorted(), "targets at \(pageSize) a page")
        }
    }

    @Test func aUserInTwoGroupsAndAUserWhoJoinsAreReachedAtMostOnce() async throws {
        let world = try await RuleWorld.make()
        var wanted: [IdentityID] = []
        for index in 0..<9 {
            let user = UserID("u\(index)")
            if let made = try await world.register(world.newKey(), token: world.newToken(), user: user) {
                wanted.append(made.identity)
            }
        }
        for name in ["g1", "g2", "g3"] as [GroupName] { _ = try await world.run(PutGroup(world.scope, name)) }
        _ = try await world.change("g1", add: (0..<5).map { UserID("u\($0)") })
        _ = try await world.change("g2", add: (3..<8).map { UserID("u\($0)") } + ["nobody"])
        _ = try await world.change("g3", add: ["u8"])
        var joined: [IdentityID] = []
        let seen = try await world.expanded(.groups(["g1", "g2"]), pageSize: 2) {
            let user = UserID("late\(joined.count)")
            if let made = try await world.register(world.newKey(), token: world.newToken(), user: user) {
                joined.append(made.identity)
            }
            _ = try await world.change("g1", add: [user, "u3"])
        }
        #expect(Set(seen).count == seen.count, "targets and distinct ones")
        #expect(Set(seen).subtracting(joined) == Set(wanted.prefix(8)), "the identities")
    }

    @Test func aMessageToVariantsHasOneTargetPerMatchingVariant() async throws {
        let world = try await RuleWorld.make()
        guard let a = Tag("a"), let own = Tag("own") else { return fail("no tags") }
        var identities: [IdentityID] = []
        for variants: [String: [String]] in [["one": ["a"], "two": ["a", "b"]], ["one": ["b"]], [:]] {
            var object = JSONObject()
            for (name, tags) in variants { object[name] = .array(tags.map { .string($0) }) }
            let key = world.newKey()
            let marks = Set(variants.values.joined()).compactMap { Tag($0).map { Tag.ofVariant($0) } }
            let registration = DeviceRegistration(
                key: key,
                platform: .ios,
                environment: .production,
                token: world.newToken(),
                attributes: variants.isEmpty ? JSONObject() : [Variants.attribute: .object(object)],
                tags: variants.isEmpty ? [own, a] : [.hasVariants, own] + marks
            )
            let registered = try await world.run(
                RegisterDevice(
                    world.scope,
                    key: key,
                    registration,
                    identity: IdentityID(rawValue: world.identifiers.uuid(at: world.now())),
                    device: DeviceID(rawValue: world.identifiers.uuid(at: world.now())),
                    at: world.now()
                )
            )
            identities.append(registered.identity)
        }
        for (text, wanted) in [
            ("a", ["0 one", "0 two"]), ("a && b", ["0 two"]), ("own && b", ["0 two", "1 one"]),
            ("own && !a", ["1 one"]),
            ("own", ["0 one", "0 two", "1 one"]), ("c", []),
        ] {
            guard let expression = try? TagExpression(text) else { return fail("no expression") }
            for pageSize in [1, 100] {
                let (leases, recipients) = try await world.variants(expression, pageSize: pageSize)
                var found: [String] = []
                for lease in leases {
                    let work = try await world.deliveries.load(lease)
                    for (place, facts) in work?.targets ?? [:] {
                        let index = identities.firstIndex(of: facts.identity) ?? -1
                        found.append("\(index) \(facts.variant ?? "none")")
                        #expect(facts.target == lease.targets[place], "the target of \(text)")
                        #expect(facts.target.rawValue != facts.identity.rawValue, "a target of its own")
                        #expect(facts.variables[Variants.attribute] != nil, "the counts of the message")
                    }
                }
                #expect(found.sorted() == wanted, "\(text) at \(pageSize) a page")
                #expect(recipients == wanted.count, "recipients of \(text)")
            }
        }
    }

    @Test func tagExpressionsSelectTheIdentitiesThatMatchThem() async throws {
        let world = try await RuleWorld.make()
        var identities: [IdentityID] = []
        for tags in [["a"], ["a", "b"], ["b"], [], nil] as [[String]?] {
            let tags = tags?.compactMap { Tag($0) }
            let made = try await world.register(world.newKey(), token: world.newToken(), tags: tags)
            if let made { identities.append(made.identity) }
        }
        guard identities.count == 5 else { return fail("not registered") }
        func seen(_ text: String) async throws -> [Int] {
            let expression = try TagExpression(text)
            let found = try await world.expanded(.tags(expression), pageSize: 2)
            return found.compactMap { identities.firstIndex(of: $0) }.sorted()
        }
        #expect(try await seen("a") == [0, 1], "a")
        #expect(try await seen("A || b") == [0, 1, 2], "A || b")
        #expect(try await seen("a && !b") == [0], "a && !b")
        #expect(try await seen("!a") == [2, 3, 4], "!a")
        #expect(try await seen("a && !a") == [], "a && !a")
        #expect(try await seen("unknown") == [], "an unused tag")
    }

    @Test func tagsChangeWithARegistrationThatHasTagsAndEndWithTheIdentity() async throws {
        let world = try await RuleWorld.make()
        let (key, other) = (world.newKey(), world.newKey())
        let token = world.newToken()
        func count(_ text: String) async throws -> Int {
            let expression = try TagExpression(text)
            let seen = try await world.expanded(.tags(expression), pageSize: 10)
            return seen.count
        }
        let (a, b) = (Tag("a"), Tag("b"))
        _ = try await world.register(key, token: token, tags: [a].compactMap(\.self))
        _ = try await world.register(key)
        #expect(try await count("a") == 1, "after a registration without tags")
        _ = try await world.register(key, tags: [b].compactMap(\.self))
        #expect([try await count("a"), try await count("b")] == [0, 1], "after one with others")
        _ = try await world.register(other, token: token)
        #expect(try await count("b") == 0, "after another identity took its token")
        _ = try await world.register(key, token: token)
        #expect(try await count("b") == 0, "when it comes back")
        _ = try await world.register(key, tags: [a].compactMap(\.self))
        _ = try await world.run(UnregisterDevices(world.scope, .key(key)))
        _ = try await world.register(key)
        #expect(try await count("a") == 0, "after leaving and coming back")
    }

    @Test func theNativeDialectReachesAllDialectsAndEachDeviceOnce() async throws {
        let world = try await RuleWorld.make()
        let shared = world.newToken()
        let tag = Tag("a").map { [$0] }
        let first = try await world.register(world.newKey(), token: shared, user: "u1", tags: tag)
        _ = try await world.register(world.newKey(), token: shared, user: "u1", tags: tag, vendor: .braze)
        // The first identity on this device does not match; the second does.
        let other = world.newToken()
        _ = try await world.register(world.newKey(), token: other, user: "u0")
        let second = try await world.register(world.newKey(), token: other, user: "u1", tags: tag, vendor: .braze)
        let native = AppScope(app: world.app, vendor: .native)
        _ = try await world.run(PutGroup(native, "g"))
        _ = try await world.run(ChangeMembers(native, "g", GroupChange(add: ["u1"])))
        let wanted = [first, second].compactMap { $0?.device }.sorted()
        for audience in [.users(["u1"]), .groups(["g"]), .tags(try TagExpression("a"))] as [Audience] {
            for pageSize in [1, 10] {
                let message = try await world.send(audience, pageSize: pageSize, vendor: .native).id
                let devices = try await world.devices(of: message)
                #expect(devices.sorted() == wanted, "devices of \(audience) at \(pageSize) a page")
            }
        }
        let third = try await world.register(world.newKey(), token: world.newToken(), user: "u2")
        let message = try await world.send(.tags(try TagExpression("!a")), pageSize: 10, vendor: .native).id
        #expect(
            try await world.devices(of: message).sorted() == [second, third].compactMap { $0?.device }.sorted(),
            "devices of !a"
        )
    }

    @Test func audiencesExcludeOtherTenants() async throws {
        let world = try await RuleWorld.make()
        let tag = Tag("a").map { [$0] }
        let other = world.otherTenant
        _ = try await world.register(world.newKey(), token: world.newToken(), user: "u1", tags: tag, in: other)
        _ = try await world.run(PutGroup(world.scope, "g"), in: other)
        _ = try await world.run(ChangeMembers(world.scope, "g", GroupChange(add: ["u1"])), in: other)
        let audiences: [Audience] = [
            .users(["u1"]), .groups(["g"]), .tags(try TagExpression("a")), .tags(try TagExpression("!b")),
        ]
        for audience in audiences {
            #expect(try await world.expanded(audience, pageSize: 10) == [], "\(audience)")
        }
    }
}

extension RuleWorld {
    fileprivate func change(_ name: GroupName, add: [UserID], remove: [UserID] = []) async throws -> MemberCounts? {
        let change = GroupChange(add: add, remove: remove)
        return try await run(ChangeMembers(scope, name, change))
    }

    /// The group's maintained count; nil: the group does not exist.
    fileprivate func members(_ name: GroupName) async throws -> Int? {
        try await run(FindGroups(scope, [name])).first?.memberCount
    }

    fileprivate func resolve(_ users: [UserID], limit: Int, in tenant: TenantID? = nil) async throws -> [UserTarget] {
        try await run(ResolveUsers(scope, users, limit: limit), in: tenant)
    }

    /// The targets of a message to `audience`, in the order of their ids. `meanwhile` runs after each page.
    fileprivate func expanded(
        _ audience: Audience,
        pageSize: Int,
        meanwhile: () async throws -> Void = {}
    ) async throws -> [IdentityID] {
        let (message, recipients) = try await send(audience, pageSize: pageSize, meanwhile: meanwhile)
        let targets = try await claim(message, by: "n1").flatMap(\.targets)
        guard targets.count == recipients else {
            throw StoreError(.failed, "\(recipients) recipients of \(targets.count)")
        }
        return targets.map { IdentityID($0.rawValue) }.sorted()
    }

    /// The slices of a message to variants, expanded to the end, and its number of targets.
    fileprivate func variants(_ expression: TagExpression, pageSize: Int) async throws -> ([SliceLease], Int?) {
        var message = message(to: [], work: .expand(after: nil))
        message.targets.audience = .tags(expression.overVariants)
        message.content.variants = TagTerms(expression)
        _ = try await accept(message)
        guard let lease = try await claim(message.id, by: "n1").first else { throw StoreError(.failed, "no lease") }
        for _ in 0..<100 {
            switch try await deliveries.expand(lease, by: "n1", pageSize: pageSize) {
            case .page: continue
            case .finished(let count): return (try await claim(message.id, by: "n1"), count)
            case .fenced: throw StoreError(.failed, "fenced")
            }
        }
        throw StoreError(.failed, "it does not end")
    }

    /// Accepts a message and expands its audience to the end. Returns its number of recipients.
    fileprivate func send(
        _ audience: Audience,
        pageSize: Int,
        vendor: Vendor = .rationalOwl,
        meanwhile: () async throws -> Void = {}
    ) async throws -> (id: MessageID, recipients: Int) {
        var message = message(to: [], work: .expand(after: nil))
        message.targets.audience = audience
        message.scope.vendor = vendor
        _ = try await accept(message)
        guard let lease = try await claim(message.id, by: "n1").first else { throw StoreError(.failed, "no lease") }
        var count = 0
        // The limit of 1000 makes a walk that does not end a failure.
        for _ in 0..<1000 {
            switch try await deliveries.expand(lease, by: "n1", pageSize: pageSize) {
            case .page(let more, _):
                guard more <= pageSize else { throw StoreError(.failed, "\(more) on a page of \(pageSize)") }
                count += more
                try await meanwhile()
            case .finished(let recipients):
                // The last page may contain recipients too.
                guard (0...pageSize).contains(recipients - count) else {
                    throw StoreError(.failed, "\(recipients) recipients after \(count)")
                }
                return (message.id, recipients)
            case .fenced: throw StoreError(.failed, "fenced")
            }
        }
        throw StoreError(.failed, "no end")
    }

    /// The devices that receive a push of a message's slices.
    fileprivate func devices(of message: MessageID) async throws -> [DeviceID] {
        var devices: [DeviceID] = []
        for lease in try await claim(message, by: "n1") {
            devices += try await deliveries.load(lease)?.targets.values.compactMap(\.device) ?? []
        }
        return devices
    }
}
