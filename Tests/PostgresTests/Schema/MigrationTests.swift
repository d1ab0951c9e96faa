import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The migrator against a real server, with small schemas.
@Suite struct MigrationTests {
    private func admin() async throws -> PostgresConnection {
        try await TestCluster.database(migrated: false).admin()
    }

    private let one = SmallSchema.migration(1, "")
    private let two = SmallSchema.migration(2, "CREATE TABLE two (n int) -- no semicolon")

    private func code(_ body: () async throws -> some Any) async -> MigrationError.Code? {
        do { _ = try await body() } catch { return (error as? MigrationError)?.code }
        return nil
    }

    @Test func eachMigrationIsAppliedOnceInOrderAsTheOwner() async throws {
        let admin = try await admin()
        let first = try SmallSchema.migrator([one])
        #expect(try await first.migrate(admin) == [1])
        #expect(try await first.migrate(admin) == [])
        let both = try SmallSchema.migrator([one, two])
        #expect(try await both.status(admin).pending.map(\.version) == [2])
        #expect(try await both.status(admin).obstacle?.contains("version 1") == true)
        #expect(try await both.migrate(admin) == [2])
        #expect(try await both.migrate(admin).isEmpty)
        #expect(try await both.status(admin).databaseVersion == 2)
        let owners = try await admin.query(
            "SELECT DISTINCT tableowner::text AS o FROM pg_tables WHERE schemaname = 'gateway'"
        )
        #expect(try owners.only().text("o") == "gateway_owner")
    }

    @Test func aNewDatabaseDoesNotRunTheMigrationsItsTablesContain() async throws {
        let admin = try await admin()
        let both = try SmallSchema.migrator([one, two], tables: "CREATE TABLE gateway.two (n int);")
        #expect(try await both.migrate(admin) == [1, 2])
        #expect(try await both.status(admin).obstacle == nil)
    }

    @Test func aFailedMigrationLeavesNothing() async throws {
        let admin = try await admin()
        try await SmallSchema.migrator([one]).migrate(admin)
        let bad = SmallSchema.migration(3, "CREATE TABLE half (n int); SELECT 1/0;")
        let migrator = try SmallSchema.migrator([one, two, bad])
        #expect(await code { try await migrator.migrate(admin) } == .expandFailed(versions: [2, 3]))
        #expect(try await admin.query("SELECT to_regclass('gateway.two') IS NULL AS gone").only().bool("gone"))
        #expect(try await migrator.status(admin).databaseVersion == 1)
        // The lock is free again.
        #expect(try await SmallSchema.migrator([one, two]).migrate(admin) == [2])
    }

    @Test func aFailedBaselineLeavesNothing() async throws {
        let admin = try await admin()
        let bad = try SmallSchema.migrator([one], tables: "CREATE TABLE gateway.half (n int); SELECT 1/0;")
        #expect(await code { try await bad.migrate(admin) } == .baselineFailed)
        #expect(try await SmallSchema.migrator([one]).migrate(admin) == [1])
    }

    @Test func aChangedMigrationIsRefused() async throws {
        let admin = try await admin()
        try await SmallSchema.migrator([one]).migrate(admin)
        var changed = one
        changed.text += " "
        let migrator = try SmallSchema.migrator([changed, two])
        #expect(await code { try await migrator.migrate(admin) } == .checksumMismatch(version: 1, name: "m1"))
        #expect(try await admin.query("SELECT to_regclass('gateway.two') IS NULL AS gone").only().bool("gone"))
    }

