import DatabaseSupport
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The locks that `database migrate --plan` names, compared with those that PostgreSQL takes.
@Suite struct LockForecastTests {
    /// The strongest lock of each table that existed before and has kept its name, in the transaction that runs `sql`. Partitions are left out: the plan names
    /// their table.
    private func taken(_ sql: String, _ admin: PostgresConnection) async throws -> [String: String] {
        try await admin.script(
            """
            CREATE TEMP TABLE IF NOT EXISTS taken (name text, mode text);
            TRUNCATE taken;
            BEGIN;
            CREATE TEMP TABLE before ON COMMIT DROP AS SELECT c.oid, c.relname FROM pg_class c
                WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition;
            SET LOCAL ROLE gateway_owner;
            SET LOCAL search_path = gateway, pg_catalog;
            \(sql)
            ;
            RESET ROLE;
            INSERT INTO taken SELECT c.relname, l.mode FROM pg_locks l
            JOIN pg_class c ON c.oid = l.relation JOIN before b ON b.oid = c.oid AND b.relname = c.relname WHERE l.pid = pg_backend_pid();
            COMMIT;
            """
        )
        let modes = TableLock.Mode.allCases
        // "ROW EXCLUSIVE" is `RowExclusiveLock` in pg_locks.
        let names = modes.map { mode in
            mode.name.split(separator: " ").map { String($0.prefix(1)) + $0.dropFirst().lowercased() }.joined() + "Lock"
        }
        var strongest: [String: TableLock.Mode] = [:]
        for row in try await admin.query("SELECT name, mode FROM taken") {
            // Locks of reads are weaker than any that is named.
            guard let index = names.firstIndex(of: try row.text("mode")) else { continue }
            let name = try row.text("name")
            strongest[name] = max(strongest[name] ?? modes[index], modes[index])
        }
        return strongest.mapValues(\.name)
    }

    /// The predicted locks of tables that exist after the SQL has run, without partitions.
    private func predicted(_ sql: String, _ admin: PostgresConnection) async throws -> [String: String] {
        let rows = try await admin.query(
            """
            SELECT c.relname::text AS name FROM pg_class c
            WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            """
        )
        let existing = Set(try rows.map { try $0.text("name") })
        let locks = LockForecast.locks(of: sql).filter { existing.contains($0.table) }
        return Dictionary(locks.map { ($0.table, $0.mode.name) }) { first, _ in first }
    }

    @Test func theLocksOfEachMigrationArePredicted() async throws {
        let admin = try await TestCluster.databaseOfVersion38().admin()
        for migration in try SchemaFiles.bundled().migrations {
            var parts = [migration.expand]
            for case .transaction(let sql) in migration.steps { parts.append(sql) }
            for sql in parts {
                let expected = try await taken(sql, admin)
                let found = try await predicted(sql, admin)
                #expect(found == expected, "migration \(migration.version)")
            }
        }
    }

    private static let statements: [(sql: String, locks: [TableLock])] = [
        ("ALTER TABLE gateway.device ADD COLUMN color text", [TableLock(.accessExclusive, "device")]),
        ("-- ALTER TABLE device ADD COLUMN x int\nSELECT 1", []),
        ("ALTER TABLE device VALIDATE CONSTRAINT c", [TableLock(.shareUpdateExclusive, "device")]),
        (
            "ALTER TABLE device VALIDATE CONSTRAINT c, ADD COLUMN x int",
            [TableLock(.accessExclusive, "device")]
        ),
        (
            "ALTER TABLE slice ADD FOREIGN KEY (tenant_id, a) REFERENCES gateway.message (tenant_id, a) NOT VALID",
            [TableLock(.shareRowExclusive, "message"), TableLock(.shareRowExclusive, "slice")]
        ),
        (
            "CREATE TABLE gateway.new (n int REFERENCES gateway.old); CREATE INDEX ON new (n); INSERT INTO new SELECT 1",
            [TableLock(.shareRowExclusive, "old")]
        ),
        ("CREATE UNIQUE INDEX i ON device (key)", [TableLock(.share, "device")]),
        (
            "UPDATE gateway.app AS a SET x = 1; DELETE FROM lane",
            [TableLock(.rowExclusive, "app"), TableLock(.rowExclusive, "lane")]
        ),
        ("INSERT INTO app VALUES (1) ON CONFLICT DO UPDATE SET a = 1", [TableLock(.rowExclusive, "app")]),
        ("SELECT 1 FROM device FOR UPDATE", []),
        ("DO $$ BEGIN ALTER TABLE event ENABLE ROW LEVEL SECURITY; END $$", [TableLock(.accessExclusive, "event")]),
        ("CREATE POLICY p ON gateway.device USING (true)", [TableLock(.accessExclusive, "device")]),
        ("ALTER TABLE device SET (fillfactor = 80)", [TableLock(.shareUpdateExclusive, "device")]),
    ]

    @Test(arguments: 0..<statements.count)
    func aStatementsLocksAreRead(_ index: Int) {
        let expected = Self.statements[index]
        #expect(LockForecast.locks(of: expected.sql) == expected.locks, "\(expected.sql)")
    }

    // MARK: The plan

    @Test func aPlanListsTheWorkInItsOrder() async throws {
        let admin = try await TestCluster.database(migrated: false).admin()
        let one = SmallSchema.migration(1, "")
        let table = "CREATE TABLE gateway.tenant (tenant_id text PRIMARY KEY);"
        let first = try SmallSchema.migrator([one], tables: table)
        let new = try await first.status(admin)
        #expect(MigrationPreview(new).parts.map(\.title) == ["one transaction: creates the schema, version 1"])
        try await first.migrate(admin)
        let two = SmallSchema.migration(
            2,
            """
            ALTER TABLE gateway.tenant ADD COLUMN color text;

            --@ backfill
            UPDATE gateway.tenant AS t SET color = 'red'
            WHERE color IS NULL;

            --@ index
            CREATE INDEX tenant_color ON gateway.tenant (color);
            """
        )
        let second = try SmallSchema.migrator([one, two])
        let status = try await second.status(admin)
        let preview = MigrationPreview(status)
        let modes: [TableLock.Mode] = [.accessExclusive, .rowExclusive, .shareUpdateExclusive]
        #expect(preview.parts.map(\.locks) == modes.map { [TableLock($0, "tenant")] })
        #expect(preview.text(status).contains("1. one transaction: migration 2 (m2)"))
        #expect(preview.text(status).contains("ACCESS EXCLUSIVE on tenant: reads and writes wait"))
        #expect(try await second.status(admin).databaseVersion == 1, "a plan changes nothing")
        try await second.migrate(admin)
        let done = try await second.status(admin)
        #expect(MigrationPreview(done).parts == [])
        #expect(MigrationPreview(done).text(done).hasPrefix("nothing to run: the schema is at version 2"))
    }
}
