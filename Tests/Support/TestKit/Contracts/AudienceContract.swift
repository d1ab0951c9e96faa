import Commands
import DeliveryEngine
import Model

/// The rules of both stores about groups, tags and whom a message means.
enum AudienceContract {
    static let groups = [
        ContractRule("a group is made once, counts its users exactly and is gone with its members") { world in
            var findings = Findings()
            findings.equal(try await world.run(.putGroup(world.scope, "g")), .groupPut(isNew: true), "first put")
            findings.equal(try await world.run(.putGroup(world.scope, "g")), .groupPut(isNew: false), "second put")
            let nowhere = AppScope(app: "nowhere", vendor: .rationalOwl)
            findings.equal(
                try await world.run(.putGroup(nowhere, "g")),
                .groupPut(isNew: nil),
                "an unknown app's group"
            )
            findings.equal(
                try await world.change("g", add: ["u1", "u2", "u2", "u3"]),
                MemberCounts(added: 3, removed: 0),
                "first change"
            )
            findings.equal(
                try await world.change("g", add: ["u3", "u4"], remove: ["u1", "u3", "u9"]),
                MemberCounts(added: 2, removed: 2),
                "who stands in both lists is in"
            )
            findings.equal(try await world.members("g"), 3, "members")
            findings.equal(try await world.run(.deleteGroup(world.scope, "g")), .count(1), "delete")
            findings.equal(try await world.run(.deleteGroup(world.scope, "g")), .count(0), "second delete")
            findings.equal(try await world.members("g"), nil, "members of a group that is gone")
            findings.equal(try await world.change("g", add: ["u1"]), nil, "a change of a group that is gone")
            _ = try await world.run(.putGroup(world.scope, "g"))
            findings.equal(try await world.members("g"), 0, "members of its namesake")
            return findings.list
        },
        ContractRule("another tenant's groups do not exist, nor another dialect's") { world in
            var findings = Findings()
            _ = try await world.run(.putGroup(world.scope, "g"))
            _ = try await world.change("g", add: ["u1"])
            let braze = AppScope(app: world.app, vendor: .braze)
            findings.equal(try await world.run(.groups(braze, ["g"])), .groups([]), "in another dialect")
            let other = world.otherTenant
            findings.equal(try await world.run(.groups(world.scope, ["g"]), in: other), .groups([]), "a foreign group")
            let change = GroupChange(remove: ["u1"])
            findings.equal(
                try await world.run(.changeMembers(world.scope, "g", change), in: other),
                .membersChanged(nil),
                "a foreign change"
            )
            findings.equal(
                try await world.run(.deleteGroup(world.scope, "g"), in: other),
                .count(0),
                "a foreign delete"
            )
            findings.equal(try await world.members("g"), 1, "members after it")
            return findings.list
        },
    ]

    static let users = [
        ContractRule("a user answers with every active identity, up to the limit") { world in
            var findings = Findings()
            var wanted: [IdentityID] = []
            for _ in 0..<3 {
                let made = try await world.register(world.newKey(), token: world.newToken(), user: "u1")
                if let made { wanted.append(made.identity) }
            }
            let tokenless = try await world.register(world.newKey(), user: "u2")
            let gone = world.newKey()
            _ = try await world.register(gone, token: world.newToken(), user: "u1")
            _ = try await world.run(.unregister(world.scope, .key(gone), at: world.now()))
            _ = try await world.register(world.newKey(), token: world.newToken(), user: "u1", vendor: .braze)
            let found = try await world.resolve(["u2", "nobody", "u1"], limit: 10)
            findings.equal(found.map(\.user), ["u2", "u1", "u1", "u1"], "users")
            findings.equal(found.map(\.found.isReachable), [false, true, true, true], "reachable")
            findings.equal(found.first?.found.identity, tokenless?.identity, "who has no token")
            findings.equal(found.dropFirst().map(\.found.identity), wanted.sorted(), "identities")
            findings.equal(try await world.resolve(["u1", "u2"], limit: 2).count, 2, "with a limit")
            findings.equal(try await world.resolve(["u1"], limit: 10, in: world.otherTenant), [], "another tenant's")
            return findings.list
        }
    ]

