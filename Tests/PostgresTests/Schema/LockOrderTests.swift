import DatabaseSchema
import DatabaseSupport
import Testing

@testable import PostgresClient

/// Every transaction locks rows in one order (`LockOrder.declared`), so that two of them cannot deadlock.
///
/// The functions of the schema are read here. The statements of the stores, and the transactions of several statements, are checked by the test that
/// first uses them (`StatementInspector`).
@Suite struct LockOrderTests {
    private static let functions = Result { try SchemaFiles.bundled().functions }
    private static let known = LockOrder.exceptions + LockOrder.registrationFaults

    private func walk() throws -> LockWalk { LockWalk(functions: try Self.functions.get()) }

    @Test func theFunctionsKeepTheOrder() throws {
        for found in LockOrder.deviations(in: try walk().pairs, except: Self.known) {
            Issue.record("out of the order of locks: \(found)")
        }
    }

    @Test func theDeliveryPathKeepsTheOrder() throws {
        let walk = try walk()
        // The transaction of a flush that puts its slice back and moves targets into another one.
        let flush = [
            "SELECT 1 AS one FROM gateway.message WHERE tenant_id = $1 AND message_id = $2 FOR NO KEY UPDATE",
            "SELECT record_outcomes AS count FROM gateway.record_outcomes($1)",
            "SELECT split_slice AS count FROM gateway.split_slice($1)",
            "SELECT move_due AS count FROM gateway.move_due($1)",
            "SELECT return_route AS count FROM gateway.return_route($1)",
        ]
        let pairs = walk.pairs.union(walk.pairs(transaction: flush))
        #expect(LockOrder.deviations(in: pairs, except: Self.known) == [])
    }

    @Test func registrationsAndErasuresKeepTheOrder() throws {
        let pairs = try walk().pairs
        withKnownIssue("identities before devices; erasures from the deliveries to the devices") {
            let found = LockOrder.deviations(in: pairs, except: LockOrder.exceptions)
            #expect(found == [])
        }
    }

    @Test func everyTableHasAPlace() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let tables = try await admin.query(
            """
            SELECT c.relname::text AS name FROM pg_class c
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """
        )
        let names = try tables.map { try $0.text("name") }
        await admin.close()
        #expect(Set(names).subtracting(LockOrder.declared).subtracting(["schema_version", "schema_routine"]) == [])
    }
}

/// The locks that `LockWalk` reads from functions and statements.
@Suite struct LockWalkTests {
    /// The pairs of a function with this body.
    private func pairs(_ body: String, and others: [String: String] = [:]) -> [String] {
        var functions = others.mapValues(Self.function)
        functions["f"] = Self.function(body)
        return LockWalk(functions: functions).pairs.filter { $0.place.hasPrefix("f") }.map(\.description).sorted()
    }

    private static func function(_ body: String) -> String {
        "CREATE OR REPLACE FUNCTION gateway.f(p_tenant text) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n\(body)\nEND $$;"
    }

