import DatabaseSupport
import Foundation
import Model
import NIOConcurrencyHelpers
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Calls that wait for an upstream: added with the call that they repeat, made in order by one node at a time, and removed with the person.
@Suite struct StoreForwardTests {
    private static let upstream: CredentialID = "old"

    private func call(_ body: String, _ kind: CallKind = .device, vendor: Vendor = .rationalOwl) -> ForwardedCall {
        ForwardedCall(
            app: "shop",
            vendor: vendor,
            upstream: Self.upstream,
            kind: kind,
            name: "installApp",
            method: "POST",
            path: "/pushApp/installApp",
            query: "v=1",
            contentType: "application/json",
            via: nil,
            body: Array(body.utf8)
        )
    }

    private func forward(
        _ fixture: StoreFixture,
        _ body: String,
        _ kind: CallKind = .device,
        about subject: ForwardedSubject
    ) async throws -> ForwardCalls.Outcome {
        try await fixture.ask(ForwardCalls(call(body, kind), about: subject))
    }

    private func store(_ fixture: StoreFixture) -> PostgresForwardStore { PostgresForwardStore(engine: fixture.engine) }

    private func key(_ fixture: StoreFixture) -> CredentialKey {
        CredentialKey(tenant: fixture.acme, credential: Self.upstream)
    }

    private func claim(_ fixture: StoreFixture, by node: NodeID = "node-1") async throws -> [ForwardLease] {
        try await store(fixture).claim(key(fixture), limit: 10, by: node, lease: .seconds(60))
    }

    private func text(_ lease: ForwardLease) -> String { String(decoding: lease.call.body, as: UTF8.self) }

    private func bodies(_ fixture: StoreFixture) async throws -> [String] {
        try await fixture.database.admin().query(
            """
            SELECT convert_from(o.body, 'UTF8') AS body FROM gateway.outbox o WHERE o.tenant_id = $1
            ORDER BY o.called_at, o.no
            """,
            [.text(fixture.acme.rawValue)]
        ).map { try $0.text("body") }
    }

    private func register(_ fixture: StoreFixture, _ key: VendorDeviceKey, user: UserID?) async throws {
        var registration = DeviceRegistration(key: key, platform: .ios)
        registration.user = user
        _ = try await fixture.ask(
            RegisterDevice(
                fixture.scope,
                key: key,
                registration,
                identity: IdentityID(UUID()),
                device: DeviceID(UUID()),
                at: try await fixture.now()
            )
        )
    }

    // MARK: Adding

