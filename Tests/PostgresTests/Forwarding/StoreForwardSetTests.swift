import DatabaseSupport
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

/// Queues of forwarded calls that are claimed and settled together. Each gets the result that it would get alone.
@Suite struct StoreForwardSetTests {
    private static let upstream: CredentialID = "old"

    private func forward(
        _ fixture: StoreFixture,
        _ body: String,
        _ kind: CallKind = .user,
        about subject: ForwardedSubject
    ) async throws {
        let call = ForwardedCall(
            app: "shop",
            vendor: .rationalOwl,
            upstream: Self.upstream,
            kind: kind,
            name: "installApp",
            method: "POST",
            path: "/pushApp/installApp",
            body: Array(body.utf8)
        )
        #expect(try await fixture.ask(ForwardCalls(call, about: subject)) == .waiting)
    }

    private func store(_ fixture: StoreFixture) -> PostgresForwardStore { PostgresForwardStore(engine: fixture.engine) }

    private func claim(
        _ fixture: StoreFixture,
        _ limit: Int = 100,
        by node: NodeID = "node-1"
    ) async throws -> [ForwardLease] {
        let key = CredentialKey(tenant: fixture.acme, credential: Self.upstream)
        return try await store(fixture).claim(key, limit: limit, by: node, lease: .seconds(60))
    }

    private func text(_ lease: ForwardLease) -> String { String(decoding: lease.call.body, as: UTF8.self) }

    /// The lease of the call with this body.
    private func lease(_ body: String, of leases: [ForwardLease]) throws -> ForwardLease {
        try #require(leases.first { text($0) == body })
    }

    /// Settles the calls in one statement, and describes the result of each.
    private func together(_ fixture: StoreFixture, _ leases: [ForwardLease]) async throws -> [String] {
        let batches = leases.flatMap { PostgresForwardStore.settlement($0, by: "node-1", for: .seconds(60)).batches }
        let statement = try #require(StatementBatch.joined(batches))
        let results = try await fixture.engine.run(statement, tenant: nil)
        try #require(results.count == leases.count)
        var steps: [String] = []
        for (row, lease) in zip(results, leases) {
            // A null here makes a call run alone.
            #expect(try row.isNull(1) == false)
            steps.append(name(of: try PostgresForwardStore.step(row, after: lease)))
        }
        return steps
    }

    private func name(of step: ForwardStep) -> String {
        switch step {
        case .next(let next): "next \(text(next))"
        case .ended: "ended"
        case .lost: "lost"
        }
    }

    private func bodies(_ fixture: StoreFixture) async throws -> Set<String> {
        let rows = try await fixture.database.admin().query(
            "SELECT convert_from(o.body, 'UTF8') AS body FROM gateway.outbox o WHERE o.tenant_id = $1",
            [.text(fixture.acme.rawValue)]
        )
        return Set(try rows.map { (row) throws(PostgresError) in try row.text("body") })
    }

    /// The owners of the queues, as many as there are; empty for a queue without one.
    private func owners(_ fixture: StoreFixture) async throws -> [String] {
        try await fixture.database.admin().query(
            "SELECT coalesce(q.owner, '') AS owner FROM gateway.outbox_queue q WHERE q.tenant_id = $1 ORDER BY 1",
            [.text(fixture.acme.rawValue)]
        ).map { (row) throws(PostgresError) in try row.text("owner") }
    }

    /// Ends the leases and waits of all queues, or of those whose first call has this body.
    private func makeDue(_ fixture: StoreFixture, _ body: String? = nil) async throws {
        _ = try await fixture.database.admin().query(
            """
            UPDATE gateway.outbox_queue q SET next_at = now() - interval '1 second'
            WHERE q.tenant_id = $1 AND ($2::text IS NULL OR EXISTS (
                SELECT FROM gateway.outbox o
                WHERE o.tenant_id = q.tenant_id AND o.ordering_key = q.ordering_key AND convert_from(o.body, 'UTF8') = $2))
            """,
            [.text(fixture.acme.rawValue), .text(body)]
        )
    }

    // MARK: Claims

    @Test func aClaimTakesReceiptsFirstAndThenTheQueuesThatAreDueLongest() async throws {
        let fixture = try await StoreFixture.make()
        for number in 1...4 {
            try await forward(fixture, "\(number)", about: ForwardedSubject(user: UserID("u\(number)")))
        }
        try await forward(fixture, "0", .receipt, about: ForwardedSubject(user: "u0"))
        // In the reverse order of their numbers; the receipt last.
        _ = try await fixture.database.admin().query(
            """
            UPDATE gateway.outbox_queue q SET next_at = now() - convert_from(o.body, 'UTF8')::integer * interval '1 minute'
            FROM gateway.outbox o
            WHERE q.tenant_id = $1 AND o.tenant_id = q.tenant_id AND o.ordering_key = q.ordering_key
            """,
            [.text(fixture.acme.rawValue)]
        )
        let first = try await claim(fixture, 3)
        #expect(first.map(text) == ["0", "4", "3"])
        let second = try await claim(fixture, 3)
        #expect(second.map(text) == ["2", "1"])
        // The leases are those that the database has.
        #expect(try await together(fixture, first + second) == Array(repeating: "ended", count: 5))
        #expect(try await owners(fixture).isEmpty)
    }

