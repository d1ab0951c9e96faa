import DatabaseSchema
import DatabaseSupport
import Model
import ObservationStore
import Testing

@testable import EngineStore
@testable import PostgresClient
@testable import Store

extension StoreLockTests {
    // Both lock the queues in the order of their keys, whatever the order of their calls.
    @Test func aSetOfForwardedCallsAndASetOfSettlements() async throws {
        let fixture = try await StoreFixture.make()
        let users: [UserID] = ["u1", "u2", "u3"]
        let calls = users.map { user in
            let call = ForwardedCall(
                app: "shop",
                vendor: .rationalOwl,
                upstream: "old",
                kind: .user,
                name: "call",
                method: "POST",
                path: "/",
                body: []
            )
            return ForwardCalls(call, about: ForwardedSubject(user: user))
        }
        for call in calls { _ = try await fixture.ask(call) }
        let leases = try await PostgresForwardStore(engine: fixture.engine)
            .claim(CredentialKey(tenant: fixture.acme, credential: "old"), limit: 9, by: "node-1", lease: .seconds(60))
            .sorted { $1.queue.orderingKey.lexicographicallyPrecedes($0.queue.orderingKey) }
        try #require(leases.count == 3)
        let settlements = leases.flatMap {
            PostgresForwardStore.settlement($0, by: "node-1", for: .seconds(60)).batches
        }
        let settling = Transaction(tenant: nil, [try #require(StatementBatch.joined(settlements))])
        let forwarding = Transaction(tenant: fixture.acme.rawValue, [try fixture.joined(calls)])
        let held = """
            SELECT FROM gateway.outbox_queue q WHERE q.tenant_id = '\(fixture.acme)' FOR UPDATE
            """
        let errors = try await race(fixture, behind: held, [(.engine, settling), (.call, forwarding)])
        #expect(errors == [nil, nil])
        // The queues have a call each, by whichever transaction came first.
        let rows = try await fixture.database.admin().query(
            """
            SELECT (SELECT count(*) FROM gateway.outbox o WHERE o.tenant_id = $1) AS calls,
                (SELECT count(*) FROM gateway.outbox_queue q WHERE q.tenant_id = $1) AS queues
            """,
            [.text(fixture.acme.rawValue)]
        ).only()
        #expect(try rows.int("calls") == 3)
        #expect(try rows.int("queues") == 3)
    }
}