    static let expansions = [
        ContractRule("users are expanded with each of their devices, by pages smaller than one of them") { world in
            var findings = Findings()
            var wanted: [IdentityID] = []
            for user in ["u1", "u2", "u2", "u2", "u4"] as [UserID] {
                if let made = try await world.register(world.newKey(), token: world.newToken(), user: user) {
                    wanted.append(made.identity)
                }
            }
            _ = try await world.register(world.newKey(), token: world.newToken(), user: "u9")
            for pageSize in [1, 2, 100] {
                let seen = try await world.expanded(.users(["u4", "u2", "nobody", "u1"]), pageSize: pageSize)
                findings.equal(seen, wanted.sorted(), "targets at \(pageSize) a page")
            }
            return findings.list
        },
        ContractRule("a user in two groups is meant once, and who joins while it goes on at most once") { world in
            var findings = Findings()
            var wanted: [IdentityID] = []
            for index in 0..<9 {
                let user = UserID("u\(index)")
                if let made = try await world.register(world.newKey(), token: world.newToken(), user: user) {
                    wanted.append(made.identity)
                }
            }
            for name in ["g1", "g2", "g3"] as [GroupName] { _ = try await world.run(.putGroup(world.scope, name)) }
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
            findings.equal(Set(seen).count, seen.count, "targets and distinct ones")
            findings.equal(Set(seen).subtracting(joined), Set(wanted.prefix(8)), "who they are")
            return findings.list
        },
        ContractRule("a message for variants has a target for each that is meant, which leads to its identity") {
            world in
            var findings = Findings()
            guard let a = Tag("a"), let b = Tag("b"), let own = Tag("own") else { return ["no tags"] }
            var identities: [IdentityID] = []
            for (index, variants) in [["one": ["a"], "two": ["a", "b"]], ["one": ["b"]], [:]].enumerated() {
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
                let made = try await world.run(
                    .register(
                        world.scope,
                        key: key,
                        registration,
                        identity: IdentityID(rawValue: world.identifiers.uuid(at: world.now())),
                        device: DeviceID(rawValue: world.identifiers.uuid(at: world.now())),
                        at: world.now()
                    )
                )
                guard case .registered(let registered)? = made else { return ["\(index) is not registered"] }
                identities.append(registered.identity)
            }
            for (text, wanted) in [
                ("a", ["0 one", "0 two"]), ("a && b", ["0 two"]), ("own && b", ["0 two", "1 one"]),
                ("own && !a", ["1 one"]),
                ("own", ["0 one", "0 two", "1 one"]), ("c", []),
            ] {
                guard let expression = try? TagExpression(text) else { return ["no expression"] }
                for pageSize in [1, 100] {
                    let (leases, recipients) = try await world.variants(expression, pageSize: pageSize)
                    var found: [String] = []
                    for lease in leases {
                        let work = try await world.deliveries.load(lease)
                        for (place, facts) in work?.targets ?? [:] {
                            let index = identities.firstIndex(of: facts.identity) ?? -1
                            found.append("\(index) \(facts.variant ?? "none")")
                            findings.equal(facts.target, lease.targets[place], "the target of \(text)")
                            findings.expect(facts.target.rawValue != facts.identity.rawValue, "a target of its own")
                            findings.expect(facts.variables[Variants.attribute] != nil, "what it says of itself")
                        }
                    }
                    findings.equal(found.sorted(), wanted, "\(text) at \(pageSize) a page")
                    findings.equal(recipients, wanted.count, "recipients of \(text)")
                }
            }
            return findings.list
        },
        ContractRule("tags mean whoever has them when his page is made, and registering with tags replaces them") {
            world in
            var findings = Findings()
            var identities: [IdentityID] = []
            for tags in [["a"], ["a", "b"], ["b"], [], nil] as [[String]?] {
                let tags = tags?.compactMap { Tag($0) }
                let made = try await world.register(world.newKey(), token: world.newToken(), tags: tags)
                if let made { identities.append(made.identity) }
            }
            guard identities.count == 5 else { return ["not registered"] }
            func seen(_ text: String) async throws -> [Int] {
                let expression = try TagExpression(text)
                let found = try await world.expanded(.tags(expression), pageSize: 2)
                return found.compactMap { identities.firstIndex(of: $0) }.sorted()
            }
            findings.equal(try await seen("a"), [0, 1], "a")
            findings.equal(try await seen("A || b"), [0, 1, 2], "A || b")
            findings.equal(try await seen("a && !b"), [0], "a && !b")
            findings.equal(try await seen("!a"), [2, 3, 4], "!a")
            findings.equal(try await seen("a && !a"), [], "a && !a")
            findings.equal(try await seen("unknown"), [], "a tag that nobody has")
            return findings.list
        },
        ContractRule("a registration without tags leaves them, one with tags sets them, leaving ends them") { world in
            var findings = Findings()
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
            findings.equal(try await count("a"), 1, "after a registration without tags")
            _ = try await world.register(key, tags: [b].compactMap(\.self))
            findings.equal([try await count("a"), try await count("b")], [0, 1], "after one with others")
            _ = try await world.register(other, token: token)
            findings.equal(try await count("b"), 0, "once another has its token")
            _ = try await world.register(key, token: token)
            findings.equal(try await count("b"), 0, "when it comes back")
            _ = try await world.register(key, tags: [a].compactMap(\.self))
            _ = try await world.run(.unregister(world.scope, .key(key), at: world.now()))
            _ = try await world.register(key)
            findings.equal(try await count("a"), 0, "after leaving and coming back")
            return findings.list
        },
        ContractRule("the native dialect reaches every dialect's identities, and each device once") { world in
            var findings = Findings()
            let shared = world.newToken()
            let tag = Tag("a").map { [$0] }
            let first = try await world.register(world.newKey(), token: shared, user: "u1", tags: tag)
            _ = try await world.register(world.newKey(), token: shared, user: "u1", tags: tag, vendor: .braze)
            // The first identity on this device is not meant; the second is.
            let other = world.newToken()
            _ = try await world.register(world.newKey(), token: other, user: "u0")
            let second = try await world.register(world.newKey(), token: other, user: "u1", tags: tag, vendor: .braze)
            let native = AppScope(app: world.app, vendor: .native)
            _ = try await world.run(.putGroup(native, "g"))
            _ = try await world.run(.changeMembers(native, "g", GroupChange(add: ["u1"])))
            let wanted = [first, second].compactMap { $0?.device }.sorted()
            for audience in [.users(["u1"]), .groups(["g"]), .tags(try TagExpression("a"))] as [Audience] {
                for pageSize in [1, 10] {
                    let message = try await world.send(audience, pageSize: pageSize, vendor: .native).id
                    let devices = try await world.devices(of: message)
                    findings.equal(devices.sorted(), wanted, "devices of \(audience) at \(pageSize) a page")
                }
            }
            let third = try await world.register(world.newKey(), token: world.newToken(), user: "u2")
            let message = try await world.send(.tags(try TagExpression("!a")), pageSize: 10, vendor: .native).id
            findings.equal(
                try await world.devices(of: message).sorted(),
                [second, third].compactMap { $0?.device }.sorted(),
                "devices of !a"
            )
            return findings.list
        },
        ContractRule("another tenant's tags, users and members are nobody's audience") { world in
            var findings = Findings()
            let tag = Tag("a").map { [$0] }
            let other = world.otherTenant
            _ = try await world.register(world.newKey(), token: world.newToken(), user: "u1", tags: tag, in: other)
            _ = try await world.run(.putGroup(world.scope, "g"), in: other)
            _ = try await world.run(.changeMembers(world.scope, "g", GroupChange(add: ["u1"])), in: other)
            let audiences: [Audience] = [
                .users(["u1"]), .groups(["g"]), .tags(try TagExpression("a")), .tags(try TagExpression("!b")),
            ]
            for audience in audiences {
                findings.equal(try await world.expanded(audience, pageSize: 10), [], "\(audience)")
            }
            return findings.list
        },
    ]
}