    @Test func aClaimDeletesQueuesWithoutCallsAndDelaysThoseThatWaitForOthers() async throws {
        let fixture = try await StoreFixture.make()
        try await forward(fixture, "gone", about: ForwardedSubject(user: "u0"))
        _ = try await fixture.eraseUser("u0", in: fixture.acme, by: .key("test"))
        try await forward(fixture, "of u1", about: ForwardedSubject(user: "u1", device: "k1"))
        try await forward(fixture, "of u2", about: ForwardedSubject(user: "u2", device: "k1"))
        try await forward(fixture, "of u3", about: ForwardedSubject(user: "u3"))
        #expect(try await owners(fixture) == ["", "", "", ""])
        #expect(try await claim(fixture).map(text) == ["of u1", "of u3"])
        #expect(try await owners(fixture) == ["", "node-1", "node-1"])
        // The delayed queue is looked at again, and the leased ones are not.
        try await makeDue(fixture, "of u2")
        #expect(try await claim(fixture).isEmpty)
        #expect(try await owners(fixture) == ["", "node-1", "node-1"])
    }

    // MARK: Settlements

    @Test func theCallsOfASetGetTheResultsThatTheyWouldGetAlone() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["1", "2"] { try await forward(fixture, body, about: ForwardedSubject(user: "next")) }
        try await forward(fixture, "3", about: ForwardedSubject(user: "ended"))
        try await forward(fixture, "4", about: ForwardedSubject(user: "lost"))
        try await forward(fixture, "5", about: ForwardedSubject(user: "blocked"))
        // In another queue, before the second call of the queue that then waits for it.
        try await forward(fixture, "6", about: ForwardedSubject(user: "other", device: "k1"))
        try await forward(fixture, "7", about: ForwardedSubject(user: "blocked", device: "k1"))
        let leases = try await claim(fixture)
        #expect(leases.map(text) == ["1", "3", "4", "5", "6"])
        try await makeDue(fixture, "4")
        #expect(try await claim(fixture, by: "node-2").map(text) == ["4"])

        let set = try ["5", "1", "4", "3"].map { try lease($0, of: leases) }
        #expect(try await together(fixture, set) == ["ended", "next 2", "lost", "ended"])
        #expect(try await bodies(fixture) == ["2", "4", "6", "7"])
        #expect(try await owners(fixture) == ["", "node-1", "node-1", "node-2"])
        // A repeated set changes nothing: one queue is free, one is gone, and one has another call first.
        #expect(try await together(fixture, set) == ["lost", "next 2", "lost", "lost"])
        #expect(try await bodies(fixture) == ["2", "4", "6", "7"])

