import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import TestKit
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The Testing module also has a type `Tag`.
private typealias Tag = Model.Tag

/// Audiences that are described by an expression instead of a list, with real rows.
@Suite struct StoreAudienceTests {
    private let native = AppScope(app: "shop", vendor: .native)

    private func expanding(
        _ audience: Audience?,
        _ fixture: StoreFixture,
        scope: AppScope? = nil
    ) async throws -> (NewMessage, SliceLease) {
        let slice = NewSlice(number: 0, work: .expand(after: nil))
        var message = try await fixture.message(slices: [slice], recipients: 0, scope: scope)
        message.targets.recipients = nil
        message.targets.audience = audience
        try await fixture.accept(message)
        return (message, fixture.lease(of: message))
    }

    /// The targets of every slice of a message, in the order of the queue.
    private func targets(_ message: NewMessage, _ fixture: StoreFixture) async throws -> [String] {
        let admin = try await fixture.database.admin()
        let rows = try await admin.query(
            """
            SELECT i.key FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS t(id)
            JOIN gateway.identity i ON i.tenant_id = s.tenant_id AND i.identity_id = t.id
            WHERE s.tenant_id = $1 AND s.message_id = $2 ORDER BY i.key
            """,
            [.id(fixture.acme), .id(message.id)]
        )
        await admin.close()
        return try rows.map { (row) throws(PostgresError) in try row.text("key") }
    }

    /// Expands pages until the audience ends and returns their number.
    @discardableResult
    private func expand(_ lease: SliceLease, _ fixture: StoreFixture, pageSize: Int) async throws -> Int {
        for page in 0..<10_000 {
            switch try await fixture.delivery.expand(lease, by: fixture.node, pageSize: pageSize) {
            case .page(let count, _): #expect(count <= pageSize)
            case .finished: return page
            case .fenced:
                Issue.record("fenced")
                return page
            }
        }
        Issue.record("no end")
        return 0
    }

    @discardableResult
    private func register(
        _ key: String,
        _ fixture: StoreFixture,
        user: String? = nil,
        tags: [Tag]? = nil,
        token: String? = nil,
        vendor: Vendor = .rationalOwl
    ) async throws -> Registered {
        let registration = DeviceRegistration(
            key: VendorDeviceKey(key),
            platform: .ios,
            token: token.flatMap { DeviceToken(apns: $0) },
            user: user.map { UserID($0) },
            tags: tags
        )
        let statement = RegisterDevice(
            AppScope(app: "shop", vendor: vendor),
            key: VendorDeviceKey(key),
            registration,
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await fixture.now()
        )
        return try await fixture.ask(statement)
    }

    /// A number over the rows of `acme`; row-level security excludes the other tenants.
    private func count(_ sql: String, _ fixture: StoreFixture) async throws -> Int {
        let statement = Statement("SELECT (\(sql))::bigint AS n")
        return try await fixture.call.run(statement, tenant: fixture.acme.rawValue).only().int("n")
    }