extension ContractWorld {
    fileprivate func change(_ name: GroupName, add: [UserID], remove: [UserID] = []) async throws -> MemberCounts? {
        let change = GroupChange(add: add, remove: remove)
        guard case .membersChanged(let counts)? = try await run(.changeMembers(scope, name, change)) else { return nil }
        return counts
    }

    /// The group's maintained count; nil: there is no such group.
    fileprivate func members(_ name: GroupName) async throws -> Int? {
        guard case .groups(let found)? = try await run(.groups(scope, [name])) else { return nil }
        return found.first?.memberCount
    }

    fileprivate func resolve(_ users: [UserID], limit: Int, in tenant: TenantID? = nil) async throws -> [UserTarget] {
        guard case .resolvedUsers(let list)? = try await run(.resolveUsers(scope, users, limit: limit), in: tenant)
        else { return [] }
        return list
    }

    /// The targets of a message to `audience`, in the order of their ids; `meanwhile` runs behind each page.
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

    /// The slices of a message for variants, expanded to the end, and how many targets it says to have.
    fileprivate func variants(_ expression: TagExpression, pageSize: Int) async throws -> ([SliceLease], Int?) {
        var message = message(to: [], work: .expand(after: nil))
        message.audience = .tags(expression.overVariants)
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

    /// Accepts a message and expands its audience to the end; how many it says to have.
    fileprivate func send(
        _ audience: Audience,
        pageSize: Int,
        vendor: Vendor = .rationalOwl,
        meanwhile: () async throws -> Void = {}
    ) async throws -> (id: MessageID, recipients: Int) {
        var message = message(to: [], work: .expand(after: nil))
        message.audience = audience
        message.scope.vendor = vendor
        _ = try await accept(message)
        guard let lease = try await claim(message.id, by: "n1").first else { throw StoreError(.failed, "no lease") }
        var count = 0
        // 1000: a walk that does not end is a fault too.
        for _ in 0..<1000 {
            switch try await deliveries.expand(lease, by: "n1", pageSize: pageSize) {
            case .page(let more, _):
                guard more <= pageSize else { throw StoreError(.failed, "\(more) on a page of \(pageSize)") }
                count += more
                try await meanwhile()
            case .finished(let recipients):
                // The last page may bring some too.
                guard (0...pageSize).contains(recipients - count) else {
                    throw StoreError(.failed, "\(recipients) recipients after \(count)")
                }
                return (message.id, recipients)
            case .fenced: throw StoreError(.failed, "fenced")
            }
        }
        throw StoreError(.failed, "no end")
    }

    /// The devices that a message's slices ring.
    fileprivate func devices(of message: MessageID) async throws -> [DeviceID] {
        var devices: [DeviceID] = []
        for lease in try await claim(message, by: "n1") {
            devices += try await deliveries.load(lease)?.targets.values.compactMap(\.device) ?? []
        }
        return devices
    }
}
