import DatabaseSchema
import DatabaseSupport
import DeliveryEngine
import Foundation
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Two transactions that need the same rows lock them in one order (docs/architecture.md#lock-order), so the second waits for the first.
@Suite struct StoreLockTests {
    private let inbox = AppScope(app: "shop", vendor: .ipns)

    /// Begins the transactions one after the other, each in a session of its own, while `blocker` holds its locks; then ends the blocker.
    ///
    /// `meanwhile` runs before the blocker ends. A session runs a transaction once, so a deadlock is its error. Returns the code of each transaction's error.
    func race(
        _ fixture: StoreFixture,
        behind blocker: String,
        _ transactions: [(role: GatewayRole, transaction: Transaction)],
        meanwhile: () async throws -> Void = {}
    ) async throws -> [PostgresError.Code?] {
        let admin = try await fixture.database.admin()
        let holder = try await fixture.database.admin()
        let holderPID = try await holder.query("SELECT pg_backend_pid() AS pid").only().int("pid")
        // The blocker waits for this session, which ends the wait.
        let gate = "hashtextextended('\(fixture.acme)', 0)"
        try await admin.script("SELECT pg_advisory_lock(\(gate))")
        let blocking = Task {
            try await holder.script("BEGIN; \(blocker); SELECT pg_advisory_xact_lock(\(gate)); COMMIT")
        }
        try await eventually("the blocker has its locks") {
            let count =
                "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = \(holderPID)"
            return try await admin.query(count).only().int("count") == 1
        }
        let outcomes = try await withThrowingTaskGroup(of: (Int, PostgresError.Code?).self) { group in
            for (place, (role, transaction)) in transactions.enumerated() {
                let session = try await PostgresConnection.connect(
                    fixture.database.configuration(role),
                    logger: TestCluster.logger
                )
                let pid = try await session.query("SELECT pg_backend_pid() AS pid").only().int("pid")
                group.addTask {
                    do {
                        _ = try await session.run(transaction)
                        return (place, nil)
                    } catch let error as PostgresError {
                        return (place, error.code)
                    }
                }
                try await eventually("transaction \(place) waits") {
                    let row = try await admin.query("SELECT cardinality(pg_blocking_pids(\(pid))) AS count").only()
                    return try row.int("count") > 0
                }
            }
            try await meanwhile()
            try await admin.script("SELECT pg_advisory_unlock(\(gate))")
            try await blocking.value
            return try await group.reduce(into: [Int: PostgresError.Code?]()) { $0[$1.0] = $1.1 }
        }
        return transactions.indices.map { outcomes[$0] ?? nil }
    }

    /// Holds the end of the tenant's event log, which every transaction that changes deliveries takes last.
    private func eventLog(of fixture: StoreFixture) -> String {
        """
        SELECT gateway.append_events('\(fixture.acme)', 'shop', 'ipns', NULL, gen_random_uuid(), 20000, ARRAY['accepted'], ARRAY[NULL]::uuid[])
        """
    }

    private func flush(_ fixture: StoreFixture, _ progress: SliceProgress) -> (GatewayRole, Transaction) {
        (.engine, Transaction(tenant: nil, [fixture.delivery.recording(progress, by: fixture.node)]))
    }

    func act(_ fixture: StoreFixture, _ operation: some StoreOperation) -> (GatewayRole, Transaction) {
        let call = StoreCall(tenant: fixture.acme, node: fixture.node)
        return (.call, Transaction(tenant: fixture.acme.rawValue, [operation.statement(call)]))
    }

    /// A message with slices of two targets, leased by this node.
    private func leases(_ fixture: StoreFixture, slices count: Int = 2) async throws -> (NewMessage, [SliceLease]) {
        let slices = (0..<count).map { number in
            NewSlice(number: Int32(number), work: .deliver, targets: [TargetID(UUID()), TargetID(UUID())])
        }
        let message = try await fixture.message(slices: slices, recipients: 2 * count)
        try await fixture.accept(message)
        let leases = slices.map { slice in
            SliceLease(
                key: SliceKey(tenant: fixture.acme, message: message.id, number: slice.number),
                epoch: 1,
                lane: message.lane,
                dueDay: message.times.dueAt.day,
                work: .deliver,
                targets: slice.targets
            )
        }
        return (message, leases)
    }

    // Each node's check for open slices must see the other's slice.
    @Test func twoNodesThatFinishTheLastSlices() async throws {
        let fixture = try await StoreFixture.make()
        let (message, leases) = try await leases(fixture)
        let last = [try await fixture.progress(leases[0], [0, 1]), try await fixture.progress(leases[1], [0, 1])]
        let errors = try await race(fixture, behind: eventLog(of: fixture), last.map { flush(fixture, $0) })
        #expect(errors == [nil, nil])
        #expect(try await fixture.facts(message.id).state == .done)
    }

    @Test func countsThatAreAppendedDuringAFoldAreKept() async throws {
        let fixture = try await StoreFixture.make()
        let (_, leases) = try await leases(fixture)
        let fold = (GatewayRole.engine, Transaction(tenant: nil, [CountSQL.fold(.id(fixture.acme), .int32(1000))]))
        let first = try await fixture.progress(leases[0], [0], disposition: .goOn)
        _ = try await fixture.delivery.record(first, by: fixture.node)
        _ = try await fixture.engine.run(fold.1)
        let second = try await fixture.progress(first.lease, [1])
        _ = try await fixture.delivery.record(second, by: fixture.node)
        let counted = "SELECT FROM gateway.counter WHERE tenant_id = '\(fixture.acme)' FOR UPDATE"
        let errors = try await race(fixture, behind: counted, [fold]) {
            let progress = try await fixture.progress(leases[1], [0, 1])
            #expect(try await fixture.delivery.record(progress, by: fixture.node) == .recorded(2))
            #expect(try await fixture.counters() == Funnel(recipients: 4, sent: 4))
        }
        #expect(errors == [nil])
        #expect(try await fixture.counters() == Funnel(recipients: 4, sent: 4))
        _ = try await fixture.engine.run(fold.1)
        #expect(try await fixture.counters() == Funnel(recipients: 4, sent: 4))
    }

    private func forwarding(_ body: String, about subject: ForwardedSubject) -> ForwardCalls {
        ForwardCalls(
            ForwardedCall(
                app: "shop",
                vendor: .rationalOwl,
                upstream: "old",
                kind: .user,
                name: "call",
                method: "POST",
                path: "/",
                body: Array(body.utf8)
            ),
            about: subject
        )
    }

    /// A statement that holds the queues of the tenant's forwarded calls.
    private func queues(of fixture: StoreFixture) -> String {
        "SELECT FROM gateway.outbox_queue q WHERE q.tenant_id = '\(fixture.acme)' FOR UPDATE"
    }

    // A settled call has locked its queue first. The erasure forwards itself behind, to the same queue.
    @Test func anErasureAndANodeThatSettlesACallAboutTheUser() async throws {
        let fixture = try await StoreFixture.make()
        let user = ForwardedSubject(user: "u1")
        _ = try await fixture.ask(forwarding("1", about: user))
        let upstream = CredentialKey(tenant: fixture.acme, credential: "old")
        let leases = try await PostgresForwardStore(engine: fixture.engine)
            .claim(upstream, limit: 1, by: "node-1", lease: .seconds(60))
        let lease = try #require(leases.first)
        let call = StoreCall(tenant: fixture.acme, node: fixture.node)
        let erase = EraseUsers(fixture.scope, ["u1"], by: "test").statement(call)
        let erasure = Transaction(
            tenant: fixture.acme.rawValue,
            [erase, forwarding("erase", about: user).statement(call)]
        )
        let settlement = PostgresForwardStore.settlement(lease, by: "node-1", for: .seconds(60))
        let held = "SELECT FROM gateway.outbox o WHERE o.tenant_id = '\(fixture.acme)' FOR UPDATE"
        let errors = try await race(fixture, behind: held, [(.call, erasure), (.engine, settlement)])
        #expect(errors == [nil, nil])
    }

    /// The erasures that remove waiting calls.
    enum Erasure: CaseIterable, Sendable {
        case device, user, unknownUser, users, unknownUsers

        var isOfUnknown: Bool { self == .unknownUser || self == .unknownUsers }
    }

    /// A registration of a new device.
    func registration(
        _ fixture: StoreFixture,
        _ key: VendorDeviceKey,
        of user: UserID,
        token: String,
        in scope: AppScope
    ) async throws -> RegisterDevice {
        RegisterDevice(
            scope,
            key: key,
            DeviceRegistration(key: key, platform: .ios, token: DeviceToken(apns: token), user: user),
            identity: IdentityID(UUID()),
            device: DeviceID(UUID()),
            at: try await fixture.now()
        )
    }

    // The erasure waits for the audit behind a call that then waits for the event log. The registration holds that log while it waits for its queue, which the
    // erasure must not hold yet.
    @Test(arguments: Erasure.allCases)
    func anErasureAnAuditedCallAndAForwardedRegistration(_ erasure: Erasure) async throws {
        let fixture = try await StoreFixture.make()
        let owner: UserID = erasure.isOfUnknown ? "u0" : "u1"
        let device = try await fixture.ask(registration(fixture, "k1", of: owner, token: "aa01", in: fixture.scope))
        let other = try await fixture.register("k2", token: "aa02")
        _ = try await fixture.ask(forwarding("1", about: ForwardedSubject(user: "u1", device: "k1")))

        let vouch = VouchIdentity(other.identity, of: nil, by: .key("test"))
        let erase =
            switch erasure {
            case .device: act(fixture, EraseDevice(device.device, by: .key("test")))
            case .user, .unknownUser: act(fixture, EraseUserEverywhere("u1", by: "test"))
            case .users, .unknownUsers: act(fixture, EraseUsers(fixture.scope, ["u1"], by: "test"))
            }
        let call = StoreCall(tenant: fixture.acme, node: fixture.node)
        // Of another vendor, so that it does not wait for the counts that the erasure changes.
        let register = try await registration(fixture, "k3", of: "u1", token: "aa03", in: inbox)
        let forward = forwarding("2", about: ForwardedSubject(user: "u1", device: "k3"))
        let registered = Transaction(
            tenant: fixture.acme.rawValue,
            [register.statement(call), forward.statement(call)]
        )
        let held = "SELECT gateway.lock_name('\(fixture.acme)', 'audit', ''); " + queues(of: fixture)
        let errors = try await race(fixture, behind: held, [act(fixture, vouch), erase, (.call, registered)])
        #expect(errors == [nil, nil, nil])
    }

    // The call holds the badge while it waits for its queue.
    @Test func anErasureAndAForwardedCallThatSetsTheBadgeOfTheUser() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.ask(registration(fixture, "k1", of: "u1", token: "aa01", in: fixture.scope))
        let badge = SetBadge(fixture.scope, BadgeHolder(key: "k1"), 1)
        let forwarding = forwarding("1", about: ForwardedSubject(user: "u1"))
        _ = try await fixture.commands.run(badge, forwarding, in: fixture.acme)
        let call = StoreCall(tenant: fixture.acme, node: fixture.node)
        let setting = Transaction(
            tenant: fixture.acme.rawValue,
            [badge.statement(call), forwarding.statement(call)]
        )
        let erase = act(fixture, EraseUserEverywhere("u1", by: "test"))
        let errors = try await race(fixture, behind: queues(of: fixture), [erase, (.call, setting)])
        #expect(errors == [nil, nil])
    }

    // A set of calls may hold the newest calls of several queues.
    @Test func retentionSkipsWaitingCallsThatAreLocked() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["held", "free"] {
            _ = try await fixture.ask(forwarding(body, about: ForwardedSubject(device: "k1")))
        }
        let drop = MaintenanceSQL.dropForwarded(.id(fixture.acme), .interval(.zero))
        let held = "SELECT FROM gateway.outbox o WHERE o.tenant_id = '\(fixture.acme)' AND o.body = 'held' FOR UPDATE"
        _ = try await race(fixture, behind: held, []) {
            let dropped = try await fixture.runAlone(Transaction(tenant: nil, [drop]))
            #expect(dropped.affectedRows == 1)
        }
        #expect(try await fixture.engine.run(drop, tenant: nil).affectedRows == 1)
    }

    private static let returns: [SliceProgress.Disposition] = [
        .again(after: .seconds(5)), .again(after: .seconds(5), heldBy: "c1"), .crowded(for: .seconds(5)),
        .dead(reason: "test"),
    ]

    @Test(arguments: 0..<returns.count)
    func aReturnedSliceAndAFinishingSibling(_ index: Int) async throws {
        let fixture = try await StoreFixture.make()
        let (message, leases) = try await leases(fixture)
        let returned = try await fixture.progress(leases[0], [0], disposition: Self.returns[index])
        let finished = try await fixture.progress(leases[1], [0, 1])
        let errors = try await race(
            fixture,
            behind: eventLog(of: fixture),
            [flush(fixture, returned), flush(fixture, finished)]
        )
        #expect(errors == [nil, nil])
        #expect(try await fixture.counters().sent == 3)
        #expect(try await fixture.facts(message.id).state == (index == 3 ? .dead : .sending))
    }

    // A renewal of leases may hold a slice and wait for one with a higher number, which the flush has locked first.
    @Test func aCrowdedMessageDoesNotWaitForASliceThatIsLocked() async throws {
        let fixture = try await StoreFixture.make()
        let (message, leases) = try await leases(fixture, slices: 3)
        for lease in leases[1...] {
            let free = try await fixture.progress(lease, [], disposition: .again(after: .zero))
            _ = try await fixture.delivery.record(free, by: fixture.node)
        }
        let crowded = try await fixture.progress(leases[0], [], disposition: .crowded(for: .seconds(600)))
        let record = fixture.delivery.recording(crowded, by: fixture.node)
        let held = """
            SELECT FROM gateway.slice WHERE tenant_id = '\(fixture.acme)' AND message_id = '\(message.id)' AND no = 1 FOR UPDATE
            """
        _ = try await race(fixture, behind: held, []) {
            let row = try await fixture.runAlone(Transaction(tenant: nil, [record])).only()
            #expect(try row.int("count") == 0)
        }
        let delayed = try await fixture.engine.run(
            Statement(
                """
                SELECT s.no FROM gateway.slice s
                WHERE s.tenant_id = $1 AND s.message_id = $2 AND s.next_at > now() + interval '5 minutes' ORDER BY s.no
                """,
                [.id(fixture.acme), .id(message.id)]
            ),
            tenant: nil
        )
        #expect(try delayed.map { try $0.int("no") } == [0, 2])
    }

    @Test(arguments: [MessageControl.pause, .cancel])
    func aReturnedSliceAndAControlCommand(_ control: MessageControl) async throws {
        let fixture = try await StoreFixture.make()
        let (message, leases) = try await leases(fixture)
        let returned = try await fixture.progress(leases[0], [0], disposition: .again(after: .seconds(600)))
        let command = ControlMessage(fixture.scope, message.id, control, by: "test")
        let errors = try await race(
            fixture,
            behind: eventLog(of: fixture),
            [flush(fixture, returned), act(fixture, command)]
        )
        #expect(errors == [nil, nil])
        // The command found the slice returned, so it was parked or made due.
        let admin = try await fixture.database.admin()
        let row = try await admin.query(
            "SELECT next_at > now() + interval '30 minutes' AS is_parked, next_at <= now() AS is_due FROM gateway.slice WHERE message_id = $1 AND no = 0",
            [.uuid(message.id.rawValue)]
        ).only()
        #expect(try row.bool(control == .pause ? "is_parked" : "is_due"))
    }

    /// An iPNS device with messages that it has not received, oldest first.
    private func device(_ fixture: StoreFixture, messages count: Int) async throws -> [(id: MessageID, number: String)]
    {
        let device = try await fixture.register("k1", token: "aa01", vendor: .ipns)
        var sent: [(MessageID, String)] = []
        for index in 0..<count {
            let message = try await fixture.message(to: [(TargetID(device.identity), nil)], scope: inbox)
            let number = "10000000000000000\(index)"
            _ = try await fixture.commands.run(
                AcceptMessage(message),
                NumberMessage(message.id, [.ipns: number], targets: [], inboxes: [.ipns]),
                in: fixture.acme
            )
            var progress = try await fixture.progress(fixture.lease(of: message), [0])
            progress.results[0].dialect = .ipns
            _ = try await fixture.delivery.record(progress, by: fixture.node)
            sent.append((message.id, number))
            try await Task.sleep(for: .milliseconds(2))
        }
        return sent
    }

    private func report(_ fixture: StoreFixture, _ number: String, at time: Timestamp) -> ReportNumber {
        ReportNumber(inbox, DeviceCaller(key: "k1"), number: number, .received, at: time)
    }

    private func poll(at time: Timestamp) -> PollInbox {
        PollInbox(inbox, DeviceCaller(key: "k1"), limit: 10, at: time)
    }

    @Test(arguments: [true, false])
    func aReceiptAndAPoll(isGrouped: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 2)
        let now = try await fixture.now()
        let report = report(fixture, messages[1].number, at: now)
        let first =
            isGrouped
            ? (GatewayRole.call, Transaction(tenant: fixture.acme.rawValue, [try fixture.joined([report])]))
            : act(fixture, report)
        let errors = try await race(fixture, behind: eventLog(of: fixture), [first, act(fixture, poll(at: now))])
        #expect(errors == [nil, nil])
        #expect(try await fixture.counters().received == 2)
        #expect(try await fixture.ask(poll(at: now)).isEmpty)
    }

    @Test func aPollAndAReceipt() async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 2)
        let now = try await fixture.now()
        let report = report(fixture, messages[0].number, at: now)
        let errors = try await race(
            fixture,
            behind: eventLog(of: fixture),
            [act(fixture, poll(at: now)), act(fixture, report)]
        )
        #expect(errors == [nil, nil])
        #expect(try await fixture.counters().received == 2)
    }

    // An erasure or an end does not wait for the key of a registration, which has then read an identity that is gone or has changed. It is made again.
    @Test(arguments: [true, false], [true, false])
    func aRegistrationWhoseIdentityEnds(isGrouped: Bool, isErased: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.register("k1", token: "aa01", vendor: .ipns)
        let register = try await registration(fixture, "k1", of: "u1", token: "aa01", in: inbox)
        let first =
            isGrouped
            ? (GatewayRole.call, Transaction(tenant: fixture.acme.rawValue, [try fixture.joined([register])]))
            : act(fixture, register)
        let row = "gateway.identity WHERE tenant_id = '\(fixture.acme)' AND key = 'k1'"
        let end =
            isErased
            ? "DELETE FROM \(row)"
            : "UPDATE gateway.identity SET state = 'unregistered' WHERE tenant_id = '\(fixture.acme)' AND key = 'k1'"
        let errors = try await race(fixture, behind: end, [first])
        #expect(errors == [.serializationFailure])
    }

    // A set of receipts writes the first receipts of deliveries, and then looks for the others, which may be before them in the order of locks.
    @Test func aSetOfReceiptsDoesNotWaitForAnEarlierDelivery() async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 2)
        let now = try await fixture.now()
        _ = try await fixture.ask(report(fixture, messages[0].number, at: now))
        let reads = messages.map { ReportNumber(inbox, DeviceCaller(key: "k1"), number: $0.number, .read, at: now) }
        let set = Transaction(tenant: fixture.acme.rawValue, [try fixture.joined(reads)])
        let earlier = """
            SELECT FROM gateway.delivery WHERE tenant_id = '\(fixture.acme)' AND message_id = '\(messages[0].id)' FOR UPDATE
            """
        // It locks the first delivery next, and then the second.
        let history = """
            SELECT gateway.touch_deliveries($1, d.identity_id, array_agg(d.message_id), array_agg(d.due_day), 'received', $2)
            FROM gateway.delivery d WHERE d.tenant_id = $1 AND d.message_id = ANY ($3) GROUP BY d.identity_id
            """
        let parameters: [PostgresValue] = [.id(fixture.acme), .time(now), .uuids(messages.map(\.id.rawValue))]
        let touch = Transaction(tenant: fixture.acme.rawValue, [Statement(history, parameters)])
        let errors = try await race(fixture, behind: earlier, [(.call, touch)]) {
            let rows = try await fixture.runAlone(set)
            #expect(try rows.map { try $0.optionalText("outcome") } == [nil, "recorded"])
        }
        #expect(errors == [nil])
    }

    // A poll that holds the row may wait for a delivery of the set.
    @Test func aSetOfReceiptsDoesNotWaitForARowOfAnInbox() async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 2)
        let now = try await fixture.now()
        let set = Transaction(
            tenant: fixture.acme.rawValue,
            [try fixture.joined(messages.map { report(fixture, $0.number, at: now) })]
        )
        let row = "gateway.inbox_open o WHERE o.tenant_id = '\(fixture.acme)' AND o.message_id = '\(messages[0].id)'"
        _ = try await race(fixture, behind: "SELECT FROM \(row) FOR UPDATE", []) {
            let rows = try await fixture.runAlone(set)
            #expect(try rows.map { try $0.optionalText("outcome") } == ["recorded", "recorded"])
        }
        // Control: the row was there. The other one is gone, and a poll removes this one.
        let sql = "SELECT o.message_id AS id FROM gateway.inbox_open o WHERE o.tenant_id = $1"
        let open = Statement(sql, [.id(fixture.acme)])
        let left = try await fixture.engine.run(open, tenant: nil)
        #expect(try left.map { try $0.uuid("id") } == [messages[0].id.rawValue])
        #expect(try await fixture.ask(poll(at: now)).isEmpty)
        #expect(try await fixture.engine.run(open, tenant: nil).isEmpty)
        #expect(try await fixture.counters().received == 2)
    }

    @Test func aHistoryAndAPoll() async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 3)
        let now = try await fixture.now()
        let history = ListHistory(inbox, DeviceCaller(key: "k1"), HistoryPage(.device, count: 10), at: now)
        // The history goes backwards from the newest message and a poll forwards from the oldest, and both meet here.
        let middle = """
            SELECT FROM gateway.delivery WHERE tenant_id = '\(fixture.acme)' AND message_id = '\(messages[1].id)' FOR UPDATE
            """
        let errors = try await race(fixture, behind: middle, [act(fixture, history), act(fixture, poll(at: now))])
        #expect(errors == [nil, nil])
        #expect(try await fixture.counters().received == 3)
    }

    @Test func twoPollsReturnEachMessageOnce() async throws {
        let fixture = try await StoreFixture.make()
        let messages = try await device(fixture, messages: 8)
        let now = try await fixture.now()
        let entries = try await withThrowingTaskGroup(of: [InboxEntry].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await fixture.ask(PollInbox(self.inbox, DeviceCaller(key: "k1"), limit: 2, at: now))
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(entries.map(\.notification.message).sorted() == messages.map(\.id).sorted())
    }
}