    @Test func writesAndRowLocksAreLocks() {
        #expect(
            pairs("UPDATE gateway.app SET a = 1; DELETE FROM gateway.device WHERE b = 2;") == ["f: app before device"]
        )
        #expect(
            pairs(
                "PERFORM FROM gateway.app a JOIN gateway.slice s ON true FOR NO KEY UPDATE; UPDATE gateway.lane SET x = 1;"
            )
                == ["f: app before lane", "f: app before slice", "f: slice before lane"]
        )
        #expect(pairs("PERFORM FROM gateway.app a JOIN gateway.slice s ON true FOR SHARE OF s;") == [])
        #expect(
            pairs("PERFORM gateway.lock_name(p_tenant, 'key', p_key); UPDATE gateway.app SET x = 1;")
                == ["f: name:key before app"]
        )
        #expect(
            pairs("v_count := gateway.lock_names(p_tenant, 'key', p_keys); UPDATE gateway.app SET x = 1;")
                == ["f: name:key before app"]
        )
    }

    @Test func readsAndNewRowsAreNotLocks() {
        let reads = "SELECT x INTO v FROM gateway.app FOR UPDATE; SELECT y INTO w FROM gateway.device; "
        #expect(pairs(reads + "INSERT INTO gateway.slice (a) VALUES (1);") == [])
        #expect(
            pairs(reads + "INSERT INTO gateway.slice (a) SELECT 1 ON CONFLICT DO NOTHING;") == ["f: app before slice"]
        )
        #expect(pairs("UPDATE gateway.app SET x = (SELECT y FROM gateway.device LIMIT 1);") == [])
    }

    @Test func aLockThatDoesNotWaitComesAfterNothing() {
        let claim = "WITH c AS (SELECT no FROM gateway.slice FOR UPDATE SKIP LOCKED) SELECT 1 INTO v FROM c;"
        #expect(pairs("UPDATE gateway.app SET x = 1; " + claim) == [])
        #expect(pairs(claim + " UPDATE gateway.app SET x = 1;") == ["f: slice before app"])
    }

    @Test func branchesAreFollowedToTheirReturns() {
        let body = """
            IF p_x THEN
                UPDATE gateway.app SET x = 1;
                RETURN;
            ELSIF EXISTS (SELECT FROM gateway.lane FOR UPDATE) THEN
                UPDATE gateway.device SET x = CASE WHEN y THEN 1 ELSE 2 END;
            END IF;
            UPDATE gateway.slice SET x = 1;
            """
        #expect(pairs(body) == ["f: device before slice", "f: lane before device", "f: lane before slice"])
    }

    @Test func aLoopComesAfterItself() {
        let body = """
            FOR g IN SELECT x FROM unnest(p_x) AS x LOOP
                UPDATE gateway.app SET x = 1;
                UPDATE gateway.device SET x = 1;
            END LOOP;
            """
        #expect(pairs(body) == ["f: app before device", "f: device before app"])
    }

    @Test func handlersBeginWithoutTheLocksOfTheirBlock() {
        let body = """
            BEGIN
                UPDATE gateway.app SET x = 1;
            EXCEPTION WHEN unique_violation THEN
                UPDATE gateway.device SET x = 1;
            END;
            UPDATE gateway.slice SET x = 1;
            """
        #expect(pairs(body) == ["f: app before slice", "f: device before slice"])
    }

    @Test func callsAreFollowed() {
        let others = ["g": "UPDATE gateway.device SET x = 1; IF p_x THEN RETURN; END IF; UPDATE gateway.app SET x = 1;"]
        let found = pairs(
            "UPDATE gateway.slice SET x = 1; PERFORM gateway.g(p_tenant); UPDATE gateway.lane SET x = 1;",
            and: others
        )
        #expect(
            found == [
                "f > g: slice before app", "f > g: slice before device", "f: app before lane", "f: device before lane",
                "f: slice before lane",
            ]
        )
    }

    @Test func theMessageThatIsLockedAlreadyIsNotLockedLater() {
        let update = "UPDATE gateway.slice SET x = 1; UPDATE gateway.message SET x = 1;"
        #expect(pairs("PERFORM FROM gateway.message FOR UPDATE; " + update) == ["f: message before slice"])
        #expect(pairs("IF p_x THEN PERFORM FROM gateway.message FOR UPDATE; END IF; " + update).count == 2)
    }

    @Test func rowsThatAreLockedFirstAreNotLockedByTheirChange() {
        let change = "DELETE FROM gateway.inbox_open WHERE x = 1; UPDATE gateway.delivery SET x = 1;"
        #expect(
            pairs("SELECT x INTO d FROM gateway.delivery FOR UPDATE; " + change) == ["f: delivery before inbox_open"]
        )
        #expect(pairs("UPDATE gateway.delivery SET x = 2; " + change).count == 2)
    }

    @Test func theStatementsOfATransactionFollowEachOther() {
        let walk = LockWalk(functions: [
            "f": Self.function("UPDATE gateway.slice SET x = 1;"),
            "g": Self.function("UPDATE gateway.message SET x = 1;"),
        ])
        let calls = ["SELECT f AS count FROM gateway.f(p_tenant => $1)", "SELECT * FROM gateway.g($1)"]
        #expect(walk.pairs(transaction: calls).map(\.description) == ["g: slice before message"])
        #expect(LockOrder.deviations(in: walk.pairs(transaction: calls), except: []).count == 1)
        #expect(LockOrder.deviations(in: walk.pairs(transaction: calls.reversed()), except: []) == [])
    }
}
