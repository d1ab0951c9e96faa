import DatabaseSupport
import Foundation
import Testing

@testable import DatabaseSchema
@testable import PostgresClient

/// The schema and every statement against the rules of distribution. Each rule holds, and each rule is shown to
/// detect a breach.
@Suite struct DistributionTests {
    private func catalog(_ admin: PostgresConnection, of schema: String = "gateway") async throws -> SchemaCatalog {
        try await SchemaCatalog(of: schema, admin)
    }

    // MARK: The schema

    @Test func theSchemaCanBeDistributed() async throws {
        let catalog = try await catalog(DatabaseStores.shared().database.admin())
        #expect(catalog.breaches == [])
        #expect(Set(catalog.names(.reference)) == ["tenant", "binding", "api_key"])
        #expect(
            Set(catalog.names(.local))
                == [
                    "node", "singleton", "provider_token", "master_key", "schema_version", "schema_routine",
                    "log_generation", "account", "account_role", "console_session", "account_invitation",
                    "account_attempt",
                ]
        )
        #expect(catalog.names(.distributed).first == SchemaCatalog.anchor)
    }

    /// The files call `gateway.colocate` for exactly the tables that the catalog shows as distributed, so that a table is distributed whether Citus is
    /// installed before it or after it.
    @Test func everyDistributedTableIsColocatedByItsFile() async throws {
        let catalog = try await catalog(DatabaseStores.shared().database.admin())
        var colocated: [String] = []
        for file in try SchemaFiles.bundled().statements {
            let calls = file.sql.matches(of: /SELECT gateway\.colocate\('gateway\.([a-z_]+)'\)/)
            colocated += calls.map { String($0.1) }
            for made in file.sql.matches(of: /CREATE TABLE gateway\.([a-z_]+)/) {
                guard catalog.names(.distributed).contains(String(made.1)) else { continue }
                let rest = file.sql[made.range.upperBound...]
                let call = rest.firstRange(of: "SELECT gateway.colocate('gateway.\(made.1)')")
                let key = rest.firstRange(of: "ALTER TABLE gateway.\(made.1) ADD FOREIGN KEY")
                #expect(call != nil, "\(made.1) is not colocated by \(file.name)")
                if let call, let key { #expect(call.lowerBound < key.lowerBound, "\(made.1): keys follow the call") }
            }
        }
        #expect(Set(colocated) == Set(catalog.names(.distributed)))
        #expect(colocated.count == Set(colocated).count)
        #expect(colocated.first == SchemaCatalog.anchor)
    }

    @Test func partitionBoundsAndIndexesHaveTheFormThatCitusAccepts() throws {
        let files = try SchemaFiles.bundled()
        for file in files.statements + files.migrations.map({ SchemaFiles.File(name: $0.name, sql: $0.text) }) {
            let text = file.sql.replacing(/--[^\n]*/, with: "")
            for bound in text.matches(of: /FOR VALUES FROM ([^;']*?) TO/) {
                #expect(bound.1.contains(/^\((?:%s|-?[0-9]+)\)$/), "\(file.name): \(bound.1)")
            }
            #expect(!text.contains("CONCURRENTLY"), "\(file.name)")
            #expect(!text.contains("FORCE ROW LEVEL SECURITY"), "\(file.name)")
            #expect(!text.contains(/\bCREATE (CONSTRAINT )?TRIGGER\b/), "\(file.name)")
        }
    }

    // MARK: Each rule, broken

    /// A change to a valid schema, and the rule that must detect it.
    private static let breaches: [(sql: String, rule: String)] = [
        ("ALTER TABLE s.device DROP CONSTRAINT device_pkey CASCADE", "no primary key: an online move needs it"),
        ("CREATE UNIQUE INDEX bad ON s.device (device_id)", "a unique key does not begin with tenant_id"),
        (
            "CREATE UNIQUE INDEX bad ON s.device (lower(tenant_id), device_id)",
            "a unique key does not begin with tenant_id"
        ),
        (
            "ALTER TABLE s.device ADD EXCLUDE USING btree (tenant_id WITH =, device_id WITH =)",
            "an exclusion constraint"
        ),
        (
            "ALTER TABLE s.device ADD UNIQUE (device_id); "
                + "ALTER TABLE s.identity ADD CONSTRAINT bad FOREIGN KEY (identity_id) REFERENCES s.device (device_id)",
            "a foreign key crosses tenants"
        ),
        (
            "ALTER TABLE s.device ADD COLUMN node_id text REFERENCES s.node",
            "a foreign key leads to a table that is not spread"
        ),
        (
            "CREATE TABLE public.far (id text PRIMARY KEY); ALTER TABLE s.device ADD COLUMN far text REFERENCES public.far",
            "a foreign key leads to a table that is not spread"
        ),
        (
            "ALTER TABLE s.node ADD COLUMN tenant text REFERENCES s.tenant",
            "a foreign key of a local table leads to a spread one"
        ),
        (
            "ALTER TABLE s.binding ADD COLUMN app_id text, ADD FOREIGN KEY (tenant_id, app_id) REFERENCES s.app",
            "a reference table refers to a distributed one"
        ),
        (
            "ALTER TABLE s.identity ADD FOREIGN KEY (tenant_id, device_id) REFERENCES s.device ON DELETE SET NULL",
            "SET NULL or SET DEFAULT in a key with tenant_id"
        ),
        (
            "CREATE FUNCTION s.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
                + "CREATE TRIGGER bad BEFORE INSERT ON s.device FOR EACH ROW EXECUTE FUNCTION s.f()",
            "a trigger"
        ),
        ("ALTER TABLE s.device ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY", "an identity column"),
        ("ALTER TABLE s.device ADD COLUMN n bigserial", "a serial column"),
        ("ALTER TABLE s.device ADD COLUMN n xid8", "a column of a server's own transaction ids"),
        (
            "ALTER TABLE s.device ADD COLUMN n text DEFAULT pg_current_xact_id()::text",
            "a default of a server's own"
        ),
        (
            "ALTER TABLE s.device OWNER TO gateway_engine",
            "tables have several owners: a shard move loses updates"
        ),
        ("ALTER TABLE s.device DISABLE ROW LEVEL SECURITY", "no row-level security"),
        ("ALTER TABLE s.device FORCE ROW LEVEL SECURITY", "row-level security is forced: online moves never end"),
        (
            "CREATE POLICY bad ON s.device AS RESTRICTIVE USING (device_id IS NOT NULL)",
            "a restrictive policy: workers get a permissive one"
        ),
        ("CREATE FUNCTION s.g(t text) RETURNS text LANGUAGE sql AS 'SELECT t'", "a function in LANGUAGE sql"),
    ]

    private static let good = """
        CREATE SCHEMA s;
        CREATE TABLE s.tenant (tenant_id text PRIMARY KEY);
        CREATE TABLE s.binding (tenant_id text NOT NULL REFERENCES s.tenant ON DELETE CASCADE, value text PRIMARY KEY);
        CREATE TABLE s.node (node_id text PRIMARY KEY);
        CREATE TABLE s.app (tenant_id text REFERENCES s.tenant, app_id text, PRIMARY KEY (tenant_id, app_id));
        CREATE TABLE s.device (tenant_id text, device_id uuid, PRIMARY KEY (tenant_id, device_id));
        CREATE TABLE s.identity (tenant_id text, identity_id uuid, device_id uuid, PRIMARY KEY (tenant_id, identity_id));
        CREATE TABLE s.head (tenant_id text PRIMARY KEY, last bigint NOT NULL);
        ALTER TABLE s.app ENABLE ROW LEVEL SECURITY;
        ALTER TABLE s.device ENABLE ROW LEVEL SECURITY;
        ALTER TABLE s.identity ENABLE ROW LEVEL SECURITY;
        ALTER TABLE s.head ENABLE ROW LEVEL SECURITY;
        """

    @Test func aValidSchemaHasNoFindingsAndIsSorted() async throws {
        let admin = try await TestCluster.database(migrated: false).admin()
        try await admin.script(Self.good)
        let catalog = try await catalog(admin, of: "s")
        #expect(catalog.breaches == [])
        #expect(catalog.names(.reference) == ["tenant", "binding"])
        #expect(catalog.names(.local) == ["node"])
        #expect(catalog.names(.distributed) == ["app", "device", "identity", "head"])
    }

    @Test(arguments: 0..<breaches.count)
    func everyRuleDetectsItsBreach(_ index: Int) async throws {
        let breach = Self.breaches[index]
        let admin = try await TestCluster.database(migrated: false).admin()
        try await admin.script(Self.good)
        try await admin.script(breach.sql)
        #expect(try await catalog(admin, of: "s").breaches.map(\.rule).contains(breach.rule), "\(breach.sql)")
    }

    // MARK: Statements

    private func rules() async throws -> StatementRules {
        let catalog = try await catalog(DatabaseStores.shared().database.admin())
        return StatementRules(catalog)
    }

    /// The statements of a function. A loop's query ends where the loop begins.
    private func statements(of body: String) -> [String] {
        StatementRules.plain(body).replacing(" LOOP ", with: ";").split(separator: ";").map(String.init)
    }

    @Test func everyStatementOfEveryFunctionCanBeDistributed() async throws {
        let rules = try await rules()
        let admin = try await DatabaseStores.shared().database.admin()
        let functions = try await admin.query(
            """
            SELECT proname::text AS name, prosrc AS body, has_function_privilege('gateway_call', oid, 'EXECUTE') AS call FROM pg_proc
            WHERE pronamespace = 'gateway'::regnamespace AND NOT prosecdef ORDER BY 1
            """
        )
        #expect(functions.count > 15)
        var found: Set<String> = []
        for function in functions {
            let name = try function.text("name")
            for statement in statements(of: try function.text("body")) {
                for breach in rules.breaches(in: statement, isSecured: try function.bool("call")) {
                    found.insert("\(name): \(breach)")
                }
            }
        }
        #expect(found == [])
    }

    /// Maintenance of partitions is over all tenants.
    @Test func everyStatementOfTheOwnersFunctionsCanBeDistributed() async throws {
        var rules = try await rules()
        rules.distributed.formUnion(["delivery_default", "event_batch_default"])
        let admin = try await DatabaseStores.shared().database.admin()
        let functions = try await admin.query(
            """
            SELECT proname::text AS name, prosrc AS body FROM pg_proc
            WHERE pronamespace = 'gateway'::regnamespace AND prosecdef ORDER BY 1
            """
        )
        #expect(functions.count > 15)
        // They move rows of all tenants between partitions, and do that elsewhere than on Citus.
        let moves: Set<String> = ["stage_default_rows", "attach_staged_weeks"]
        var found: Set<String> = []
        for function in functions {
            let name = try function.text("name")
            guard !moves.contains(name) else { continue }
            for statement in statements(of: try function.text("body")) where !statement.contains("p_tenant") {
                for breach in rules.breaches(in: statement, isGlobal: true, isSecured: false) {
                    found.insert("\(name): \(breach)")
                }
            }
        }
        #expect(found == [])
    }

    /// On Citus, a transaction changes the rows of a tenant over the connection of one role.
    @Test func noFunctionCallsOneThatRunsAsTheOwner() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let calls = try await admin.query(
            """
            SELECT c.proname || ' calls ' || o.proname AS call FROM pg_proc o JOIN pg_proc c ON c.prosrc ~ ('gateway\\.' || o.proname || '\\(')
            WHERE o.pronamespace = 'gateway'::regnamespace AND c.pronamespace = o.pronamespace AND o.prosecdef AND NOT c.prosecdef
            """
        )
        for row in calls {
            let call = try row.text("call")
            Issue.record("\(call)")
        }
    }

    /// Workers get the functions that read no table and take no lock, and no others.
    @Test func workersGetTheFunctionsWithoutTables() async throws {
        let catalog = try await catalog(DatabaseStores.shared().database.admin())
        let names = Set(catalog.functions.map(\.name))
        #expect(names.isSuperset(of: ["stage_of", "known_zone", "due_of", "level_after", "client_after"]))
        let bound: Set<String> = ["is_taken", "numbered_message", "preferred_dialects", "lock_name", "lock_names"]
        #expect(names.isDisjoint(with: bound))
        #expect(catalog.functions.first { $0.name == "stage_of" }?.signature == "gateway.stage_of(text, text, boolean)")
        #expect(catalog.functions.first { $0.name == "stage_of" }?.isImmutable == true)
        #expect(catalog.functions.first { $0.name == "known_zone" }?.isImmutable == false)
        let text = DistributionPlan(catalog, schemaVersion: 12).text
        for function in catalog.functions {
            #expect(text.contains("SELECT create_distributed_function('\(function.signature)');"))
        }
    }

    private static let breaching: [(sql: String, rule: String)] = [
        ("SELECT 1 FROM gateway.device WHERE device_id = $1", "tenant_id is missing for a table"),
        (
            "SELECT 1 FROM gateway.device d JOIN gateway.identity i ON i.device_id = d.device_id WHERE d.tenant_id = $1",
            "tenant_id is missing for a table"
        ),
        (
            "UPDATE gateway.device d SET seen_at = now() FROM gateway.identity i WHERE i.tenant_id = $1 AND i.device_id = d.device_id",
            "tenant_id is missing for a table"
        ),
        (
            "SELECT 1 FROM gateway.device WHERE (tenant_id, device_id) > ($1, $2) AND tenant_id = $1",
            "row comparison with tenant_id asks every shard"
        ),
        (
            "SELECT 1 FROM gateway.device WHERE tenant_id = $1 GROUP BY GROUPING SETS ((app_id), ())", "GROUPING SETS"
        ),
        ("WITH RECURSIVE r AS (SELECT 1 FROM gateway.device WHERE tenant_id = $1) SELECT 1", "recursive CTE"),
        ("DELETE FROM gateway.device WHERE tenant_id = $1 AND ctid = ANY ($2)", "a place in a page (ctid)"),
        (
            "SELECT pg_current_xact_id() FROM gateway.device WHERE tenant_id = $1",
            "a server's own transaction ids"
        ),
        (
            "SELECT set_config('gateway.tenant', $1, true) FROM gateway.device WHERE tenant_id = $1",
            "set_config does not reach the workers"
        ),
        ("SELECT lastval() FROM gateway.device WHERE tenant_id = $1", "currval and lastval are a session's own"),
        ("UPDATE gateway.device SET seen_at = clock_timestamp() WHERE tenant_id = $1", "volatile function in SET"),
        (
            "UPDATE gateway.device SET seen_at = coalesce(seen_at, now()) WHERE tenant_id = $1",
            "now() in CASE or COALESCE of a SET"
        ),
        (
            "UPDATE gateway.device SET seen_at = CASE WHEN seen_at IS NULL THEN now() END WHERE tenant_id = $1",
            "now() in CASE or COALESCE of a SET"
        ),
        (
            "INSERT INTO gateway.device (tenant_id) VALUES ($1) ON CONFLICT DO UPDATE SET seen_at = now()",
            "now() in DO UPDATE"
        ),
        (
            "UPDATE gateway.slice SET next_at = now() + attempts * interval '1 s' WHERE tenant_id = $1",
            "an interval with a column in SET"
        ),
        (
            "UPDATE gateway.slice SET next_at = resume_at + interval '1 s' WHERE tenant_id = $1",
            "an interval with a column in SET"
        ),
        (
            "UPDATE gateway.slice s SET next_at = u.at + make_interval(secs => u.n) FROM unnest($2) u WHERE s.tenant_id = $1",
            "an interval with a column in SET"
        ),
        (
            "UPDATE gateway.device SET state = p_kinds[u.o] FROM unnest($2) AS u(o) WHERE tenant_id = $1",
            "a subscript in SET"
        ),
        (
            """
            INSERT INTO gateway.key AS k (tenant_id, list) SELECT $1, u.list FROM unnest($2) AS u(list) ON CONFLICT (tenant_id)
            DO UPDATE SET list = (k.list || excluded.list)[1:20]
            """,
            "a subscript in SET"
        ),
        (
            "UPDATE gateway.device d SET level = CASE u.change WHEN 'clear' THEN 0 END FROM unnest($2) u WHERE d.tenant_id = $1",
            "CASE with an operand in SET"
        ),
        (
            "UPDATE gateway.device d SET facts = gateway.consents_noted(d.facts) WHERE d.tenant_id = $1",
            "a function in SET that is not immutable"
        ),
        (
            "UPDATE gateway.device SET name = $2 WHERE tenant_id = $1 RETURNING json_build_object('name', name) AS data",
            "a function in RETURNING that is not immutable"
        ),
        (
            "SELECT gateway.is_taken($1, d.device_id) FROM gateway.device d WHERE d.tenant_id = $1",
            "a function that workers do not have"
        ),
        (
            "SELECT 1 FROM gateway.reading_identity($1) i JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id",
            "a function that workers do not have"
        ),
        (
            """
            INSERT INTO gateway.key AS k (tenant_id, name) SELECT $1, u.name FROM unnest($2) AS u(name) ON CONFLICT (tenant_id, name)
            DO UPDATE SET secret_at = CASE WHEN k.hash = excluded.hash THEN k.secret_at ELSE now() END
            """,
            "now() in DO UPDATE"
        ),
        ("UPDATE gateway.device SET name = $2 WHERE tenant_id = $1 RETURNING now() AS now", "now() in RETURNING"),
        (
            "INSERT INTO gateway.device (tenant_id, device_id) SELECT $1, u.id FROM unnest($2) AS u(id)",
            "INSERT … SELECT without ON CONFLICT or RETURNING"
        ),
        (
            "SELECT 1 FROM gateway.device d WHERE d.tenant_id = $1 AND d.device_id = coalesce($2, $3)",
            "COALESCE in a comparison asks no index"
        ),
        (
            "SELECT 1 FROM unnest($2) AS q(value) JOIN gateway.device d ON d.tenant_id = $1 AND d.token_digest = md5(q.value)",
            "a function of another row's column asks no index"
        ),
        (
            "DELETE FROM gateway.device b USING gateway.identity i WHERE b.tenant_id = $1 AND i.tenant_id = $1 AND b.holder = 'key:' || i.key",
            "a function of another row's column asks no index"
        ),
        (
            "INSERT INTO gateway.device (tenant_id, n) VALUES ($1, (SELECT max(n) FROM gateway.device WHERE tenant_id = $1))",
            "subquery in VALUES"
        ),
    ]

    @Test(arguments: 0..<breaching.count)
    func everyRuleDetectsItsStatement(_ index: Int) {
        let rules = StatementRules(distributed: ["device", "identity", "slice"], reference: ["key"])
        let statement = Self.breaching[index]
        #expect(rules.breaches(in: statement.sql).contains(statement.rule), "\(statement.sql)")
    }

    @Test func anInsertWithARowOfTheTenantHasNoFindings() {
        let rules = StatementRules(distributed: ["device", "message"])
        let sql = """
            INSERT INTO gateway.device (tenant_id, device_id) SELECT x.tenant_id, u.id FROM gateway.message x
            CROSS JOIN unnest($3) AS u(id) WHERE x.tenant_id = $1 AND x.message_id = $2
            """
        #expect(rules.breaches(in: sql) == [])
    }

    @Test func aLookupWithAPrecomputedValueHasNoFindings() {
        let rules = StatementRules(distributed: ["device", "identity", "slice"])
        let sql = """
            SELECT 1 FROM unnest($2) AS q(value) CROSS JOIN LATERAL (
                SELECT FROM gateway.device d WHERE d.tenant_id = $1 AND d.token_digest = md5(q.value) OFFSET 0) AS r
            """
        #expect(rules.breaches(in: sql) == [])
        #expect(
            rules.breaches(in: sql.replacing(" OFFSET 0", with: "")) == [
                "a function of another row's column asks no index"
            ]
        )
    }

    @Test func aStatementOverAllTenantsNeitherWritesNorLocks() {
        let rules = StatementRules(distributed: ["device", "identity"])
        #expect(
            rules.breaches(in: "DELETE FROM gateway.device", isGlobal: true)
                .contains("a statement over all tenants writes a tenant's table")
        )
        #expect(
            rules.breaches(in: "SELECT 1 FROM gateway.device d FOR UPDATE SKIP LOCKED", isGlobal: true)
                .contains("locks without one tenant")
        )
        let joined = "SELECT 1 FROM gateway.device d JOIN gateway.identity i ON"
        #expect(
            rules.breaches(in: joined + " i.device_id = d.device_id", isGlobal: true)
                .contains("tenant_id is missing for a table")
        )
        #expect(rules.breaches(in: joined + " i.tenant_id = d.tenant_id", isGlobal: true) == [])
    }

    /// Citus plans the subqueries of such a statement one by one.
    @Test func aStatementOverAllTenantsHasSubqueriesThatStandAlone() {
        let rules = StatementRules(distributed: ["device", "lane"], reference: ["tenant"])
        func breaches(_ sql: String) -> [String] { rules.breaches(in: sql, isGlobal: true) }
        let probe = "(SELECT 1 FROM gateway.device d WHERE d.tenant_id = t.tenant_id LIMIT 1) x"
        #expect(
            breaches("SELECT t.tenant_id FROM gateway.tenant t CROSS JOIN LATERAL \(probe)") == [
                "a subquery about the rows of a reference table"
            ]
        )
        #expect(breaches("SELECT t.tenant_id FROM gateway.lane t CROSS JOIN LATERAL \(probe)") == [])
        #expect(
            breaches("SELECT EXISTS (SELECT FROM gateway.lane l WHERE l.is_paused) AS is_paused") == [
                "no columns in a subquery over all tenants"
            ]
        )
        #expect(breaches("SELECT EXISTS (SELECT 1 FROM gateway.lane l WHERE l.is_paused) AS is_paused") == [])
        let inner = "(SELECT d.at FROM gateway.device d WHERE d.tenant_id = l.tenant_id LIMIT 1)"
        #expect(
            breaches("SELECT x.at FROM gateway.lane l CROSS JOIN LATERAL (SELECT coalesce(\(inner), l.at) AS at) x")
                == [
                    "a correlated subquery without FROM"
                ]
        )
    }

    // MARK: The plan

    @Test func thePlanDistributesEveryTableOnceParentsFirst() async throws {
        let admin = try await DatabaseStores.shared().database.admin()
        let catalog = try await catalog(admin)
        let text = DistributionPlan(catalog, schemaVersion: 12).text
        for table in catalog.tables where table.place == .distributed {
            let call = "create_distributed_table('gateway.\(table.name)', 'tenant_id'"
            #expect(text.ranges(of: call).count == 1, "\(table.name)")
            #expect(text.ranges(of: "truncate_local_data_after_distributing_table('gateway.\(table.name)')").count == 1)
            guard let own = text.firstRange(of: call) else { continue }
            for parent in table.parents {
                let before = text[..<own.lowerBound]
                #expect(before.contains("_table('gateway.\(parent)'"), "\(table.name) comes before \(parent)")
            }
        }
        for name in catalog.names(.reference) {
            #expect(text.ranges(of: "create_reference_table('gateway.\(name)')").count == 1)
        }
        for name in catalog.names(.local) { #expect(!text.contains("_table('gateway.\(name)'")) }
        #expect(text.contains("ALTER ROLE gateway_owner LOGIN;"))
        #expect(
            text.contains("FROM before EXCEPT SELECT * FROM after")
                && text.contains("FROM after EXCEPT SELECT * FROM before")
        )
        let body = try await admin.query("SELECT prosrc FROM pg_proc WHERE proname = 'colocate'").only().text("prosrc")
        #expect(body.contains("'gateway.\(SchemaCatalog.anchor)'"))
    }

    /// The checks of the plan that plain PostgreSQL supports are run as printed.
    @Test func thePlansChecksRunAndFindNothing() async throws {
        let admin = try await TestCluster.database().admin()
        let catalog = try await catalog(admin)
        let text = DistributionPlan(catalog, schemaVersion: 12).text
        let from = try #require(text.components(separatedBy: "must return no row:\n").dropFirst().first)
        let checks = try #require(from.components(separatedBy: "\n-- 3.").first)
        let statements = checks.components(separatedBy: ";\n")
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        #expect(statements.count == 5)
        for statement in statements { #expect(try await admin.query(statement).isEmpty, "\(statement)") }
        let counts = try #require(text.components(separatedBy: "AS\n    SELECT").dropFirst().first)
        let query = "SELECT" + (counts.components(separatedBy: ";").first ?? "")
        #expect(
            try await admin.query(query).count == catalog.names(.distributed).count + catalog.names(.reference).count
        )
    }
}

extension SchemaFiles {
    /// The files that create a new database.
    fileprivate var statements: [File] { tables + routines }
}
