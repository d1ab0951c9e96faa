import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import Routing
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// The rules of slices, and the calls to upstreams that are recorded before they are made (docs/routing.md#upstream-sending).
@Suite struct StoreUpstreamTests {
    private static let upstreams: JSONObject = [
        "old": ["vendor": "rationalowl", "addressesUsers": true, "splitsPlatforms": true]
    ]

    /// Puts rules with one path in force.
    @discardableResult
    private func put(_ rule: JSON, after version: Int?, _ fixture: StoreFixture) async throws -> Int? {
        let draft = RouteDraft(
            app: "shop",
            after: version,
            format: 1,
            base: ["deliveries": [rule]],
            overlay: [:],
            upstreams: Self.upstreams
        )
        let store = PostgresRouteStore(engine: fixture.engine)
        return try await store.put(draft, checkedWith: [], in: fixture.acme, by: .key("ops"))
    }

    private func version(
        of lease: SliceLease,
        _ fixture: StoreFixture,
        omitting omitted: Set<PostgresDeliveryStore.Omission> = []
    ) async throws -> Int? {
        let store = PostgresDeliveryStore(engine: fixture.engine, omitting: omitted)
        guard case .rules(let rules, _, _) = try await store.routing(of: lease, by: fixture.node) else { return nil }
        return rules.version
    }

    private func interrupted(_ lease: SliceLease, by node: NodeID, _ fixture: StoreFixture) async throws
        -> [InterruptedCall]
    {
        guard case .rules(_, let calls, _) = try await fixture.delivery.routing(of: lease, by: node) else { return [] }
        return calls
    }

    private func claim(
        _ fixture: StoreFixture,
        by node: NodeID? = nil,
        limit: Int = 10
    ) async throws -> [SliceLease] {
        try await fixture.delivery.claim(
            tenant: fixture.acme,
            lane: .transactional,
            limit: limit,
            by: node ?? fixture.node,
            lease: .seconds(600)
        )
    }