    @Test func nodesThatMigrateAtOnceApplyEachMigrationOnce() async throws {
        let database = try await TestCluster.database(migrated: false)
        try await SmallSchema.migrator([one]).migrate(database.admin())
        let slow = SmallSchema.migration(2, "CREATE TABLE gateway.two (n int); SELECT pg_sleep(0.1);")
        let migrator = try SmallSchema.migrator([one, slow])
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { try await migrator.migrate(try await database.admin()).count }
            }
            return try await group.reduce(0, +)
        }
        #expect(applied == 1)
    }

    // MARK: Routines

    private func greeting(_ text: String) -> SchemaFiles.File {
        SmallSchema.routine("greeting", "() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN '\(text)'; END $$")
    }

    private func greets(_ admin: PostgresConnection) async throws -> String {
        try await admin.query("SELECT gateway.greeting() AS text").only().text("text")
    }

    @Test func aRoutineIsCreatedAgainWhenItsFileChanges() async throws {
        let admin = try await admin()
        try await SmallSchema.migrator([one], routines: [greeting("hello")]).migrate(admin)
        let changed = try SmallSchema.migrator([one], routines: [greeting("goodbye")])
        #expect(try await changed.status(admin).changedRoutines == ["greeting"])
        #expect(try await changed.status(admin).obstacle != nil)
        try await changed.migrate(admin)
        #expect(try await greets(admin) == "goodbye")
        #expect(try await changed.status(admin).obstacle == nil)
    }

    @Test func aRoutineGetsAParameterInTheTransactionOfItsMigration() async throws {
        let admin = try await admin()
        try await SmallSchema.migrator([one], routines: [greeting("hello")]).migrate(admin)
        let wider = SmallSchema.routine(
            "greeting",
            "(p_name text DEFAULT 'you') RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'hello ' || p_name; END $$"
        )
        let drop = SmallSchema.migration(2, "DROP FUNCTION IF EXISTS gateway.greeting;", oldest: 1)
        try await SmallSchema.migrator([one, drop], routines: [wider]).migrate(admin)
        #expect(try await greets(admin) == "hello you")
    }

    // MARK: The range of programs that a schema serves

    @Test func anOlderProgramIsServedUntilTheSchemaExcludesIt() async throws {
        let admin = try await admin()
        let older = try SmallSchema.migrator([one], routines: [greeting("older")])
        try await older.migrate(admin)
        let compatible = SmallSchema.migration(2, "SELECT 1", oldest: 1)
        try await SmallSchema.migrator([one, compatible], routines: [greeting("newer")]).migrate(admin)
        let status = try await older.status(admin)
        #expect(status.obstacle == nil && status.databaseVersion == 2 && status.programVersion == 1)
        #expect(try await older.migrate(admin) == [])
        #expect(try await greets(admin) == "newer", "the older program has written its routine")
        let breaking = SmallSchema.migration(3, "SELECT 1", oldest: 2)
        try await SmallSchema.migrator([one, compatible, breaking], routines: [greeting("newest")]).migrate(admin)
        let refusal = MigrationError.Code.databaseTooNew(databaseVersion: 3, oldestProgram: 2, programVersion: 1)
        #expect(await code { try await older.status(admin) } == refusal)
        #expect(await code { try await older.migrate(admin) } == refusal)
    }

    // MARK: Roles

    @Test func bootstrapMayBeRepeatedAndRunAtOnce() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await database.admin()
        try await admin.script("DROP SCHEMA gateway CASCADE")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await Bootstrap.prepare(try await database.admin()) } }
            try await group.waitForAll()
        }
        let roles = try await admin.query(
            """
            SELECT rolname::text AS name, rolsuper AS super, rolbypassrls AS bypass, rolcanlogin AS login
            FROM pg_roles WHERE rolname LIKE 'gateway\\_%' AND rolname <> 'gateway_admin' ORDER BY 1
            """
        )
        #expect(
            try roles.map { (row) throws(PostgresError) in try row.text("name") }
                == ["gateway_call", "gateway_engine", "gateway_owner"]
        )
        #expect(try roles.allSatisfy { (row) throws(PostgresError) in try !row.bool("super") })
        #expect(try !roles[0].bool("bypass") && roles[1].bool("bypass") && !roles[2].bool("login"))
    }
}
