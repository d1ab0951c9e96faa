import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The rules for migrations (docs/schema.md), checked against each migration of the repository and against migrations
/// that break them.
@Suite struct MigrationRuleTests {
    private func fixture(_ name: String) throws -> String {
        let root = try #require(Bundle.module.resourceURL)
        return try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
    }

    /// A database of version 38 with rows in the large tables.
    private func filled() async throws -> PostgresConnection {
        let admin = try await TestCluster.databaseOfVersion38().admin()
        try await admin.script(try fixture("rows-0038.sql"))
        return admin
    }

    // MARK: Large tables

    @Test func noMigrationRewritesOrScansALargeTable() async throws {
        let admin = try await filled()
        for migration in try SchemaFiles.bundled().migrations {
            var findings = try await LockCheck.findings(migration.expand, admin)
            for step in migration.steps {
                // Indexes and backfills keep the rules because of the way in which the migrator runs them.
                if case .transaction(let sql) = step { findings += try await LockCheck.findings(sql, admin) }
            }
            #expect(findings == [], "migration \(migration.version)")
        }
    }

    private static let breaches: [(sql: String, finding: String)] = [
        ("ALTER TABLE device ADD COLUMN c uuid DEFAULT gen_random_uuid()", "device is rewritten"),
        ("ALTER TABLE device ALTER COLUMN platform TYPE varchar(3)", "device is rewritten"),
        ("ALTER TABLE device ADD COLUMN c text GENERATED ALWAYS AS (md5(platform)) STORED", "device is rewritten"),
        ("CREATE INDEX x ON event (kind)", "event is read under a lock that blocks writes"),
        ("CREATE INDEX x ON delivery (reason)", "delivery_default is read under a lock that blocks writes"),
        ("ALTER TABLE identity ALTER COLUMN user_id SET NOT NULL", "identity is read under a lock that blocks writes"),
        ("ALTER TABLE device ADD CHECK (platform <> '')", "device is read under a lock that blocks writes"),
        (
            "ALTER TABLE slice ADD FOREIGN KEY (tenant_id, message_id) REFERENCES message",
            "message is read under a lock that blocks writes"
        ),
        ("UPDATE event SET kind = 'x'", "event is changed row by row"),
        ("DELETE FROM audit", "audit is changed row by row"),
    ]

    @Test(arguments: 0..<breaches.count)
    func theCheckDetectsABreach(_ index: Int) async throws {
        let breach = Self.breaches[index]
        let findings = try await LockCheck.findings(breach.sql, filled())
        #expect(findings.contains(breach.finding), "\(breach.sql): \(findings)")
    }

    @Test(arguments: [
        "ALTER TABLE device ADD COLUMN color text", "ALTER TABLE device ADD COLUMN color text NOT NULL DEFAULT 'red'",
        "ALTER TABLE delivery ADD COLUMN color text", "ALTER TABLE device ADD CHECK (platform <> '') NOT VALID",
        "CREATE TABLE new (n int); CREATE INDEX ON new (n)", "DROP INDEX event_sender",
        "UPDATE app SET uses_windows = true",
    ])
    func theCheckAcceptsShortOperations(_ sql: String) async throws {
        #expect(try await LockCheck.findings(sql, filled()) == [])
    }

    /// Nothing reads the targets of a finished slice.
    @Test func finishedSlicesReleaseTheirTargets() async throws {
        let admin = try await filled()
        try await admin.script(
            """
            INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, state, next_at, targets, addresses)
                SELECT s.tenant_id, s.message_id, 100 + n, s.lane, 'deliver', s.due_day, CASE WHEN n > 1 THEN 'done' ELSE 'ready' END, now(),
                    ARRAY[gen_random_uuid()], CASE WHEN n < 3 THEN ARRAY['phone:010'] ELSE '{}' END
                FROM gateway.slice s, generate_series(1, 3) n WHERE s.no < 100
            """
        )
        _ = try await Migrator.bundled().migrate(admin)
        let rows = try await admin.query(
            """
            SELECT count(*) FILTER (WHERE no > 101 AND targets = '{}' AND addresses = '{}') AS done,
                count(*) FILTER (WHERE no = 101 AND targets <> '{}' AND addresses <> '{}') AS open
            FROM gateway.slice
            """
        ).only()
        #expect(try rows.int("open") > 0 && rows.int("done") == 2 * rows.int("open"))
    }

