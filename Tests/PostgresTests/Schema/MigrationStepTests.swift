import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// Steps that run outside the expand transaction, and the state after an interruption.
@Suite(.timeLimit(.minutes(10))) struct MigrationStepTests {
    private let one = SmallSchema.migration(1, "")

    private static let rows = """
        INSERT INTO gateway.tenant (tenant_id) VALUES ('a'), ('b'), ('c'), ('empty');
        INSERT INTO gateway.thing SELECT t, 1, n, 'x' FROM unnest(ARRAY['a', 'b', 'c']) AS t, generate_series(1, 3000) AS n;
        """

    /// A migrated database with 3,000 rows of each of three tenants in `thing`.
    private func database() async throws -> TestDatabase {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await database.admin()
        let tables = """
            CREATE TABLE gateway.tenant (tenant_id text PRIMARY KEY);
            CREATE TABLE gateway.thing (
                tenant_id text, kind integer, n bigint, name text, color text, PRIMARY KEY (tenant_id, kind, n));
            """
        try await SmallSchema.migrator([one], tables: tables).migrate(admin)
        try await admin.script(Self.rows)
        return database
    }

    private func migrator(_ text: String) throws -> Migrator {
        try SmallSchema.migrator([one, SmallSchema.migration(2, text)])
    }

    private let index = """
        --@ index
        CREATE INDEX thing_name ON gateway.thing (tenant_id, name);
        """

    private let fill = """
        --@ backfill
        UPDATE gateway.thing AS t SET color = 'red'
        WHERE color IS NULL;
        """

    private func number(_ sql: String, _ admin: PostgresConnection) async throws -> Int {
        try await admin.query(sql).only().int("n")
    }

    /// Waits until a session waits for a lock of another session, and ends the waiting session.
    private func endWaitingSession(
        running text: String,
        _ admin: PostgresConnection,
        sourceLocation: SourceLocation
    ) async throws {
        let ended = Statement(
            """
            SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()
            """,
            [.text(text)]
        )
        try await eventually("a session waits in \(text)", every: .milliseconds(50), sourceLocation: sourceLocation) {
            try await admin.rows(ended).only().int("n") > 0
        }
    }

    /// Runs the migration until it waits for the lock of `blocker`, and ends its session there.
    private func interrupt(
        _ migrator: Migrator,
        in database: TestDatabase,
        waitingIn text: String,
        for blocker: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let admin = try await database.admin()
        let holder = try await database.admin()
        async let blocked: Void = holder.script(
            "BEGIN; \(blocker); SELECT pg_sleep(600); COMMIT",
            timeout: .seconds(900)
        )
        let holds =
            "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND wait_event = 'PgSleep' AND datname = current_database()"
        try await eventually("a session runs \(blocker)", every: .milliseconds(20), sourceLocation: sourceLocation) {
            try await number(holds, admin) > 0
        }
        let session = try await database.admin()
        let migration = Task { try await migrator.migrate(session) }
        try await endWaitingSession(running: text, admin, sourceLocation: sourceLocation)
        await #expect(throws: MigrationError.self, sourceLocation: sourceLocation) { try await migration.value }
        _ = try await admin.query(
            "SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity WHERE query LIKE 'BEGIN; %pg_sleep(600)%' AND datname = current_database()"
        )
        _ = try? await blocked
    }

    private let validity = """
        SELECT (i.indisvalid)::integer AS n FROM pg_index i WHERE i.indexrelid = to_regclass('gateway.thing_name')
        """

    // MARK: Indexes

    @Test func anIndexIsBuiltOutsideATransaction() async throws {
        let database = try await database()
        let admin = try await database.admin()
        #expect(try await migrator(index).migrate(admin) == [2])
        #expect(try await number(validity, admin) == 1)
        #expect(try await migrator(index).status(admin).obstacle == nil)
    }

    @Test func anInterruptedIndexIsDroppedAndBuiltAgain() async throws {
        let database = try await database()
        let migrator = try migrator(index)
        // A transaction that has written to the table. A concurrent index build waits for its end.
        let write = "INSERT INTO gateway.thing VALUES ('a', 2, 1, 'y')"
        try await interrupt(migrator, in: database, waitingIn: "CREATE INDEX CONCURRENTLY", for: write)
        let admin = try await database.admin()
        #expect(try await number(validity, admin) == 0, "no index is invalid, so the build was not interrupted")
        let status = try await migrator.status(admin)
        #expect(status.pending.isEmpty && status.unfinished.map(\.version) == [2] && status.obstacle != nil)
        #expect(try await migrator.migrate(admin) == [2])
        #expect(try await number(validity, admin) == 1)
        #expect(try await migrator.status(admin).obstacle == nil)
    }

    @Test func anIndexOfAPartitionedTableIsBuiltByPartition() async throws {
        let admin = try await TestCluster.database().admin()
        var files = try SchemaFiles.bundled()
        let text = """
            -- Oldest program: \(files.version)
            --@ index
            CREATE INDEX delivery_reason ON gateway.delivery (tenant_id, reason) WHERE reason IS NOT NULL;
            """
        files.migrations.append(
            try Migration(file: "\(String(files.version + 10_001).dropFirst())_reason", text: text)
        )
        try await admin.script("INSERT INTO gateway.tenant VALUES ('acme')")
        try await Migrator(files: files).migrate(admin)
        let parts = """
            SELECT count(*) AS n FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid
            WHERE h.inhparent = 'gateway.delivery_reason'::regclass AND i.indisvalid
            """
        let partitions = "SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'gateway.delivery'::regclass"
        #expect(try await number(parts, admin) == number(partitions, admin))
        let valid =
            "SELECT indisvalid::integer AS n FROM pg_index WHERE indexrelid = 'gateway.delivery_reason'::regclass"
        #expect(try await number(valid, admin) == 1)
        // A later partition has the index too.
        _ = try await admin.query("SELECT gateway.make_delivery_partitions(30000, 1) AS n")
        #expect(try await number(parts, admin) == number(partitions, admin))
    }

    // MARK: Backfills

    private let red = "SELECT count(*) AS n FROM gateway.thing WHERE color = 'red'"

    @Test func aBackfillChangesEveryRowInBatches() async throws {
        let database = try await database()
        let admin = try await database.admin()
        #expect(try await migrator(fill).migrate(admin) == [2])
        #expect(try await number(red, admin) == 9000)
        // 2,000 and 1,000 rows of each tenant.
        #expect(try await number("SELECT count(DISTINCT xmin::text) AS n FROM gateway.thing", admin) == 6)
    }

    @Test func anInterruptedBackfillContinuesWhereItStopped() async throws {
        let database = try await database()
        let migrator = try migrator(fill)
        let lock = "SELECT FROM gateway.thing WHERE tenant_id = 'b' AND n = 2500 FOR UPDATE"
        try await interrupt(migrator, in: database, waitingIn: "UPDATE gateway.thing", for: lock)
        let admin = try await database.admin()
        #expect(try await number(red, admin) == 5000)
        let cursor = try await admin.query("SELECT cursor FROM gateway.schema_version WHERE version = 2").only()
        #expect(try cursor.texts("cursor") == ["b", "1", "2000"])
        // The backfill does not return to rows that the first run has passed, so a row that is reset stays.
        try await admin.script("UPDATE gateway.thing SET color = NULL WHERE tenant_id = 'a' AND n = 1")
        #expect(try await migrator.migrate(admin) == [2])
        #expect(try await number(red, admin) == 8999)
        #expect(try await migrator.status(admin).obstacle == nil)
    }

    @Test func aFailedStepNamesItselfAndContinuesThere() async throws {
        let database = try await database()
        let admin = try await database.admin()
        let text = fill + "\n--@ transaction\nSELECT 1 / (SELECT count(*) FROM gateway.ready);\n" + index
        try await admin.script("CREATE TABLE gateway.ready (n int); GRANT SELECT ON gateway.ready TO gateway_owner")
        let migrator = try migrator(text)
        let error = await #expect(throws: MigrationError.self) { try await migrator.migrate(admin) }
        #expect(error?.code == .stepFailed(version: 2, name: "m2", step: 2))
        try await admin.script("INSERT INTO gateway.ready VALUES (1)")
        #expect(try await migrator.migrate(admin) == [2])
        #expect(try await number(validity, admin) == 1)
    }

    // MARK: Locks

    @Test func aTransactionThatCannotLockATableIsRetried() async throws {
        let database = try await database()
        let holder = try await database.admin()
        async let held: Void = holder.script(
            "BEGIN; LOCK TABLE gateway.thing IN ACCESS SHARE MODE; SELECT pg_sleep(600); COMMIT",
            timeout: .seconds(900)
        )
        let admin = try await database.admin()
        let locks = "SELECT count(*) AS n FROM pg_locks WHERE relation = 'gateway.thing'::regclass"
        try await eventually("the table is locked", every: .milliseconds(20)) { try await number(locks, admin) > 0 }
        let session = try await database.admin()
        let migrator = try migrator("ALTER TABLE gateway.thing ADD COLUMN size integer;")
        let migration = Task { try await migrator.migrate(session) }
        var tries: Set<String> = []
        try await eventually("a second try waits for the lock", within: .seconds(300), every: .milliseconds(20)) {
            let waiting = try await admin.query(
                """
                SELECT query_start::text AS try FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ADD COLUMN size%'
                """
            )
            tries.formUnion(try waiting.map { try $0.text("try") })
            return tries.count >= 2
        }
        _ = try await admin.query(
            "SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity WHERE query LIKE 'BEGIN; %pg_sleep(600)%' AND datname = current_database()"
        )
        _ = try? await held
        #expect(try await migration.value == [2])
    }
}
