import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The pool and the session against a real server.
@Suite struct ClientPoolTests {
    private func database() async throws -> TestDatabase { try await TestCluster.database(migrated: false) }

    /// A tenant table with row-level security, like those of the schema.
    private func makeTenantTable(_ database: TestDatabase) async throws {
        let admin = try await database.admin()
        try await admin.script(
            """
            SET ROLE gateway_owner;
            CREATE TABLE gateway.thing (tenant_id text NOT NULL, n int NOT NULL, PRIMARY KEY (tenant_id, n));
            ALTER TABLE gateway.thing ENABLE ROW LEVEL SECURITY;
            CREATE POLICY tenant ON gateway.thing USING (tenant_id = current_setting('gateway.tenant', true));
            GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.thing TO gateway_call, gateway_engine;
            INSERT INTO gateway.thing VALUES ('a', 1), ('a', 2), ('b', 1);
            """
        )
    }

    private let count = Statement("SELECT count(*) AS n FROM gateway.thing")

    private func insert(_ tenant: String, _ n: Int) -> Statement {
        Statement("INSERT INTO gateway.thing VALUES ($1, $2)", [.text(tenant), .int(n)])
    }

    // MARK: Tenant

    @Test func theTenantEndsWithItsTransaction() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        #expect(try await pool.run(count, tenant: "a").only().int("n") == 2)
        #expect(try await pool.run(count, tenant: nil).only().int("n") == 0)
        #expect(try await pool.run(count, tenant: "b").only().int("n") == 1)
        // The tenant setting also ends after a failure, because of the rollback.
        await #expect(throws: PostgresError.self) { try await pool.run(insert("b", 1), tenant: "b") }
        #expect(try await pool.run(count, tenant: nil).only().int("n") == 0)
        #expect(pool.statistics.openedCount == 1)
    }

    @Test func aTenantsNameIsNeverSQL() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call)
        let evil = "x'; SET LOCAL gateway.tenant = 'a"
        #expect(try await pool.run(count, tenant: evil).only().int("n") == 0)
        let back = Statement("SELECT current_setting('gateway.tenant') AS t")
        #expect(try await pool.run(back, tenant: evil).only().text("t") == evil)
    }

    @Test func rowsOfAnotherTenantAreRefused() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call)
        await #expect { try await pool.run(insert("b", 7), tenant: "a") } throws: {
            ($0 as? PostgresError)?.code == .insufficientPrivilege
        }
    }

    // MARK: Pipelines

    @Test func eachTransactionOfAPipelineHasItsOwnEnd() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        let results = try await pool.run(pipeline: [
            Transaction(tenant: "a", [insert("a", 10), insert("a", 11)]),
            Transaction(tenant: "b", [insert("b", 10), insert("b", 1)]),
            Transaction(tenant: nil, [Statement("SELECT 1 FROM gateway.absent")]),
            Transaction(tenant: "a", [count]),
        ])
        #expect(try results[0].get().map(\.affectedRows) == [1, 1])
        #expect(throws: PostgresError.self) { try results[1].get() }
        if case .failure(let error) = results[1] {
            #expect(error.code == .uniqueViolation && error.constraint == "thing_pkey" && !error.isIndeterminate)
        }
        if case .failure(let error) = results[2] { #expect(error.code == .undefinedTable) }
        #expect(try results[3].get()[0].only().int("n") == 4)
        // The failed transaction left nothing, and the session can still be used.
        #expect(try await pool.run(count, tenant: "b").only().int("n") == 1)
        #expect(pool.statistics == pool.statistics && pool.statistics.openedCount == 1)
    }

    @Test func aLongPipelineWithLargeParametersDoesNotStall() async throws {
        let pool = try await database().pool(.call)
        let text = String(repeating: "x", count: 20_000)
        let results = try await pool.run(
            pipeline: (0..<600).map { (n: Int) in
                Transaction(tenant: "t\(n)", [Statement("SELECT $1 || $2::text AS echo", [.text(text), .int(n)])])
            }
        )
        #expect(results.count == 600)
        for (n, result) in results.enumerated() {
            #expect(try result.get()[0].only().text("echo") == text + "\(n)")
        }
    }

    @Test func stepsReadDecideAndWriteInOneTransaction() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call)
        let results = try await pool.run(
            Transaction(tenant: "a", [Statement("SELECT max(n) AS n FROM gateway.thing WHERE tenant_id = 'a' ")]) {
                (results) throws(PostgresError) in
                let next = try results[0].only().int("n") + 1
                return Step([Statement("INSERT INTO gateway.thing VALUES ('a', $1) RETURNING n", [.int(next)])])
            }
        )
        #expect(try results[1].only().int("n") == 3)
    }

    @Test func anAbandonedTransactionLeavesNothing() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        let transaction = Transaction(tenant: "a", [insert("a", 50)]) { (_) throws(PostgresError) in
            throw .abandoned("leaseLost")
        }
        await #expect { try await pool.run(transaction) } throws: { ($0 as? PostgresError)?.reason == "leaseLost" }
        #expect(try await pool.run(count, tenant: "a").only().int("n") == 2)
        #expect(pool.statistics.openedCount == 1)
    }

    @Test func aTransactionThatTheServerRolledBackForOthersIsRepeated() async throws {
        let database = try await database()
        try await database.admin().script(
            """
            CREATE SEQUENCE gateway.tries; GRANT USAGE ON gateway.tries TO gateway_call;
            CREATE FUNCTION gateway.stubborn() RETURNS bigint LANGUAGE plpgsql AS $$
            DECLARE n bigint := nextval('gateway.tries');
            BEGIN IF n < 3 THEN RAISE 'again' USING ERRCODE = '40001'; END IF; RETURN n; END $$;
            """
        )
        let pool = database.pool(.call)
        #expect(try await pool.run(Statement("SELECT gateway.stubborn() AS n"), tenant: "a").only().int("n") == 3)
    }

    // MARK: Prepared statements

    @Test func preparedStatementsSurviveAChangeOfTheSchema() async throws {
        let database = try await database()
        let admin = try await database.admin()
        try await admin.script("CREATE TABLE gateway.t AS SELECT 1 AS a; GRANT SELECT ON gateway.t TO gateway_call")
        let pool = database.pool(.call, limits: .patient(maximumConnections: 1))
        let all = Statement("SELECT * FROM gateway.t")
        #expect(try await pool.run(all, tenant: nil).shape.names == ["a"])
        try await admin.script("ALTER TABLE gateway.t ADD COLUMN b int")
        #expect(try await pool.run(all, tenant: nil).shape.names == ["a", "b"])
        try await admin.script("ALTER TABLE gateway.t ADD COLUMN c int")
        let steps = Transaction(tenant: "a", [all]) { (_) throws(PostgresError) in Step([all]) }
        #expect(try await pool.run(steps).map(\.shape.names) == [["a", "b", "c"], ["a", "b", "c"]])
        // 26000: the prepared statements were deallocated.
        _ = try await pool.run(Statement("DEALLOCATE ALL"), tenant: nil)
        #expect(try await pool.run(all, tenant: "a").shape.names == ["a", "b", "c"])
        #expect(pool.statistics.openedCount == 1)
    }

    @Test func preparedStatementsAreBoundedPerSession() async throws {
        let pool = try await database().pool(.call, limits: .patient(maximumConnections: 1))
        for n in 0..<(PreparedStatements.capacity + 50) {
            _ = try await pool.run(Statement("SELECT \(n)"), tenant: nil)
        }
        let held = Statement("SELECT count(*) AS n FROM pg_prepared_statements")
        #expect(try await pool.run(held, tenant: nil).only().int("n") <= PreparedStatements.capacity + 1)
    }

    // MARK: Many

    @Test func manyTasksShareFewSessions() async throws {
        let database = try await database()
        try await makeTenantTable(database)
        let pool = database.pool(.call, limits: .patient(maximumConnections: 4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for n in 0..<20 {
                        let statement = Statement("SELECT $1::int8 + $2::int8 AS n", [.int(task), .int(n)])
                        let sum = try await pool.run(statement, tenant: "t\(task)").only().int("n")
                        #expect(sum == task + n)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(pool.statistics.openedCount <= 4)
        #expect(pool.statistics.waitingCount == 0)
        await pool.close()
        await #expect { try await pool.run(count, tenant: "a") } throws: { ($0 as? PostgresError)?.code == .closed }
    }
}
