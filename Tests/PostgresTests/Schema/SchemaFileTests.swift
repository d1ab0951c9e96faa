import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The files in `Sources/Postgres/Schema`, compared with each other and with the catalog.
@Suite struct SchemaFileTests {
    /// Objects in which a new database may differ from a migrated one, each with the reason. The list is empty.
    private static let intendedDifferences: [String] = []

    @Test func aConvertedAndANewDatabaseHaveTheSameSchema() async throws {
        let converted = try await TestCluster.databaseOfVersion38()
        let files = try SchemaFiles.bundled()
        let versions = try await Migrator(files: files).migrate(converted.admin())
        #expect(versions == files.migrations.map(\.version))
        let fresh = try await SchemaDump(of: TestCluster.database())
        let differences = try await SchemaDump(of: converted).differences(from: fresh)
        #expect(differences == Self.intendedDifferences, "tables/ and migrations/ disagree")
        #expect(fresh.entries.count > 300)
    }

    @Test func theComparisonDetectsAColumnAGrantAndABody() async throws {
        let (one, two) = (try await TestCluster.database(), try await TestCluster.database())
        let changes = [
            "ALTER TABLE gateway.device ADD COLUMN color text", "GRANT DELETE ON gateway.audit TO gateway_engine",
            "ALTER TABLE gateway.slice SET (fillfactor = 70)", "DROP POLICY tenant_only ON gateway.event_batch",
            """
            CREATE OR REPLACE FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) RETURNS void
            LANGUAGE plpgsql AS 'BEGIN RETURN; END'
            """,
        ]
        try await two.admin().script(changes.joined(separator: ";\n"))
        let differences = try await SchemaDump(of: two).differences(from: SchemaDump(of: one))
        for name in ["device;", "TABLE audit;", "slice;", "event_batch tenant_only;", "lock_name("] {
            #expect(differences.contains { $0.contains(name) }, "\(name) in \(differences)")
        }
    }