        #expect(try await store(fixture).settle(lease("6", of: leases), by: "node-1", for: .seconds(60)) == .ended)
        try await makeDue(fixture, "7")
        #expect(try await claim(fixture).map(text) == ["7"])
    }

    @Test func aSetWithoutAnyLeaseChangesNothing() async throws {
        let fixture = try await StoreFixture.make()
        for user in ["u1", "u2"] { try await forward(fixture, user, about: ForwardedSubject(user: UserID(user))) }
        let leases = try await claim(fixture)
        try await makeDue(fixture)
        #expect(try await claim(fixture, by: "node-2").count == 2)
        #expect(try await together(fixture, leases) == ["lost", "lost"])
        #expect(try await bodies(fixture) == ["u1", "u2"])
        #expect(try await owners(fixture) == ["node-2", "node-2"])
    }

    /// A call does not wait for one that the same set removes, whatever their order.
    @Test(arguments: [false, true])
    func theCallsOfASetFreeThoseThatWaitForThem(_ isReversed: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await forward(fixture, "first", about: ForwardedSubject(user: "u2"))
        try await forward(fixture, "of u1", about: ForwardedSubject(user: "u1", device: "k1"))
        try await forward(fixture, "of u2", about: ForwardedSubject(user: "u2", device: "k1"))
        let leases = try await claim(fixture)
        #expect(leases.map(text) == ["first", "of u1"])
        let steps = try await together(fixture, isReversed ? leases.reversed() : leases)
        #expect(steps == (isReversed ? ["ended", "next of u2"] : ["next of u2", "ended"]))
    }

    /// A failure that was counted before is not counted for the next call.
    @Test func theNextCallBeginsWithoutFailures() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["1", "2"] { try await forward(fixture, body, about: ForwardedSubject(user: "u1")) }
        let first = try #require(try await claim(fixture).first)
        let isOurs = try await store(fixture)
            .postpone(first, by: .zero, reason: "HTTP 500", counts: true, node: "node-1")
        #expect(isOurs)
        let again = try #require(try await claim(fixture).first)
        #expect(again.attempts == 1)
        #expect(try await together(fixture, [again]) == ["next 2"])
        try await makeDue(fixture)
        #expect(try await claim(fixture).map(\.attempts) == [0])
    }

    @Test func settlementsOfOneUpstreamAreMerged() throws {
        func lease(_ number: Int, of upstream: CredentialID) -> ForwardLease {
            let queue = ForwardQueue(tenant: "acme", app: "shop", upstream: upstream, orderingKey: [UInt8(number)])
            let call = ForwardedCall(
                app: "shop",
                vendor: .rationalOwl,
                upstream: upstream,
                kind: .user,
                name: "call",
                method: "POST",
                path: "/",
                body: []
            )
            return ForwardLease(queue: queue, epoch: Int64(number), attempts: 0, number: 1, call: call)
        }
        let limit = PostgresForwardStore.settlementsPerStatement
        let leases = (0..<limit + 2).map { lease($0, of: "old") } + [lease(200, of: "new"), lease(201, of: "new")]
        let group = BatchedTransactions(
            leases.map { PostgresForwardStore.settlement($0, by: "node-1", for: .seconds(60)) }
        )
        let parameters = group.transactions.map { $0.statements.map(\.parameters) }
        #expect(parameters.allSatisfy { $0.count == 1 && $0[0].count == 8 })
        let epochs = parameters.map { $0[0][6] }
        #expect(
            epochs == [
                .int64s((0..<limit).map { Int64($0) }), .int64s([Int64(limit), Int64(limit + 1)]), .int64s([200, 201]),
            ]
        )
        // One that meets no others runs as a set of one.
        let alone = PostgresForwardStore.settlement(leases[1], by: "node-1", for: .seconds(60))
        #expect(alone.canBeMerged && !alone.isExplicit)
        #expect(alone.statements.map(\.sql) == [group.transactions[0].statements[0].sql])
        let values = Array(alone.statements[0].parameters.dropFirst(4))
        #expect(values == [.byteArrays([[1]]), .texts(["shop"]), .int64s([1]), .int64s([1])])
    }

    @Test func settlementsThatMeetAreAnsweredEachWithItsOwn() async throws {
        let fixture = try await StoreFixture.make()
        for number in 0..<40 {
            let user = ForwardedSubject(user: UserID("u\(number)"))
            try await forward(fixture, "\(number)", about: user)
            if number.isMultiple(of: 2) { try await forward(fixture, "\(number) again", about: user) }
        }
        let leases = try await claim(fixture)
        #expect(leases.count == 40)
        let store = store(fixture)
        let steps = try await withThrowingTaskGroup(of: (String, ForwardStep).self) { group in
            for lease in leases {
                group.addTask { (text(lease), try await store.settle(lease, by: "node-1", for: .seconds(60))) }
            }
            return try await group.reduce(into: [String: ForwardStep]()) { $0[$1.0] = $1.1 }
        }
        for number in 0..<40 {
            let step = try #require(steps["\(number)"])
            #expect(name(of: step) == (number.isMultiple(of: 2) ? "next \(number) again" : "ended"))
        }
        #expect(try await owners(fixture) == Array(repeating: "node-1", count: 20))
    }

    /// `settle_forward`, as programs of schema 88 call it.
    @Test func anOlderProgramSettlesOneCallAtATime() async throws {
        let fixture = try await StoreFixture.make()
        for body in ["1", "2"] { try await forward(fixture, body, about: ForwardedSubject(user: "u1")) }
        let lease = try #require(try await claim(fixture).first)
        func settle(_ number: Int64) async throws -> String {
            let row = try await fixture.database.admin().query(
                "SELECT * FROM gateway.settle_forward($1, $2, $3, $4, $5, $6, $7, $8::interval)",
                [
                    .id(fixture.acme), .bytes(lease.queue.orderingKey), .id(lease.queue.app), .id(Self.upstream),
                    .text("node-1"), .int64(lease.epoch), .int64(number), .interval(.seconds(60)),
                ]
            ).only()
            return name(of: try PostgresForwardStore.step(row, after: lease))
        }
        #expect(try await settle(lease.number) == "next 2")
        #expect(try await settle(lease.number + 1) == "ended")
        #expect(try await settle(lease.number + 1) == "lost")
        #expect(try await bodies(fixture).isEmpty)
    }
}
