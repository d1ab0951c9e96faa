import DatabaseSupport
import Foundation
import Testing

@testable import Postgres

/// Migrations against a real server.
@Suite struct MigrationTests {
    private func admin() async throws -> PostgresConnection {
        try await TestCluster.database(migrated: false).admin()
    }

    private let one = Migration(version: 1, name: "one", sql: "CREATE TABLE gateway.one (n int);")
    private let two = Migration(version: 2, name: "two", sql: "CREATE TABLE two (n int) -- no semicolon")

    private func code(_ body: () async throws -> some Any) async -> MigrationError.Code? {
        do { _ = try await body() } catch { return (error as? MigrationError)?.code }
        return nil
    }

    @Test func eachFileIsAppliedOnceInOrderAsTheOwner() async throws {
        let admin = try await admin()
        let first = try Migrator(migrations: [one])
        #expect(try await first.migrate(admin).map(\.version) == [1])
        let both = try Migrator(migrations: [one, two])
        #expect(try await both.status(admin).pending.map(\.name) == ["two"])
        #expect(try await both.migrate(admin).map(\.version) == [2])
        #expect(try await both.migrate(admin).isEmpty)
        #expect(try await both.status(admin).databaseVersion == 2)
        let owners = try await admin.query(
            "SELECT DISTINCT tableowner::text AS o FROM pg_tables WHERE schemaname = 'gateway'"
        )
        #expect(try owners.only().text("o") == "gateway_owner")
    }

    @Test func aFailedFileLeavesNothingAndThoseBeforeItStand() async throws {
        let admin = try await admin()
        let bad = Migration(version: 2, name: "bad", sql: "CREATE TABLE half (n int); SELECT 1/0;")
        let migrator = try Migrator(migrations: [one, bad])
        #expect(await code { try await migrator.migrate(admin) } == .failed(version: 2, name: "bad"))
        #expect(try await admin.query("SELECT to_regclass('gateway.half') IS NULL AS gone").only().bool("gone"))
        #expect(try await migrator.status(admin).databaseVersion == 1)
        // The lock is free again.
        let mended = try Migrator(migrations: [one, two])
        #expect(try await mended.migrate(admin).map(\.version) == [2])
    }

    @Test func aChangedFileIsRefused() async throws {
        let admin = try await admin()
        _ = try await Migrator(migrations: [one]).migrate(admin)
        var changed = one
        changed.sql += " "
        let migrator = try Migrator(migrations: [changed, two])
        #expect(await code { try await migrator.migrate(admin) } == .checksumMismatch(version: 1, name: "one"))
        #expect(try await admin.query("SELECT to_regclass('gateway.two') IS NULL AS gone").only().bool("gone"))
    }

    @Test func aNewerDatabaseIsRefused() async throws {
        let admin = try await admin()
        _ = try await Migrator(migrations: [one, two]).migrate(admin)
        let older = try Migrator(migrations: [one])
        #expect(await code { try await older.migrate(admin) } == .databaseTooNew(databaseVersion: 2, programVersion: 1))
    }

    @Test func nodesThatMigrateAtOnceApplyEachFileOnce() async throws {
        let database = try await TestCluster.database(migrated: false)
        let slow = Migration(version: 1, name: "slow", sql: "CREATE TABLE gateway.one (n int); SELECT pg_sleep(0.1);")
        let migrator = try Migrator(migrations: [slow, two])
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { try await migrator.migrate(try await database.admin()).count }
            }
            return try await group.reduce(0, +)
        }
        #expect(applied == 2)
    }

    @Test func filesMustBeNumberedWithoutGaps() async throws {
        #expect(throws: MigrationError.self) { try Migrator(migrations: [two]) }
        let folder = try await TestCluster.scratchPath("migrations")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("SELECT 1".utf8).write(to: URL(filePath: "\(folder)/0001_a_b.sql"))
        try Data("no".utf8).write(to: URL(filePath: "\(folder)/README"))
        #expect(
            try Migration.load(from: folder) == [Migration(version: 1, name: "a_b", sql: "SELECT 1")]
        )
        try Data("no".utf8).write(to: URL(filePath: "\(folder)/2_b.sql"))
        #expect(throws: MigrationError.self) { try Migration.load(from: folder) }
        #expect(throws: MigrationError.self) { try Migration.load(from: "\(folder)/absent") }
    }

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

    @Test func theProgramsOwnFilesApply() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let migrator = try Migrator.bundled()
        #expect(try await migrator.status(admin).pending.isEmpty)
        let foreign = try await admin.query(
            "SELECT count(*) AS n FROM pg_class c JOIN pg_namespace s ON s.oid = relnamespace WHERE nspname = 'gateway' AND relowner <> 'gateway_owner'::regrole"
        )
        #expect(try foreign.only().int("n") == 0)
    }
}