    private func expireLeases(_ fixture: StoreFixture) async throws {
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.slice SET next_at = now() - interval '1 second' WHERE tenant_id = $1 AND state = 'leased'",
            [.id(fixture.acme)]
        )
    }

    private func ordered(
        _ lease: SliceLease,
        _ number: Int32,
        users: [UserID] = [],
        exclusive: Set<TargetID> = [],
        replacing replaced: [UpstreamCallID] = []
    ) -> UpstreamOrder {
        UpstreamOrder(
            id: UpstreamCallID(epoch: lease.epoch, number: number),
            upstream: "old",
            call: UpstreamCall(VendorRequest(route: "send", path: "/send"), targets: Array(lease.targets.indices)),
            targets: lease.targets,
            units: users.map { UpstreamUnit(user: $0, platform: .ios) },
            exclusive: exclusive,
            replaced: replaced
        )
    }

    // MARK: Versions

    @Test func aSliceKeepsTheRulesOfItsFirstLease() async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        try await put(["paths": ["apns"]], after: nil, fixture)
        let (_, lease) = try await fixture.sending(to: devices.map(\.identity))
        #expect(try await fixture.delivery.load(lease)?.isRouted == true)
        #expect(try await version(of: lease, fixture) == 1)
        try await put(["paths": ["old"]], after: 1, fixture)
        #expect(try await version(of: lease, fixture) == 1)
        // The control: without the version of the slice a target would change its path between two tries.
        #expect(try await version(of: lease, fixture, omitting: [.versionsOfSlices]) == 2)
        // A slice that leaves it inherits its rules.
        var progress = try await fixture.progress(lease, [], disposition: .again(after: .zero))
        progress.retries = [RetrySlice(indexes: [1], disposition: .again(after: .zero), countsAttempt: true)]
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(0))
        let leases = try await claim(fixture)
        #expect(leases.count == 2)
        for lease in leases { #expect(try await version(of: lease, fixture) == 1) }
    }

    @Test func aSliceThatIsGivenBackWithoutATryGetsTheRulesOfItsNextLease() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        try await put(["paths": ["apns"]], after: nil, fixture)
        let (_, first) = try await fixture.sending(to: [device.identity])
        #expect(try await version(of: first, fixture) == 1)
        try await put(["paths": ["old"]], after: 1, fixture)
        try await fixture.delivery.release([first], by: fixture.node)
        let second = try #require(try await claim(fixture).first)
        #expect(try await version(of: second, fixture) == 2)
        // Put back by a flush, because its message is paused.
        try await put(["paths": ["apns"]], after: 2, fixture)
        var progress = try await fixture.progress(second, [], disposition: .again(after: .zero))
        progress.countsAttempt = false
        progress.returnsRouting = true
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let third = try #require(try await claim(fixture).first)
        #expect(try await version(of: third, fixture) == 3)
        // An attempt binds it.
        try await put(["paths": ["old"]], after: 3, fixture)
        progress = try await fixture.progress(third, [], disposition: .again(after: .zero))
        progress.returnsRouting = true
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let fourth = try #require(try await claim(fixture).first)
        #expect(try await version(of: fourth, fixture) == 3)
        try await fixture.delivery.release([fourth], by: fixture.node)
        let fifth = try #require(try await claim(fixture).first)
        #expect(try await version(of: fifth, fixture) == 3)
    }

    /// As if the message had been accepted earlier: times of messages have milliseconds.
    private func makeOlder(_ fixture: StoreFixture) async throws {
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.message SET accepted_at = accepted_at - interval '1 second' WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
    }

    // The push service may have got targets of it, and the upstream would push to them again.
    @Test func aSliceThatWasLeasedBeforeTheFirstRulesFollowsNone() async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        let (_, lease) = try await fixture.sending(to: devices.map(\.identity))
        try await makeOlder(fixture)
        try await put(["paths": ["old"]], after: nil, fixture)
        var progress = try await fixture.progress(lease, [], disposition: .again(after: .zero))
        progress.countsAttempt = false
        progress.retries = [RetrySlice(indexes: [1], disposition: .again(after: .zero), countsAttempt: false)]
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let leases = try await claim(fixture)
        #expect(leases.count == 2)
        for lease in leases { #expect(try await version(of: lease, fixture) == nil) }
    }

    // Another slice of its message follows the rules.
    @Test func aSliceWithoutRulesKnowsWhichUpstreamsWereAsked() async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        let parts = devices.enumerated().map { index, device in
            NewSlice(number: Int32(index), work: .deliver, targets: [TargetID(device.identity)])
        }
        try await fixture.accept(try await fixture.message(slices: parts, leased: false, recipients: 2))
        try await makeOlder(fixture)
        let first = try #require(try await claim(fixture, limit: 1).first)
        try await fixture.delivery.release([first], by: fixture.node)
        try await put(["paths": ["old"]], after: nil, fixture)
        let leases = try await claim(fixture)
        let begun = try #require(leases.first(where: { $0.key.number == first.key.number }))
        let other = try #require(leases.first(where: { $0.key.number != first.key.number }))
        #expect(try await fixture.delivery.routing(of: begun, by: fixture.node) == .none)
        #expect(try await version(of: other, fixture) == 1)
        let order = ordered(other, 1, users: ["ann"])
        #expect(try await fixture.delivery.begin(order, of: other, by: fixture.node) == .begun)
        let routing = try await fixture.delivery.routing(of: begun, by: fixture.node)
        #expect(routing == .unruled(callers: ["old"]))
    }

    @Test func aSliceWithoutALeaseFollowsTheFirstRulesAndKeepsThem() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let part = NewSlice(number: 0, work: .deliver, targets: [TargetID(device.identity)])
        try await fixture.accept(try await fixture.message(slices: [part], leased: false, recipients: 1))
        try await makeOlder(fixture)
        try await put(["paths": ["old"]], after: nil, fixture)
        let first = try #require(try await claim(fixture).first)
        #expect(try await version(of: first, fixture) == 1)
        try await put(["paths": ["apns"]], after: 1, fixture)
        // Given back, and put back by a flush: without its version it would follow no rules.
        try await fixture.delivery.release([first], by: fixture.node)
        let second = try #require(try await claim(fixture).first)
        #expect(try await version(of: second, fixture) == 1)
        var progress = try await fixture.progress(second, [], disposition: .again(after: .zero))
        progress.countsAttempt = false
        progress.returnsRouting = true
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let third = try #require(try await claim(fixture).first)
        #expect(try await version(of: third, fixture) == 1)
    }

    // It was tried before it died.
    @Test func aSliceThatIsRequeuedKeepsItsRules() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        try await put(["paths": ["apns"]], after: nil, fixture)
        let (message, first) = try await fixture.sending(to: [device.identity])
        #expect(try await version(of: first, fixture) == 1)
        let progress = try await fixture.progress(first, [], disposition: .dead(reason: "later"))
        _ = try await fixture.delivery.record(progress, by: fixture.node)
        let control = ControlMessage(fixture.scope, message.id, .requeue, by: nil)
        #expect(try await fixture.ask(control) == 1)
        try await put(["paths": ["old"]], after: 1, fixture)
        let second = try #require(try await claim(fixture).first)
        #expect(second.attempts == 1)
        try await fixture.delivery.release([second], by: fixture.node)
        let third = try #require(try await claim(fixture).first)
        #expect(try await version(of: third, fixture) == 1)
    }

    @Test func anAppWithoutRulesHasNoneAndALostLeaseGetsNone() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        let (_, lease) = try await fixture.sending(to: [device.identity])
        #expect(try await fixture.delivery.load(lease)?.isRouted == false)
        #expect(try await fixture.delivery.routing(of: lease, by: fixture.node) == .none)
        #expect(try await fixture.delivery.routing(of: lease, by: "another") == .fenced)
        var old = lease
        old.epoch = 0
        #expect(try await fixture.delivery.routing(of: old, by: fixture.node) == .fenced)
    }

    // MARK: Calls

    @Test func aCallWithoutAnEndIsFoundByTheNextNode() async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        try await put(["paths": ["old"]], after: nil, fixture)
        let (_, lease) = try await fixture.sending(to: devices.map(\.identity))
        _ = try await fixture.delivery.routing(of: lease, by: fixture.node)
        let order = ordered(lease, 1)
        #expect(try await fixture.delivery.begin(order, of: lease, by: fixture.node) == .begun)
        // Repeated, because the answer was lost.
        #expect(try await fixture.delivery.begin(order, of: lease, by: fixture.node) == .begun)
        #expect(try await fixture.delivery.begin(order, of: lease, by: "another") == .fenced)
        try await expireLeases(fixture)
        let taken = try #require(try await claim(fixture, by: "node-2").first)
        let found = InterruptedCall(id: order.id, upstream: "old", targets: Set(lease.targets))
        #expect(try await interrupted(taken, by: "node-2", fixture) == [found])
        #expect(try await fixture.delivery.begin(ordered(lease, 2), of: lease, by: fixture.node) == .fenced)
        // Its end is written with the outcomes.
        var progress = try await fixture.progress(taken, [0], disposition: .goOn, transport: "upstream:old")
        progress.calls = [UpstreamCallEnd(id: order.id, reference: "m-1")]
        #expect(try await fixture.delivery.record(progress, by: "node-2") == .recorded(1))
        #expect(try await interrupted(taken, by: "node-2", fixture).isEmpty)
        let version = try await fixture.directory.routeVersion(
            of: lease.key.message,
            dueOn: lease.dueDay,
            to: lease.targets[0],
            in: fixture.acme
        )
        #expect(version == 1)
        let rows = try await fixture.database.admin().query(
            "SELECT state, reference FROM gateway.upstream_call WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        #expect(try rows.first?.text("state") == "answered" && rows.first?.text("reference") == "m-1")
    }

    // The control: without the record the next node would call again.
    @Test func withoutARecordTheNextNodeFindsNothing() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        try await put(["paths": ["old"]], after: nil, fixture)
        let (_, lease) = try await fixture.sending(to: [device.identity])
        let store = PostgresDeliveryStore(engine: fixture.engine, omitting: [.recordsOfCalls])
        #expect(try await store.begin(ordered(lease, 1), of: lease, by: fixture.node) == .begun)
        try await expireLeases(fixture)
        let taken = try #require(try await claim(fixture, by: "node-2").first)
        #expect(try await interrupted(taken, by: "node-2", fixture).isEmpty)
    }

    @Test func aUserHasOneCallPerMessage() async throws {
        let fixture = try await StoreFixture.make()
        let one = try await fixture.register("k1", token: "aa01")
        let two = try await fixture.register("k2", token: "aa02")
        let parts = [one, two].enumerated().map { index, registered in
            NewSlice(number: Int32(index), work: .deliver, targets: [TargetID(registered.identity)])
        }
        try await put(["paths": ["old"]], after: nil, fixture)
        let message = try await fixture.message(slices: parts, leased: false, recipients: 2)
        try await fixture.accept(message)
        let leases = try await claim(fixture).sorted { $0.key.number < $1.key.number }
        try #require(leases.count == 2)
        let store = fixture.delivery
        let first = ordered(leases[0], 1, users: ["ann"])
        #expect(try await store.begin(first, of: leases[0], by: fixture.node) == .begun)
        let second = ordered(leases[1], 1, users: ["ann"])
        let target = leases[1].targets[0]
        let busy = UpstreamStart.taken([], withheld: [], busy: [target])
        #expect(try await store.begin(second, of: leases[1], by: fixture.node) == busy)
        // No byte of the first call has left, and its next try has the same user.
        let next = ordered(leases[0], 2, users: ["ann"], replacing: [first.id])
        #expect(try await store.begin(next, of: leases[0], by: fixture.node) == .begun)
        #expect(try await store.begin(second, of: leases[1], by: fixture.node) == busy)
        var progress = try await fixture.progress(leases[0], [], disposition: .again(after: .seconds(60)))
        progress.calls = [UpstreamCallEnd(id: first.id, isVoid: true), UpstreamCallEnd(id: next.id, isVoid: true)]
        _ = try await store.record(progress, by: fixture.node)
        #expect(try await store.begin(second, of: leases[1], by: fixture.node) == .begun)
        // An answered call has its user for ever.
        progress = try await fixture.progress(leases[1], [], disposition: .goOn)
        progress.calls = [UpstreamCallEnd(id: second.id)]
        _ = try await store.record(progress, by: fixture.node)
        let third = ordered(leases[1], 2, users: ["ann"])
        #expect(try await store.begin(third, of: leases[1], by: fixture.node) == .taken([target], withheld: []))
    }

    // A slice with other rules could push to a user whom a call has.
    @Test func theUsersOfCallsAreFound() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1", token: "aa01")
        try await put(["paths": ["old"]], after: nil, fixture)
        let (message, lease) = try await fixture.sending(to: [device.identity])
        let store = fixture.delivery
        let order = ordered(lease, 1, users: ["ann"])
        #expect(try await store.begin(order, of: lease, by: fixture.node) == .begun)
        guard case .rules(_, _, let callers) = try await store.routing(of: lease, by: fixture.node) else {
            Issue.record("no rules")
            return
        }
        #expect(callers == ["old"])
        let ios = UpstreamUnit(user: "ann", platform: .ios)
        let users = [
            CalledUser(place: 3, upstream: "old", unit: ios), CalledUser(place: 4, upstream: "other", unit: ios),
            CalledUser(place: 5, upstream: "old", unit: UpstreamUnit(user: "ann", platform: nil)),
            CalledUser(place: 6, upstream: "old", unit: UpstreamUnit(user: "bob", platform: .ios)),
        ]
        #expect(try await store.called(users, by: message.id, tenant: fixture.acme) == [3: false])
        var progress = try await fixture.progress(lease, [], disposition: .goOn)
        progress.calls = [UpstreamCallEnd(id: order.id)]
        _ = try await store.record(progress, by: fixture.node)
        #expect(try await store.called(users, by: message.id, tenant: fixture.acme) == [3: true])
    }

    // A slice with other rules has sent the message to a device of the user.
    @Test(arguments: [("apns", true), ("upstream:old", false)])
    func aUserWhomThePushServiceHasReachedIsNotCalled(_ transport: String, _ isReached: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        let (_, lease) = try await fixture.sending(to: devices.map(\.identity))
        var progress = try await fixture.progress(lease, [0], disposition: .goOn, transport: transport)
        for index in progress.results.indices {
            progress.results[index].user = "ann"
            progress.results[index].device = devices[0].device
        }
        #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(1))
        let order = UpstreamOrder(
            id: UpstreamCallID(epoch: lease.epoch, number: 1),
            upstream: "old",
            call: UpstreamCall(VendorRequest(route: "send", path: "/send"), targets: [0]),
            targets: [lease.targets[1]],
            units: [UpstreamUnit(user: "ann", platform: .ios)]
        )
        let start = try await fixture.delivery.begin(order, of: lease, by: fixture.node)
        #expect(start == (isReached ? .taken([lease.targets[1]], withheld: []) : .begun))
        // The upstream's send is limited to another platform.
        var other = order
        other.id = UpstreamCallID(epoch: lease.epoch, number: 2)
        other.units = [UpstreamUnit(user: "ann", platform: .android)]
        #expect(try await fixture.delivery.begin(other, of: lease, by: fixture.node) == .begun)
    }

    @Test func twoSlicesThatCallOneUserAtOnceMakeOneCall() async throws {
        let fixture = try await StoreFixture.make()
        var parts: [NewSlice] = []
        for index in 0..<8 {
            let device = try await fixture.register(VendorDeviceKey("k\(index)"), token: "aa0\(index)")
            parts.append(NewSlice(number: Int32(index), work: .deliver, targets: [TargetID(device.identity)]))
        }
        try await fixture.accept(try await fixture.message(slices: parts, leased: false, recipients: 8))
        let leases = try await claim(fixture)
        let starts = try await withThrowingTaskGroup(of: UpstreamStart.self) { group in
            for lease in leases {
                let order = ordered(lease, 1, users: ["ann"])
                group.addTask { try await fixture.delivery.begin(order, of: lease, by: fixture.node) }
            }
            return try await group.reduce(into: [UpstreamStart]()) { $0.append($1) }
        }
        #expect(starts.count == 8 && starts.count { $0 == .begun } == 1)
    }

    // The push service may have reached another device of the user.
    @Test func aUserWithATokenIsWithheldFromTheUpstreamBehindThePushService() async throws {
        let fixture = try await StoreFixture.make()
        let device = try await fixture.register("k1")
        let (_, lease) = try await fixture.sending(to: [device.identity])
        let exclusive = Set(lease.targets)
        let order = ordered(lease, 1, users: ["ann"], exclusive: exclusive)
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.identity SET user_id = 'ann' WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        let other = try await fixture.register("k2", token: "aa02")
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.identity SET user_id = 'ann' WHERE tenant_id = $1 AND identity_id = $2::uuid",
            [.id(fixture.acme), .id(other.identity)]
        )
        let store = fixture.delivery
        #expect(try await store.begin(order, of: lease, by: fixture.node) == .taken([], withheld: exclusive))
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.device SET token_state = 'invalid' WHERE tenant_id = $1",
            [.id(fixture.acme)]
        )
        #expect(try await store.begin(order, of: lease, by: fixture.node) == .begun)
    }

    // MARK: Facts

    @Test func theTagsThatRulesNameAreFound() async throws {
        let fixture = try await StoreFixture.make()
        let devices = [
            try await fixture.register("k1", token: "aa01"), try await fixture.register("k2", token: "aa02"),
        ]
        _ = try await fixture.database.admin().query(
            """
            INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
                SELECT $1::text, 'shop', 'rationalowl', t, $2::uuid FROM unnest(ARRAY['beta', 'gamma']) AS t
            """,
            [.id(fixture.acme), .id(devices[1].identity)]
        )
        // Two variants of one identity are different targets.
        let identities = [0: devices[0].identity, 1: devices[1].identity, 7: devices[1].identity]
        let found = try await fixture.delivery.tags(["beta", "delta"], of: identities, tenant: fixture.acme)
        #expect(found == [1: ["beta"], 7: ["beta"]])
    }

    @Test func recordsOfCallsAreRemovedAfterTheirTime() async throws {
        let fixture = try await StoreFixture.alone()
        let device = try await fixture.register("k1", token: "aa01")
        let (message, lease) = try await fixture.sending(to: [device.identity])
        let one = ordered(lease, 1, users: ["ann"])
        #expect(try await fixture.delivery.begin(one, of: lease, by: fixture.node) == .begun)
        let maintenance = PostgresMaintenance(engine: fixture.engine, node: fixture.node)
        #expect(try await maintenance.run().upstreamCallsRemoved == 0)
        // As if the message had been due fifty days before: its id contains the time.
        let admin = try await fixture.database.admin()
        let old = try #require(MessageID.first(at: try await fixture.now() + .seconds(-50 * 86400)))
        for table in ["upstream_call", "upstream_user"] {
            _ = try await admin.query(
                """
                INSERT INTO gateway.message SELECT (m).* FROM (
                    SELECT jsonb_populate_record(x, jsonb_build_object('message_id', $2::uuid)) AS m
                    FROM gateway.message x WHERE x.tenant_id = $1 AND x.message_id = $3::uuid) AS c ON CONFLICT DO NOTHING
                """,
                [.id(fixture.acme), .id(old), .id(message.id)]
            )
            _ = try await admin.query(
                "UPDATE gateway.\(table) SET message_id = $2::uuid WHERE tenant_id = $1",
                [.id(fixture.acme), .id(old)]
            )
        }
        let report = try await maintenance.run()
        // The call stays as long as the delivery.
        #expect(report.upstreamCallsRemoved == 1 && report.failures.isEmpty)
        let left = try await admin.query("SELECT count(*) AS n FROM gateway.upstream_call")
        #expect(try left.first?.int("n") == 1)
    }
}