    @Test func aCallIsAddedWithItsTransactionOrNotAtAll() async throws {
        let fixture = try await StoreFixture.make()
        let operation = ForwardCalls(call("1"), about: ForwardedSubject(device: "k1"))
        // The statement behind the call fails, and takes it back.
        let statements = [
            operation.statement(StoreCall(tenant: fixture.acme, node: fixture.node)), Statement("SELECT 1 / 0"),
        ]
        await #expect(throws: PostgresError.self) {
            _ = try await fixture.call.run(statements, tenant: fixture.acme.rawValue)
        }
        #expect(try await bodies(fixture).isEmpty)
        #expect(try await forward(fixture, "2", about: ForwardedSubject(device: "k1")) == .waiting)
        #expect(try await bodies(fixture) == ["2"])
    }

    @Test func equalRegistrationsThatFollowEachOtherAreMerged() async throws {
        let fixture = try await StoreFixture.make()
        let subject = ForwardedSubject(device: "k1")
        #expect(try await forward(fixture, "a", about: subject) == .waiting)
        #expect(try await forward(fixture, "a", about: subject) == .merged)
        #expect(try await forward(fixture, "a", about: ForwardedSubject(device: "k2")) == .waiting)
        #expect(try await forward(fixture, "b", about: subject) == .waiting)
        // Only the newest call is compared: the device returns to an earlier state.
        #expect(try await forward(fixture, "a", about: subject) == .waiting)
        // Two receipts are two facts.
        #expect(try await forward(fixture, "r", .receipt, about: subject) == .waiting)
        #expect(try await forward(fixture, "r", .receipt, about: subject) == .waiting)
        #expect(try await bodies(fixture) == ["a", "a", "b", "a", "r", "r"])
    }

    /// A device that logs in, logs out and logs in again ends logged in at the upstream too, although its users have queues of their own.
    @Test func anEqualRegistrationIsNotMergedOverALaterCallOfItsDevice() async throws {
        let fixture = try await StoreFixture.make()
        let user = ForwardedSubject(user: "u1", device: "k1")
        #expect(try await forward(fixture, "in", about: user) == .waiting)
        #expect(try await forward(fixture, "out", about: ForwardedSubject(device: "k1")) == .waiting)
        #expect(try await forward(fixture, "in", about: user) == .waiting)
        #expect(try await forward(fixture, "in", about: user) == .merged)
        #expect(try await bodies(fixture) == ["in", "out", "in"])
    }

    /// A registration as a call makes it, with the call behind it.
    private func registration(
        _ fixture: StoreFixture,
        _ key: VendorDeviceKey,
        token: String,
        at: Timestamp
    ) -> (RegisterDevice, ForwardCalls) {
        let register = RegisterDevice(
            fixture.scope,
            key: key,
            DeviceRegistration(key: key, platform: .ios, token: DeviceToken(apns: token)),
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: at
        )
        return (register, ForwardCalls(call(key.rawValue), about: ForwardedSubject(device: key)))
    }

    /// A registration that is left out of its set runs alone, and so does its call.
    @Test func registrationsOfSeveralCallersAreForwardedAsASet() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k0", token: "aa00")
        try await fixture.register("k1", token: "aa01")
        let at = try await fixture.now()
        func together(_ rows: [(VendorDeviceKey, String)]) async throws -> [String?] {
            let calls = rows.map { registration(fixture, $0.0, token: $0.1, at: at) }
            let statements = [try fixture.joined(calls.map(\.0)), try fixture.joined(calls.map(\.1))]
            let results = try await fixture.call.run(statements, tenant: fixture.acme.rawValue)
            let isLeftOut = try results[0].map { (row) throws(PostgresError) in try row.isNull("device_id") }
            let outcomes = try results[1].map { (row) throws(PostgresError) in try row.optionalText("outcome") }
            // This null makes the whole call run alone.
            let runAlone = try results[1].map { (row) throws(PostgresError) in try row.isNull(1) }
            #expect(outcomes.map { $0 == nil } == isLeftOut && runAlone == isLeftOut)
            return outcomes
        }
        // A known device, new ones, and two with the token of another.
        let rows: [(VendorDeviceKey, String)] = [
            ("k1", "aa01"), ("k3", "aa00"), ("k2", "aa02"), ("k5", "aa00"), ("k4", "aa04"),
        ]
        #expect(try await together(rows) == ["waiting", nil, "waiting", nil, "waiting"])
        #expect(try await bodies(fixture).sorted() == ["k1", "k2", "k4"])
        // The next transaction of the session begins anew.
        let known = [rows[4], rows[2], rows[0]]
        #expect(try await together(known) == ["merged", "merged", "merged"])
        #expect(try await fixture.log().filter { $0.kind == "registered" }.count == 4)
    }

    @Test func aForwardedRegistrationJoinsASet() async throws {
        let fixture = try await StoreFixture.make()
        let (register, forward) = registration(fixture, "k1", token: "aa01", at: try await fixture.now())
        let operations = StoreRequest(register).adding(forward).operations
        let call = StoreCall(tenant: fixture.acme, node: fixture.node)
        #expect(operations.count == 2 && operations.allSatisfy { $0.batch(call) != nil })
        #expect(OperationStore.shareCommit(operations))
    }

    /// A quota refuses a set as a whole. Its calls then run alone, and only those that are registered are forwarded.
    @Test func ofRegistrationsThatMeetThoseThatAQuotaRefusesAreNotForwarded() async throws {
        let fixture = try await StoreFixture.make()
        let quota = """
            UPDATE gateway.app SET defaults = jsonb_set(defaults, '{quotas}', '{"identities": 20}') WHERE tenant_id = $1 RETURNING app_id
            """
        _ = try await fixture.engine.run(Statement(quota, [.id(fixture.acme)]), tenant: nil)
        let at = try await fixture.now()
        let registered = await withTaskGroup(of: String?.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let token = String(format: "%08x", number)
                    let (register, forward) = self.registration(
                        fixture,
                        VendorDeviceKey("k\(number)"),
                        token: token,
                        at: at
                    )
                    let request = StoreRequest(register).adding(forward)
                    return try? await fixture.commands.run(request, in: fixture.acme).key.rawValue
                }
            }
            return await group.reduce(into: [String]()) { keys, key in
                if let key { keys.append(key) }
            }
        }
        #expect(registered.count == 20)
        #expect(try await bodies(fixture).sorted() == registered.sorted())
    }

    @Test func callsOfSeveralCallersAreAddedAsASet() async throws {
        let fixture = try await StoreFixture.make()
        let names: [VendorDeviceKey] = ["k3", "k1", "k2", "k1"]
        let operations = names.enumerated().map { place, name in
            ForwardCalls(call(place == 3 ? "1" : "\(place)"), about: ForwardedSubject(device: name))
        }
        let outcomes = try await fixture.call.run(try fixture.joined(operations), tenant: fixture.acme.rawValue)
            .map { try $0.text("outcome") }
        #expect(outcomes == ["waiting", "waiting", "waiting", "merged"])
        #expect(try await Set(bodies(fixture)) == ["0", "1", "2"])
    }

    /// The bodies of the calls of all queues, each queue in its order, by the body of its first call.
    private func drained(_ fixture: StoreFixture) async throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for first in try await claim(fixture) {
            var bodies = [text(first)]
            var lease = first
            while case .next(let next) = try await store(fixture).settle(lease, by: "node-1", for: .seconds(60)) {
                bodies.append(text(next))
                lease = next
            }
            found[bodies[0]] = bodies
        }
        return found
    }

    /// The queues of a set are written at once, whether they are new or not, and with calls of one or of several kinds.
    @Test func theCallsOfASetKeepTheirOrderInTheirQueues() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await forward(fixture, "1", about: ForwardedSubject(device: "k1"))
        _ = try await forward(fixture, "r1", .receipt, about: ForwardedSubject(device: "k3"))
        let rows: [(VendorDeviceKey, String, CallKind)] = [
            ("k3", "r2", .receipt), ("k1", "r", .receipt), ("k2", "a", .device), ("k1", "x", .device),
            ("k1", "x", .device), ("k3", "r3", .receipt), ("k2", "b", .receipt), ("k4", "only", .user),
        ]
        let operations = rows.map { ForwardCalls(call($0.1, $0.2), about: ForwardedSubject(device: $0.0)) }
        let outcomes = try await fixture.call.run(try fixture.joined(operations), tenant: fixture.acme.rawValue)
            .map { try $0.text("outcome") }
        var expected = Array(repeating: "waiting", count: rows.count)
        expected[4] = "merged"
        #expect(outcomes == expected)
        #expect(
            try await drained(fixture)
                == ["1": ["1", "r", "x"], "r1": ["r1", "r2", "r3"], "a": ["a", "b"], "only": ["only"]]
        )
    }

    @Test func aCallOfAKnownDeviceIsOrderedWithItsUser() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "k1", user: "u1")
        _ = try await forward(fixture, "1", about: ForwardedSubject(user: "u1"))
        _ = try await forward(fixture, "2", about: ForwardedSubject(device: "k1"))
        _ = try await forward(fixture, "3", about: ForwardedSubject(device: "k2"))
        #expect(try await Set(claim(fixture).map(text)) == ["1", "3"])
    }

    @Test func anUpstreamThatIsFullTakesNoFurtherCalls() async throws {
        let fixture = try await StoreFixture.alone()
        for number in 1...3 { _ = try await forward(fixture, "\(number)", about: ForwardedSubject(device: "k")) }
        var backlog = try #require(try await store(fixture).survey(limit: 3, age: .zero).first)
        #expect(backlog.isFull && backlog.waiting == 3 && backlog.upstream == key(fixture))
        #expect(try await forward(fixture, "4", about: ForwardedSubject(device: "k")) == .full)
        // The caller is notified, whether the call is part of the transaction or its end.
        let notices = NIOLockedValueBox(0)
        let note: @Sendable () -> Void = { notices.withLockedValue { $0 += 1 } }
        let full = ForwardCalls(call("4"), about: ForwardedSubject(device: "k"), onFull: note)
        _ = try await fixture.ask(full)
        let request = StoreRequest<Int>.settled(1).adding(full).ending { _ in [full] }
        #expect(try await fixture.commands.run(request, in: fixture.acme) == 1)
        #expect(notices.withLockedValue { $0 } == 3)
        backlog = try #require(try await store(fixture).survey(limit: 10, age: .zero).first)
        #expect(!backlog.isFull)
        #expect(try await forward(fixture, "5", about: ForwardedSubject(device: "k")) == .waiting)
    }

    // MARK: Leases

    @Test func aQueueIsMadeInOrderByOneNode() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["1", "2"] { _ = try await forward(fixture, body, about: ForwardedSubject(device: "k")) }
        #expect(try await store(fixture).due().contains(key(fixture)))
        let lease = try #require(try await claim(fixture).first)
        #expect(text(lease) == "1" && lease.call == call("1") && lease.attempts == 0)
        #expect(try await claim(fixture, by: "node-2").isEmpty)
        guard case .next(let next) = try await store(fixture).settle(lease, by: "node-1", for: .seconds(60)) else {
            Issue.record("no next call")
            return
        }
        #expect(text(next) == "2")
        #expect(try await store(fixture).settle(next, by: "node-1", for: .seconds(60)) == .ended)
        #expect(try await bodies(fixture).isEmpty)
        #expect(try await claim(fixture).isEmpty)
    }

    @Test func aNodeThatLostItsLeaseChangesNothing() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["1", "2"] { _ = try await forward(fixture, body, about: ForwardedSubject(device: "k")) }
        let first = try #require(try await claim(fixture).first)
        try await makeDue(fixture)
        let second = try #require(try await claim(fixture, by: "node-2").first)
        #expect(text(second) == "1" && second.epoch > first.epoch)
        #expect(try await store(fixture).settle(first, by: "node-1", for: .seconds(60)) == .lost)
        let isOurs = try await store(fixture)
            .postpone(first, by: .seconds(9), reason: "late", counts: true, node: "node-1")
        #expect(!isOurs)
        try await store(fixture).release(first, node: "node-1")
        #expect(try await claim(fixture).isEmpty)
        guard case .next(let next) = try await store(fixture).settle(second, by: "node-2", for: .seconds(60)) else {
            Issue.record("no next call")
            return
        }
        #expect(text(next) == "2")
    }

    @Test func aQueueThatWasEmptyNeverHasAnEpochAgain() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await forward(fixture, "1", about: ForwardedSubject(device: "k"))
        let old = try #require(try await claim(fixture).first)
        #expect(try await store(fixture).settle(old, by: "node-1", for: .seconds(60)) == .ended)
        _ = try await forward(fixture, "2", about: ForwardedSubject(device: "k"))
        let new = try #require(try await claim(fixture).first)
        #expect(new.epoch > old.epoch && new.number == old.number)
        #expect(try await store(fixture).settle(old, by: "node-1", for: .seconds(60)) == .lost)
        #expect(try await bodies(fixture) == ["2"])
    }

    @Test func aFailedCallWaitsAndIsMadeAgainWhenTheUpstreamWorks() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await forward(fixture, "1", about: ForwardedSubject(device: "k"))
        let lease = try #require(try await claim(fixture).first)
        let isOurs = try await store(fixture)
            .postpone(lease, by: .seconds(300), reason: "HTTP 500", counts: true, node: "node-1")
        #expect(isOurs)
        #expect(try await claim(fixture).isEmpty)
        try await store(fixture).resume(key(fixture))
        let again = try #require(try await claim(fixture, by: "node-2").first)
        #expect(again.attempts == 1 && text(again) == "1")
        // A failure that is not the call's own does not count.
        let isStillOurs = try await store(fixture)
            .postpone(again, by: .zero, reason: "busy", counts: false, node: "node-2")
        #expect(isStillOurs)
        #expect(try await claim(fixture).first?.attempts == 1)
    }

    @Test func queuesWithReceiptsComeFirst() async throws {
        let fixture = try await StoreFixture.make()
        for number in 1...3 {
            _ = try await forward(fixture, "\(number)", about: ForwardedSubject(device: VendorDeviceKey("k\(number)")))
        }
        _ = try await forward(fixture, "receipt", .receipt, about: ForwardedSubject(device: "k9"))
        let leases = try await store(fixture).claim(key(fixture), limit: 1, by: "node-1", lease: .seconds(60))
        #expect(leases.map(text) == ["receipt"])
    }

    /// The calls of a device keep their order also when it changes its user, although users have queues of their own.
    @Test func aDeviceThatChangesItsUserKeepsItsOrder() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await forward(fixture, "of u1", about: ForwardedSubject(user: "u1", device: "k1"))
        _ = try await forward(fixture, "of u2", about: ForwardedSubject(user: "u2", device: "k1"))
        _ = try await forward(fixture, "other", about: ForwardedSubject(user: "u2", device: "k2"))
        let leases = try await claim(fixture)
        #expect(leases.map(text) == ["of u1"])
        let first = try #require(leases.first)
        #expect(try await store(fixture).settle(first, by: "node-1", for: .seconds(60)) == .ended)
        try await makeDue(fixture)
        #expect(try await claim(fixture).map(text) == ["of u2"])
    }

    private func makeDue(_ fixture: StoreFixture) async throws {
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.outbox_queue SET next_at = now() WHERE tenant_id = $1",
            [.text(fixture.acme.rawValue)]
        )
    }

    // MARK: The end

    @Test func callsAreRemovedAfterSevenDays() async throws {
        let fixture = try await StoreFixture.alone()
        for body in ["old", "new"] { _ = try await forward(fixture, body, about: ForwardedSubject(device: "k")) }
        _ = try await fixture.database.admin().query(
            "UPDATE gateway.outbox SET called_at = now() - interval '8 days' WHERE body = 'old'"
        )
        let report = try await PostgresMaintenance(engine: fixture.engine, node: fixture.node).run()
        #expect(report.forwardedRemoved == 1 && report.failures.isEmpty)
        #expect(try await bodies(fixture) == ["new"])
        #expect(try await claim(fixture).map(text) == ["new"])
    }

    @Test func anErasedUserTakesTheWaitingCallsAlong() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "k1", user: "u1")
        _ = try await forward(fixture, "user", about: ForwardedSubject(user: "u1"))
        _ = try await forward(fixture, "device", about: ForwardedSubject(device: "k1"))
        _ = try await forward(fixture, "before its user was known", about: ForwardedSubject(user: "u0", device: "k1"))
        _ = try await forward(fixture, "other", about: ForwardedSubject(user: "u2"))
        _ = try await fixture.eraseUser("u1", in: fixture.acme, by: .key("test"))
        #expect(try await bodies(fixture) == ["other"])
        // A user without a registration may have waiting calls too.
        _ = try await fixture.eraseUser("u2", in: fixture.acme, by: .key("test"))
        #expect(try await bodies(fixture).isEmpty)
        // Queues without calls disappear.
        #expect(try await claim(fixture).isEmpty)
        let queues = try await fixture.database.admin().query(
            "SELECT count(*) AS n FROM gateway.outbox_queue WHERE tenant_id = $1",
            [.text(fixture.acme.rawValue)]
        )
        #expect(try queues.only().int("n") == 0)
    }

    /// A call about others too, or one that removes something at the upstream, still arrives there.
    @Test func callsThatOutliveAnErasureStay() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "k1", user: "u1")
        _ = try await forward(fixture, "own", about: ForwardedSubject(user: "u1"))
        _ = try await forward(fixture, "batch", about: ForwardedSubject(user: "u1", outlivesErasure: true))
        _ = try await forward(fixture, "removal", about: ForwardedSubject(device: "k1", outlivesErasure: true))
        _ = try await fixture.eraseUser("u1", in: fixture.acme, by: .key("test"))
        #expect(try await bodies(fixture) == ["batch", "removal"])
    }

    @Test func ofSeveralErasedUsersTheUnknownOnesTakeTheirCallsAlong() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "k1", user: "u1")
        _ = try await forward(fixture, "known", about: ForwardedSubject(user: "u1"))
        _ = try await forward(fixture, "unknown", about: ForwardedSubject(user: "u7"))
        _ = try await fixture.ask(EraseUsers(fixture.scope, ["u1", "u7"], by: "test"))
        #expect(try await bodies(fixture).isEmpty)
    }

    /// A call that erases the user at the upstream is added behind the erasure, in its transaction.
    @Test func theErasureItselfIsForwarded() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "k1", user: "u1")
        _ = try await forward(fixture, "user", about: ForwardedSubject(user: "u1"))
        _ = try await fixture.commands.run(
            EraseUsers(fixture.scope, ["u1"], by: "test"),
            ForwardCalls(call("erase", .user), about: ForwardedSubject(user: "u1")),
            in: fixture.acme
        )
        #expect(try await bodies(fixture) == ["erase"])
    }
}
