import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// Migrations of a distributed database, and the completion of its plan. `scripts/try-citus` runs both on a real cluster.
@Suite(.timeLimit(.minutes(10))) struct DistributedMigrationTests {
    // MARK: Indexes

    private static let tables = """
        CREATE TABLE gateway.tenant (tenant_id text PRIMARY KEY);
        CREATE TABLE gateway.thing (tenant_id text, n bigint, name text, PRIMARY KEY (tenant_id, n)) PARTITION BY RANGE (n);
        CREATE TABLE gateway.thing_high PARTITION OF gateway.thing FOR VALUES FROM (100) TO (200);
        CREATE TABLE gateway.thing_low PARTITION OF gateway.thing FOR VALUES FROM (0) TO (100);
        """

    private static let index = """
        --@ index
        CREATE INDEX thing_name ON gateway.thing (tenant_id, name);
        """

    /// Makes the migrator regard the database as one with Citus, leaves an index of one partition as an interrupted build does, and records the query of each
    /// change of the schema from then on.
    private static let pretence = """
        SET allow_system_table_mods = on;
        INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
            VALUES (99999, 'citus', 10, 'public'::regnamespace, false, '1.0');
        CREATE INDEX thing_low_thing_name ON gateway.thing_low (tenant_id, name);
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'gateway.thing_low_thing_name'::regclass;
        CREATE TABLE public.sent (query text, at timestamptz DEFAULT clock_timestamp());
        GRANT USAGE ON SCHEMA public TO PUBLIC;
        GRANT INSERT ON public.sent TO PUBLIC;
        CREATE FUNCTION public.note() RETURNS event_trigger LANGUAGE plpgsql
            AS 'BEGIN INSERT INTO public.sent (query) VALUES (current_query()); END';
        CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION public.note();
        """

    /// Citus sends the text of the query to its workers and refuses one with several statements; and not every shard has an index whose build failed.
    @Test func anIndexOfPartitionsIsBuiltByOneStatementPerQuery() async throws {
        let database = try await TestCluster.database(migrated: false)
        let admin = try await database.admin()
        let one = SmallSchema.migration(1, "")
        try await SmallSchema.migrator([one], tables: Self.tables).migrate(admin)
        try await admin.script(Self.pretence)
        let session = try await database.admin()
        #expect(try await SmallSchema.migrator([one, SmallSchema.migration(2, Self.index)]).migrate(session) == [2])
        let sent = try await admin.query("SELECT query FROM public.sent ORDER BY at")
            .map { try $0.text("query").trimmingCharacters(in: .whitespacesAndNewlines) }
        #expect(
            sent == [
                "CREATE INDEX thing_name ON ONLY gateway.thing (tenant_id, name)",
                "CREATE INDEX CONCURRENTLY thing_high_thing_name ON gateway.thing_high (tenant_id, name)",
                "ALTER INDEX gateway.thing_name ATTACH PARTITION gateway.thing_high_thing_name",
                "DROP INDEX CONCURRENTLY IF EXISTS gateway.thing_low_thing_name",
                "CREATE INDEX CONCURRENTLY thing_low_thing_name ON gateway.thing_low (tenant_id, name)",
                "ALTER INDEX gateway.thing_name ATTACH PARTITION gateway.thing_low_thing_name",
            ]
        )
        let valid = "SELECT indisvalid AS is_valid FROM pg_index WHERE indexrelid = 'gateway.thing_name'::regclass"
        #expect(try await admin.query(valid).only().bool("is_valid"))
    }

    // MARK: Backfills

    /// The findings in the statements of a backfill: of its first batch and of a later one.
    private func breaches(_ assignments: String) async throws -> [String] {
        let admin = try await DatabaseStores.shared().database.admin()
        let migration = SmallSchema.migration(
            2,
            "--@ backfill\nUPDATE gateway.slice AS t SET \(assignments)\nWHERE first_target IS NULL;\n"
        )
        guard case .backfill(let step) = try #require(migration.steps.first) else { return ["not a backfill"] }
        let batch = try await BackfillBatch(step, admin)
        let rules = StatementRules(try await SchemaCatalog(admin))
        let positions = [["acme"], ["acme", "00000000-0000-0000-0000-000000000001", "1"]]
        return positions.flatMap { rules.breaches(in: batch.statement($0).sql, isSecured: false) }
    }

    @Test func aBatchOfABackfillIsAStatementOfOneTenant() async throws {
        #expect(try await breaches("held_by = 'apple'") == [])
        // Ends the process of the coordinator.
        #expect(try await breaches("first_target = targets[1]").contains("a subscript in SET"))
    }

    // MARK: Other steps

    /// The statements that Citus refuses in ALTER TABLE.
    private func refusals(in sql: String) -> [String] {
        SQLScript.statements(of: sql.replacing(/(?m)^--@.*$/, with: ";")).filter { statement in
            guard statement.contains(/\bALTER TABLE\b/) else { return false }
            let constraints = statement.matches(
                of: /(CONSTRAINT [a-z_]+ )?\b(?:CHECK|REFERENCES|UNIQUE|PRIMARY KEY)\b/
            )
            let isUnnamed = statement.contains("ADD COLUMN") && constraints.contains { $0.1 == nil }
            let action = /\b(?:SET (?:STORAGE|STATISTICS|COMPRESSION|TABLESPACE)|REPLICA IDENTITY|CLUSTER ON|INHERIT)\b/
            return isUnnamed || statement.contains(action)
        }
    }

    /// A database that was distributed before these two cannot be migrated (docs/operations.md). All later migrations ran on a cluster.
    @Test func migrationsAlterTablesAsCitusAllows() throws {
        let refused = try SchemaFiles.bundled().migrations.filter { !refusals(in: $0.text).isEmpty }.map(\.version)
        #expect(refused == [43, 57], "give each constraint of a new column a name; Citus refuses other changes")
    }

    /// The same for backfills: 0048 reads an element of an array.
    @Test func newBackfillsKeepTheRulesOfDistribution() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let rules = StatementRules(try await SchemaCatalog(admin))
        var broken: [Int] = []
        for migration in try SchemaFiles.bundled().migrations {
            for case .backfill(let step) in migration.steps {
                let statement = try await BackfillBatch(step, admin).statement(["acme"])
                if !rules.breaches(in: statement.sql, isSecured: false).isEmpty { broken.append(migration.version) }
            }
        }
        #expect(broken == [48])
    }

    // MARK: The plan of a distributed database

    /// The state of a database that was distributed by the whole plan.
    private func complete(_ catalog: SchemaCatalog) -> DistributionState {
        var state = DistributionState()
        state.distributed = Set(catalog.names(.distributed))
        state.reference = Set(catalog.names(.reference))
        state.functions = Set(catalog.functions.map(\.signature))
        state.ownerLogsIn = true
        state.callsNameTheirTenant = true
        return state
    }

    private func statements(_ plan: DistributionPlan, _ state: DistributionState) -> [String] {
        plan.supplement(to: state).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("--") }
    }

    @Test func nothingIsMissingAfterTheWholePlan() async throws {
        let catalog = try await SchemaCatalog(DatabaseStores.shared().database.admin())
        #expect(catalog.distribution == nil)
        let plan = DistributionPlan(catalog, schemaVersion: 12)
        #expect(statements(plan, complete(catalog)) == [])
        #expect(plan.supplement(to: complete(catalog)).contains("nothing of the plan is missing"))
    }

    @Test func onlyWhatIsMissingIsPrinted() async throws {
        let catalog = try await SchemaCatalog(DatabaseStores.shared().database.admin())
        let plan = DistributionPlan(catalog, schemaVersion: 12)
        let mode = #"\set ON_ERROR_STOP on"#
        var state = complete(catalog)
        state.ownerLogsIn = false
        #expect(statements(plan, state) == [mode, "ALTER ROLE gateway_owner LOGIN;"])
        state = complete(catalog)
        state.functions.remove("gateway.stage_of(text, text, boolean)")
        #expect(
            statements(plan, state)
                == [mode, "SELECT create_distributed_function('gateway.stage_of(text, text, boolean)');"]
        )
        state = complete(catalog)
        state.callsNameTheirTenant = false
        #expect(
            statements(plan, state) == [mode, "ALTER ROLE gateway_call SET citus.propagate_set_commands = 'local';"]
        )
        state = complete(catalog)
        state.leftovers = ["device"]
        #expect(
            statements(plan, state)
                == [mode, "SELECT truncate_local_data_after_distributing_table('gateway.device');"]
        )
        state = complete(catalog)
        state.distributed.remove("device")
        state.reference.remove("binding")
        let tables = statements(plan, state).filter { $0.hasPrefix("SELECT create_") }
        #expect(tables.count == 2)
        #expect(tables.first?.hasPrefix("SELECT create_reference_table('gateway.binding') WHERE NOT EXISTS") == true)
        #expect(tables.last?.contains("('gateway.device', 'tenant_id', colocate_with => 'gateway.app') WHERE") == true)
    }

    /// A database that was distributed by a plan without roles and functions.
    @Test func everythingIsPrintedThatAnOlderPlanLacks() async throws {
        let catalog = try await SchemaCatalog(DatabaseStores.shared().database.admin())
        let plan = DistributionPlan(catalog, schemaVersion: 12)
        var state = complete(catalog)
        state.ownerLogsIn = false
        state.functions = []
        let lines = statements(plan, state)
        #expect(lines.count == 2 + catalog.functions.count)
        // Every statement is also one of the whole plan.
        let all = Set(plan.text.split(separator: "\n").map(String.init))
        #expect(Set(lines).isSubset(of: all))
    }
}