    /// The oracle is `TagExpression`'s own evaluation, which does not use terms, bits or anchors.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func theServerEvaluatesRandomExpressionsAsTheyAreDefined(_ seed: UInt64) async throws {
        let fixture = try await StoreFixture.make()
        var random = RandomTags(seed: seed)
        var identities: [(key: String, tags: Set<Tag>, vendor: Vendor, seat: Registered)] = []
        for index in 0..<60 {
            let key = String(format: "k%03d", index)
            let vendor: Vendor = index.isMultiple(of: 3) ? .braze : .rationalOwl
            let tags = random.tags()
            // Some identities share a device, in two dialects; some are unregistered.
            let token = index % 3 < 2 ? String(format: "%064x", index / 3) : nil
            let seat = try await register(key, fixture, tags: tags, token: token, vendor: vendor)
            if index % 7 == 5 {
                let scope = AppScope(app: "shop", vendor: vendor)
                _ = try await fixture.ask(UnregisterDevices(scope, .key(VendorDeviceKey(key))))
            } else {
                identities.append((key, Set(tags), vendor, seat))
            }
        }
        let order = try await latestFirst(fixture)
        for _ in 0..<25 {
            let text = random.expression()
            let expression = try TagExpression(text)
            for scope in [fixture.scope, native] {
                let (message, lease) = try await expanding(.tags(expression), fixture, scope: scope)
                try await expand(lease, fixture, pageSize: [1, 3, 7, 100][text.utf8.count % 4])
                let meant = identities.filter { identity in
                    expression.matches(identity.tags) && (scope.vendor == .native || scope.vendor == identity.vendor)
                }
                // Each device with a match is reached once, through the identity that was seen last.
                let devices = Set(meant.map(\.seat.device))
                let latest = identities.filter { one in
                    devices.contains(one.seat.device)
                        && !identities.contains {
                            $0.seat.device == one.seat.device && order[$0.key, default: 0] < order[one.key, default: 0]
                        }
                }
                let wanted = scope.vendor == .native ? latest.map(\.key) : meant.map(\.key)
                let seen = try await targets(message, fixture)
                #expect(seen == wanted, "seed \(seed): \(text) for \(scope.vendor)")
            }
        }
        let (message, lease) = try await expanding(nil, fixture, scope: native)
        try await expand(lease, fixture, pageSize: 7)
        let latest = identities.filter { one in
            !identities.contains {
                $0.seat.device == one.seat.device && order[$0.key, default: 0] < order[one.key, default: 0]
            }
        }
        #expect(try await targets(message, fixture) == latest.map(\.key))
    }

    /// The place of each identity by when it was seen last; the latest has the smallest.
    private func latestFirst(_ fixture: StoreFixture) async throws -> [String: Int] {
        let rows = try await fixture.call.run(
            Statement(
                "SELECT key FROM gateway.identity WHERE tenant_id = $1 ORDER BY greatest(registered_at, seen_at) DESC, identity_id DESC",
                [.id(fixture.acme)]
            ),
            tenant: fixture.acme.rawValue
        )
        let keys = try rows.rows { (row) throws(PostgresError) in try row.text("key") }
        return Dictionary(uniqueKeysWithValues: zip(keys, 0...))
    }

    /// Until then no device of this app was shared, so no page looked for shared devices.
    @Test func anIdentityThatReturnsToASharedDeviceIsReachedOnce() async throws {
        let fixture = try await StoreFixture.make()
        try await register("k1", fixture, token: "aa01")
        _ = try await fixture.ask(UnregisterDevices(fixture.scope, .key("k1")))
        let other = try await register("b1", fixture, token: "aa01", vendor: .braze)
        let back = try await register("k1", fixture, token: "aa01")
        #expect(back.device == other.device)
        let (message, lease) = try await expanding(nil, fixture, scope: native)
        try await expand(lease, fixture, pageSize: 10)
        #expect(try await targets(message, fixture) == ["k1"])
    }

    @Test func registrationsBetweenPagesNeitherRepeatNorLoseTargets() async throws {
        let fixture = try await StoreFixture.make()
        let tag = try #require(Tag("a"))
        for index in 0..<30 {
            try await register(String(format: "k%02d", index), fixture, user: "u\(index % 10)", tags: [tag])
        }
        #expect(try await fixture.ask(PutGroup(fixture.scope, "g")) == true)
        let users = (0..<10).map { UserID("u\($0)") }
        _ = try await fixture.ask(ChangeMembers(fixture.scope, "g", GroupChange(add: users)))
        let old = Set((0..<30).map { String(format: "k%02d", $0) })
        let audiences: [Audience?] = [
            nil, .tags(try TagExpression("a")), .tags(try TagExpression("!b")), .users(users), .groups(["g"]),
        ]
        for (number, audience) in audiences.enumerated() {
            let (message, lease) = try await expanding(audience, fixture)
            var late = 0
            pages: while true {
                switch try await fixture.delivery.expand(lease, by: fixture.node, pageSize: 4) {
                case .page:
                    // New identities on all sides of the cursor, and known ones again. After a while none register.
                    guard late < 12 else { continue }
                    try await register("late-\(number)-\(late)", fixture, user: "u\(late % 10)", tags: [tag])
                    try await register(String(format: "k%02d", late), fixture, user: "u\(late % 10)", tags: [tag])
                    late += 1
                case .finished(let recipients):
                    #expect(recipients == (try await targets(message, fixture).count))
                    break pages
                case .fenced:
                    Issue.record("fenced")
                    break pages
                }
            }
            let seen = try await targets(message, fixture)
            #expect(Set(seen).count == seen.count, "audience \(number): a repeated target")
            #expect(old.isSubset(of: seen), "audience \(number): \(old.subtracting(seen)) missing")
        }
    }

    @Test func aQueuedTargetIsFoundWithoutItsDelivery() async throws {
        let fixture = try await StoreFixture.make()
        let tag = try #require(Tag("a"))
        for index in 0..<12 {
            try await register("k\(index)", fixture, user: "u\(index)", tags: index == 11 ? [] : [tag])
        }
        #expect(try await fixture.ask(PutGroup(fixture.scope, "g")) == true)
        let members = (0..<11).map { UserID("u\($0)") }
        _ = try await fixture.ask(ChangeMembers(fixture.scope, "g", GroupChange(add: members)))
        // Slices of everyone and of tags are in the order of their targets; those of groups are not, so their place is unknown.
        let audiences: [(Audience?, hasPlace: Bool)] = [
            (nil, true), (.tags(try TagExpression("a")), true), (.groups(["g"]), false),
        ]
        for (audience, hasPlace) in audiences {
            let (message, lease) = try await expanding(audience, fixture)
            try await expand(lease, fixture, pageSize: 3)
            let facts = try await fixture.facts(message.id)
            for index in 0..<12 {
                let found = try await fixture.ask(
                    FindDelivery(fixture.scope, message.id, Reporter(key: VendorDeviceKey("k\(index)")))
                )
                let isMeant = audience == nil || index < 11
                #expect(
                    found.snapshot?.state == (isMeant ? .queued : nil),
                    "k\(index) of \(String(describing: audience))"
                )
                guard let target = found.snapshot?.target else { continue }
                let trail = try #require(try await fixture.queries.trail(of: facts, target: target, in: fixture.acme))
                #expect((trail.queue != nil) == hasPlace)
                let device = try #require(trail.delivery.device)
                #expect(try await fixture.queries.targets(of: facts, device: "\(device)", in: fixture.acme) == [target])
            }
            _ = try await fixture.ask(ControlMessage(fixture.scope, message.id, .cancel, by: nil))
            let canceled = try await fixture.ask(
                FindDelivery(fixture.scope, message.id, Reporter(key: VendorDeviceKey("k1")))
            )
            // Its open slices are written off later.
            #expect(canceled.snapshot?.state == (hasPlace ? .queued : nil))
        }
    }

    // No index contains the state, so a page with a filter may be short and still have a successor.
    @Test func pagesWithAFilterFollowEachOther() throws {
        let ids = (1...5).map { TargetID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0))) }
        func next(_ found: [Int], end: Int?) -> TargetID? {
            LookPage(found.map { ids[$0] }, limit: 2, end: end.map { ids[$0] }, id: { $0 }).next
        }
        #expect(next([], end: nil) == nil && next([0], end: nil) == nil)
        #expect(next([0, 1], end: nil) == ids[1] && next([0, 1], end: 4) == ids[1])
        #expect(next([], end: 4) == ids[4] && next([1], end: 4) == ids[4])
        // A row that was added meanwhile has moved the end.
        #expect(next([3], end: 2) == ids[3])
    }

    @Test func aPageReadsABoundedNumberOfCandidates() async throws {
        let fixture = try await StoreFixture.make()
        let (common, rare) = (try #require(Tag("common")), try #require(Tag("rare")))
        for index in 0..<100 {
            try await register("k\(index)", fixture, tags: index == 99 ? [common, rare] : [common])
        }
        // Twenty reads of two candidates: a hundred candidates without a match take three pages, the last of which
        // ends the expansion.
        let (_, none) = try await expanding(.tags(try TagExpression("!common")), fixture)
        #expect(try await expand(none, fixture, pageSize: 2) == 2)
        // The cost of a rare tag depends on its own entries: its only page is the last.
        let (message, few) = try await expanding(.tags(try TagExpression("rare")), fixture)
        #expect(try await expand(few, fixture, pageSize: 2) == 0)
        #expect(try await targets(message, fixture) == ["k99"])
        #expect(try await fixture.facts(message.id).recipients == 1)
    }

    /// An app may give every user the name "guest". Pages continue within one user, and over the dialects too.
    @Test func aUserWithManyDevicesIsPagedThrough() async throws {
        let fixture = try await StoreFixture.make()
        for index in 0..<25 {
            let vendor: Vendor = index.isMultiple(of: 2) ? .braze : .rationalOwl
            try await register(String(format: "k%02d", index), fixture, user: "guest", vendor: vendor)
        }
        try await register("other", fixture, user: "zoe")
        let audience = Audience.users(["zoe", "guest", "nobody"])
        for (scope, count) in [(native, 26), (fixture.scope, 13)] {
            let (message, lease) = try await expanding(audience, fixture, scope: scope)
            try await expand(lease, fixture, pageSize: 4)
            let seen = try await targets(message, fixture)
            #expect(seen.count == count && Set(seen).count == count, "\(scope.vendor)")
        }
    }

    @Test func changesOfAGroupAtOnceKeepItsCountExact() async throws {
        let fixture = try await StoreFixture.make()
        for name in ["g1", "g2"] as [GroupName] { _ = try await fixture.ask(PutGroup(fixture.scope, name)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    var random = SplitMix(state: UInt64(task))
                    for _ in 0..<25 {
                        let users = (0..<40).map { UserID("u\($0)") }.shuffled(using: &random)
                        let change = GroupChange(add: Array(users.prefix(10)), remove: Array(users.suffix(10)))
                        let name: GroupName = Bool.random(using: &random) ? "g1" : "g2"
                        _ = try await fixture.ask(ChangeMembers(fixture.scope, name, change))
                    }
                }
            }
            // The user is erased meanwhile, from all groups at once.
            group.addTask {
                for index in 0..<20 {
                    _ = try await fixture.eraseUser(UserID("u\(index)"), in: fixture.acme, by: .key("test"))
                }
            }
            try await group.waitForAll()
        }
        for name in ["g1", "g2"] {
            let counted = try await count(
                "SELECT sum(members) FROM gateway.group_count WHERE group_name = '\(name)'",
                fixture
            )
            let there = try await count(
                "SELECT count(*) FROM gateway.group_member WHERE group_name = '\(name)'",
                fixture
            )
            #expect(counted == there && there > 0, "\(name)")
            let facts = try await fixture.ask(FindGroups(fixture.scope, [GroupName(name)]))
            #expect(facts.map(\.memberCount) == [there])
        }
    }

    @Test func aGroupDeletedAndRecreatedDuringChangesHasAnExactCount() async throws {
        let fixture = try await StoreFixture.make()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<20 {
                        if task == 0 {
                            _ = try await fixture.ask(DeleteGroup(fixture.scope, "g"))
                            _ = try await fixture.ask(PutGroup(fixture.scope, "g"))
                        } else {
                            let users = (0..<5).map { UserID("u\(($0 + task * round) % 12)") }
                            _ = try await fixture.ask(
                                ChangeMembers(fixture.scope, "g", GroupChange(add: users, remove: ["u1"]))
                            )
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let counted = try await count("SELECT coalesce(sum(members), 0) FROM gateway.group_count", fixture)
        #expect(counted == (try await count("SELECT count(*) FROM gateway.group_member", fixture)))
    }

    @Test func erasureRemovesTagsAndMemberships() async throws {
        let fixture = try await StoreFixture.make()
        let tag = try #require(Tag("a"))
        let one = try await register("k1", fixture, user: "u1", tags: [tag], token: "aa01")
        try await register("k2", fixture, user: "u2", tags: [tag])
        _ = try await fixture.ask(PutGroup(fixture.scope, "g"))
        _ = try await fixture.ask(ChangeMembers(fixture.scope, "g", GroupChange(add: ["u1", "u2", "u3"])))
        #expect(try await fixture.erase(one.device, in: fixture.acme, by: .key("test")) == .done(true))
        #expect(try await count("SELECT count(*) FROM gateway.identity_tag", fixture) == 1)
        #expect(try await fixture.eraseUser("u2", in: fixture.acme, by: .key("test")) == .done(1))
        #expect(try await count("SELECT count(*) FROM gateway.identity_tag", fixture) == 0)
        // A user without a device is known by memberships alone, and that erasure is audited as well.
        #expect(try await fixture.eraseUser("u3", in: fixture.acme, by: .key("test")) == .done(0))
        #expect(
            try await count(
                "SELECT count(*) FROM gateway.audit WHERE subject = gateway.audit_pseudonym(tenant_id, 'user u3')",
                fixture
            ) == 1
        )
        #expect(try await count("SELECT sum(members) FROM gateway.group_count", fixture) == 1)
        #expect(try await fixture.eraseUser("u1", in: fixture.other, by: .key("test")) == .done(0))
        #expect(try await count("SELECT count(*) FROM gateway.group_member", fixture) == 1)
    }

    @Test func tagsOfADeviceAreShownAndPatchedForAllItsIdentities() async throws {
        let fixture = try await StoreFixture.make()
        let tags = ["b", "a"].compactMap { Tag($0) }
        let device = try await register("k1", fixture, tags: tags, token: "aa01").device
        try await register("b1", fixture, token: "aa01", vendor: .braze)
        func shown() async throws -> [[String]]? {
            try await fixture.devices.device(device, in: fixture.acme)?.identities.map { $0.tags.map(\.text) }
        }
        #expect(try await shown() == [[], ["a", "b"]])
        var patch = DevicePatch(tags: ["c", "a"].compactMap { Tag($0) })
        #expect(try await fixture.patch(device, patch, in: fixture.other) == .done(nil))
        _ = try await fixture.patch(device, patch, in: fixture.acme)
        #expect(try await shown() == [["a", "c"], ["a", "c"]])
        patch = DevicePatch(name: "n")
        _ = try await fixture.patch(device, patch, in: fixture.acme)
        #expect(try await shown() == [["a", "c"], ["a", "c"]])
        _ = try await fixture.patch(device, DevicePatch(tags: []), in: fixture.acme)
        #expect(try await shown() == [[], []])
    }

    /// A count in the answer is an estimate if it is given before the expansion; the pages determine the real count.
    @Test func anAudienceThatIsExpandedIsCountedOnce() async throws {
        let fixture = try await StoreFixture.make()
        for index in 0..<3 { try await register("k\(index)", fixture) }
        let slice = NewSlice(number: 0, work: .expand(after: nil))
        let message = try await fixture.message(slices: [slice], recipients: 3)
        try await fixture.accept(message)
        try await expand(fixture.lease(of: message), fixture, pageSize: 2)
        #expect(try await fixture.counters().recipients == 3)
    }

    /// Older programs accept messages without the audience parameters.
    @Test func acceptanceIsPossibleWithoutAnAudience() async throws {
        let fixture = try await StoreFixture.make()
        let message = try await fixture.message(to: [(TargetID(rawValue: UUID()), nil)])
        var statement = AcceptMessage(message).statement(StoreCall(tenant: fixture.acme, node: fixture.node))
        let added =
            /, p_slice_dues => \$\d+, p_awaits => \$\d+, p_by => \$\d+, p_share => \$\d+, p_share_limit => \$\d+, p_fingerprint => \$\d+, p_window => \$\d+\)$/
        let last = try #require(statement.sql.firstMatch(of: added))
        statement.sql.replaceSubrange(last.range, with: ")")
        statement.parameters.removeLast(7)
        statement.reach = nil
        let result = try await fixture.call.run(statement, tenant: fixture.acme.rawValue)
        #expect(try result.only().text("outcome") == "inserted")
    }
}