    // MARK: Programs of older versions

    private func columns(_ admin: PostgresConnection) async throws -> Set<String> {
        let rows = try await admin.query(
            """
            SELECT format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod)) AS line
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
            """
        )
        return Set(try rows.map { try $0.text("line") })
    }

    /// Every column that the oldest served program reads or writes must still exist, in a table or a view.
    @Test func everyColumnOfTheOldestServedVersionRemains() async throws {
        let files = try SchemaFiles.bundled()
        let oldest = try #require(files.migrations.last).oldestProgram
        let older = try await filled()
        for migration in files.migrations where migration.version <= oldest {
            _ = try await LockCheck.findings(migration.expand, older)
        }
        let missing = try await columns(older).subtracting(columns(DatabaseStores.shared().database.admin()))
        #expect(missing == [], "a program of version \(oldest) uses them")
    }

    private func routines(_ admin: PostgresConnection) async throws -> [String: (arguments: String, result: String)] {
        let rows = try await admin.query(
            """
            SELECT proname::text AS name, pg_get_function_arguments(oid) AS arguments, pg_get_function_result(oid) AS result
            FROM pg_proc WHERE pronamespace = 'gateway'::regnamespace
            """
        )
        return Dictionary(
            try rows.map { (try $0.text("name"), (try $0.text("arguments"), try $0.text("result"))) },
            uniquingKeysWith: { $1 }
        )
    }

    /// Whether a call written for the older function works with the newer one: new parameters have defaults, new columns of a result come last.
    private func accepts(_ older: (String, String), _ newer: (arguments: String, result: String)) -> Bool {
        let more = newer.arguments.dropFirst(older.0.count)
        let keepsArguments =
            newer.arguments.hasPrefix(older.0)
            && (more.isEmpty
                || more.hasPrefix(", ")
                    && more.dropFirst(2).split(separator: ", p_").allSatisfy { $0.contains(" DEFAULT ") })
        return keepsArguments && (newer.result == older.1 || newer.result.hasPrefix(older.1.dropLast() + ", "))
    }

    @Test func everyRoutineOfTheOldestServedVersionKeepsItsSignature() async throws {
        let oldest = try #require(try SchemaFiles.bundled().migrations.last).oldestProgram
        let present = try await routines(DatabaseStores.shared().database.admin())
        let lines = try fixture("routines-\(String(oldest + 10_000).dropFirst()).txt").split(separator: "\n")
        #expect(lines.count > 100)
        for line in lines where !line.hasPrefix("#") {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let newer = try #require(present[parts[0]], "\(parts[0]) is missing")
            #expect(accepts((parts[1], parts[2]), newer), "\(parts[0]): \(newer)")
        }
    }

    @Test func aSignatureThatRefusesAnOlderCallIsDetected() {
        let older = ("p_a text", "TABLE(x text)")
        #expect(accepts(older, ("p_a text", "TABLE(x text)")))
        #expect(accepts(older, ("p_a text, p_b text DEFAULT ''::text, p_c integer DEFAULT 1", "TABLE(x text, y text)")))
        #expect(!accepts(older, ("p_a text, p_b text", "TABLE(x text)")))
        #expect(!accepts(older, ("p_a text, p_b text, p_c integer DEFAULT 1", "TABLE(x text)")))
        #expect(!accepts(older, ("p_a integer", "TABLE(x text)")))
        #expect(!accepts(older, ("p_a text", "TABLE(y text)")))
        #expect(!accepts(older, ("", "TABLE(x text)")))
    }
}