    @Test func everyFunctionIsDefinedInTheFileOfItsName() async throws {
        let files = try SchemaFiles.bundled()
        let admin = try await DatabaseStores.shared().database.admin()
        let catalog = try await admin.query(
            "SELECT proname::text AS name FROM pg_proc WHERE pronamespace = 'gateway'::regnamespace ORDER BY 1"
        )
        let definition = /CREATE (?:OR REPLACE )?FUNCTION gateway\.([a-z_]+)/
        for routine in files.routines {
            #expect(routine.sql.matches(of: definition).map { String($0.1) } == [routine.name])
            #expect(routine.sql.contains("CREATE OR REPLACE FUNCTION"), "\(routine.name)")
            #expect(
                routine.sql.contains(
                    "REVOKE ALL ON FUNCTION gateway.\(routine.name) FROM PUBLIC, gateway_call, gateway_engine;"
                ),
                "\(routine.name)"
            )
        }
        let others = files.tables.map(\.sql) + files.migrations.map(\.text) + [files.finish]
        #expect(others.allSatisfy { !$0.contains(definition) })
        #expect(try catalog.map { try $0.text("name") } == files.routines.map(\.name).sorted())
    }

    /// A program decides by the schema's version whether it may write routines, so every change of a routine needs a
    /// new version.
    @Test func theNewestMigrationNamesTheRoutinesOfThisVersion() async throws {
        let files = try SchemaFiles.bundled()
        let admin = try await DatabaseStores.shared().database.admin()
        let text = files.routines.sorted { $0.name < $1.name }.map { "\($0.name)\n\($0.sql)" }.joined()
        let digest = try await admin.query(
            "SELECT left(encode(sha256($1), 'hex'), 16) AS digest",
            [.bytes(Array(text.utf8))]
        ).only().text("digest")
        let newest = try #require(files.migrations.last)
        #expect(
            newest.text.contains("\n-- Routines: \(digest)\n"),
            "the routines have changed: add a migration with the line '-- Routines: \(digest)' (docs/schema.md)"
        )
    }

    /// Citus accepts a migration only statement by statement.
    @Test func aScriptIsDividedIntoItsStatements() throws {
        let sql = """
            -- A comment; with a semicolon.
            SET LOCAL a = 'x;''y';
            CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM ';'; END $$;
            ;
            DO $body$ BEGIN EXECUTE $$SELECT 1;$$; END $body$
            """
        #expect(
            SQLScript.statements(of: sql) == [
                "SET LOCAL a = 'x;''y'",
                "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM ';'; END $$",
                "DO $body$ BEGIN EXECUTE $$SELECT 1;$$; END $body$",
            ]
        )
        for routine in try SchemaFiles.bundled().routines {
            let words = SQLScript.statements(of: routine.sql).map { String($0.prefix { $0 != " " }) }
            let kinds: Set = ["CREATE", "REVOKE", "GRANT"]
            #expect(words.first == "CREATE" && Set(words).isSubset(of: kinds), "\(routine.name)")
        }
    }

    /// Nothing is planned before the statement that creates what it needs.
    @Test func statementsOfAScriptUseWhatEarlierOnesCreate() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let script = """
            CREATE TEMPORARY TABLE made (n integer);
            SELECT 'made'::regclass;
            INSERT INTO made SELECT 1 FROM made;
            DROP TABLE made
            """
        _ = try await admin.run(Migrator.transaction(script), timeout: .seconds(10))
    }

    @Test func commentsDescribeThePresent() throws {
        let files = try SchemaFiles.bundled()
        let past = /\b[Aa]s before\b|\b[Nn]ew:|\blikewise\b|\b00[0-3][0-9]\b|[Vv]ersion before/
        for file in files.tables + files.routines {
            for line in file.sql.split(separator: "\n") where line.contains("--") {
                #expect(!line.contains(past), "\(file.name): \(line)")
            }
        }
    }

    @Test func theBaselineRecordsEveryFile() async throws {
        let files = try SchemaFiles.bundled()
        let admin = try await DatabaseStores.shared().database.admin()
        let status = try await Migrator(files: files).status(admin)
        #expect(status.obstacle == nil && status.databaseVersion == files.version)
        let rows = try await admin.query(
            """
            SELECT (SELECT count(*) FROM gateway.schema_routine) AS routines,
                (SELECT count(*) FROM gateway.schema_version WHERE next_step IS NULL AND oldest_program IS NOT NULL) AS versions
            """
        ).only()
        #expect(try rows.int("routines") == files.routines.count)
        #expect(try rows.int("versions") == files.migrations.count)
    }

    @Test func aDatabaseOlderThanVersion38IsRefusedWithAdvice() async throws {
        let database = try await TestCluster.databaseOfVersion38()
        let admin = try await database.admin()
        try await admin.script("DELETE FROM gateway.schema_version WHERE version > 12")
        let error = try #require(
            await #expect(throws: MigrationError.self) { try await Migrator.bundled().migrate(admin) }
        )
        #expect(error.code == .databaseTooOld(databaseVersion: 12, oldestConvertible: 38))
        #expect(error.description.contains("first run 'push-gateway database migrate'"), "\(error)")
    }

    // MARK: Reading the folder

    private func folder(order: String = "one", tables: [String: String] = ["one": "SELECT 1"]) async throws -> String {
        let folder = try await TestCluster.scratchPath("schema")
        for part in ["tables", "routines", "migrations"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(part)", withIntermediateDirectories: true)
        }
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        try write("# comment\n\(order)\n", "tables/ORDER")
        for (name, sql) in tables { try write(sql, "tables/\(name).sql") }
        try write("SELECT 2", "routines/colocate.sql")
        try write("SELECT 3", "routines/a.sql")
        try write("-- Oldest program: 7\nSELECT 4;", "migrations/0007_a_b.sql")
        try write("SELECT 5", "finish.sql")
        try write("no", "migrations/README")
        return folder
    }

    @Test func aFolderIsReadInItsOrder() async throws {
        let path = try await folder(order: "two\none", tables: ["one": "1", "two": "2"])
        let files = try SchemaFiles.load(from: path)
        #expect(files.tables.map(\.name) == ["two", "one"])
        #expect(files.routines.map(\.name) == ["colocate", "a"])
        #expect(files.migrations.map(\.name) == ["a_b"] && files.version == 7 && files.oldestConvertible == 6)
        #expect(files.finish == "SELECT 5")
    }

    @Test func anIncompleteFolderIsRefused() async throws {
        let unlisted = try await folder(tables: ["one": "1", "two": "2"])
        #expect(throws: MigrationError.self) { try SchemaFiles.load(from: unlisted) }
        let listedTwice = try await folder(order: "one\none")
        #expect(throws: MigrationError.self) { try SchemaFiles.load(from: listedTwice) }
        #expect(throws: MigrationError.self) { try SchemaFiles.load(from: "\(unlisted)/absent") }
        let gap = try await folder()
        #expect(throws: Never.self) { try SchemaFiles.load(from: gap) }
        let text = "-- Oldest program: 7\n"
        try Data(text.utf8).write(to: URL(filePath: "\(gap)/migrations/0009_gap.sql"))
        #expect(throws: MigrationError.self) { try SchemaFiles.load(from: gap) }
    }

    @Test(
        arguments: [
            ("0007_x", "SELECT 1;"), ("0007_x", "-- Oldest program: 8\n"), ("7_x", "-- Oldest program: 7\n"),
            ("0007_x", "-- Oldest program: 7\n--@ magic\nSELECT 1;"),
            ("0007_x", "-- Oldest program: 7\n--@ index\nCREATE INDEX CONCURRENTLY i ON gateway.t (a);"),
            ("0007_x", "-- Oldest program: 7\n--@ backfill\nUPDATE gateway.t SET a = 1;"),
        ]
    )
    func aMalformedMigrationIsRefused(_ file: String, _ text: String) {
        #expect(throws: MigrationError.self) { try Migration(file: file, text: text) }
    }

    @Test func aMigrationIsReadAsItsSteps() throws {
        let migration = try Migration(
            file: "0041_color",
            text: """
                -- Colors.
                -- Oldest program: 40
                ALTER TABLE gateway.device ADD COLUMN color text;
                --@ backfill
                -- Red is the default of the app.
                UPDATE gateway.device AS t
                SET color = 'red'
                WHERE color IS NULL;
                --@ index
                CREATE UNIQUE INDEX device_color ON gateway.device (tenant_id, color)
                    WHERE color IS NOT NULL;
                --@ transaction
                SELECT 1;
                """
        )
        #expect(migration.version == 41 && migration.oldestProgram == 40 && migration.name == "color")
        #expect(migration.expand.contains("ADD COLUMN color") && !migration.expand.contains("red"))
        guard migration.steps.count == 3, case .backfill(let fill) = migration.steps[0],
            case .index(let index) = migration.steps[1], case .transaction(let sql) = migration.steps[2]
        else {
            Issue.record("\(migration.steps)")
            return
        }
        #expect(fill.table == "device" && fill.assignments == "color = 'red'" && fill.condition == "color IS NULL")
        #expect(index.isUnique && index.name == "device_color" && index.table == "device")
        #expect(index.definition == "(tenant_id, color)\n    WHERE color IS NOT NULL")
        #expect(sql.contains("SELECT 1;"))
    }
}
