/// The steps that distribute a gateway's database over Citus, as SQL that an administrator reads and runs. Made from the catalog; changes nothing.
package struct DistributionPlan: Sendable {
    private let catalog: SchemaCatalog
    private let schemaVersion: Int

    /// - Parameters:
    ///   - catalog: the catalog of the database.
    ///   - schemaVersion: the schema version of the plan, which its heading shows.
    package init(_ catalog: SchemaCatalog, schemaVersion: Int) {
        self.catalog = catalog
        self.schemaVersion = schemaVersion
    }

    /// The whole plan. Every line is SQL, a psql command or a comment.
    package var text: String {
        ([heading] + [servers, checks, counts, nodes, spread, comparison, leftovers, afterwards])
            .joined(separator: "\n\n") + "\n"
    }

    /// The statements that a distributed database lacks, for example because it was distributed by the plan of an older program. Each may be repeated. If it lacks
    /// none, a comment that says so.
    package func supplement(to state: DistributionState) -> String {
        let tables = missingTables(state)
        let functions = functionCalls.filter { !state.functions.contains($0.signature) }
        let leftovers = truncations.filter { state.leftovers.contains($0.table) }
        var parts: [String] = []
        if !state.ownerLogsIn { parts.append(ownerLogin) }
        if !tables.isEmpty {
            parts.append(
                """
                -- Tables that are not distributed. Stop every gateway first, and compare their rows before and after.
                BEGIN;
                \(Self.modes)
                \(tables.joined(separator: "\n"))
                COMMIT;
                """
            )
        }
        if !functions.isEmpty {
            parts.append(
                "-- Functions that statements on the tables call. Later changes of them reach the workers by themselves.\n"
                    + functions.map { $0.sql }.joined(separator: "\n")
            )
        }
        if !leftovers.isEmpty {
            parts.append(
                "-- The coordinator's own copies of rows that the transaction which distributed the tables copied to the shards; the shards stay.\n"
                    + leftovers.map { $0.sql }.joined(separator: "\n")
            )
        }
        if !state.callsNameTheirTenant { parts.append(callSetting) }
        guard !parts.isEmpty else {
            return
                "-- The schema gateway (version \(schemaVersion)) is distributed over Citus, and nothing of the plan is missing.\n"
        }
        let heading = """
            -- Completes the distribution of the schema gateway (version \(schemaVersion)) over Citus. Made from this database's catalog; nothing was changed.
            -- Run it in one psql session as a superuser on the coordinator. Each statement may be repeated. Then run the command again: nothing must be missing.
            \\set ON_ERROR_STOP on
            """
        return ([heading] + parts).joined(separator: "\n\n") + "\n"
    }

    private func missingTables(_ state: DistributionState) -> [String] {
        let references = names(.reference).filter { !state.reference.contains($0) }.map { ($0, reference($0)) }
        let distributed = names(.distributed).filter { !state.distributed.contains($0) }.map { ($0, placement($0)) }
        return (references + distributed).map { name, call in
            "\(call) WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'gateway.\(name)'::regclass);"
        }
    }

    private var heading: String {
        """
        -- Distributes the schema gateway (version \(schemaVersion)) over Citus by tenant_id. Made from this database's catalog; nothing was changed.
        -- The steps were tried with Citus 13.2 on PostgreSQL 15. Try them on a copy first. Run them one by one as a superuser, on the coordinator
        -- unless a step names another server, from step 3 on in one psql session.
        -- The current primary becomes the coordinator, and all gateways continue to connect to it.
        \\set ON_ERROR_STOP on
        """
    }

    private var servers: String {
        """
        -- 1. Every server: the same PostgreSQL minor version, the same Citus build. In postgresql.conf, then a restart:
        --      shared_preload_libraries = 'citus'
        --      wal_level = logical
        --      max_prepared_transactions = 200          -- at least max_connections
        --      max_locks_per_transaction = 512
        --      max_replication_slots = 32
        --      max_wal_senders = 32
        --      max_worker_processes = 64
        --      output_plugin_libraries = 'pgoutput, test_decoding, citus'       -- PostgreSQL 15.19 and later
        --    Node-to-node logins (pg_hba.conf, .pgpass) for the superuser, gateway_owner, gateway_call and gateway_engine. Allow gateway_owner from these servers
        --    only: step 4 lets it log in.
        --    Do not set plan_cache_mode = force_generic_plan anywhere: it breaks the claim.
        SHOW server_version;
        SHOW wal_level;
        SHOW max_prepared_transactions;
        SELECT name, default_version FROM pg_available_extensions WHERE name = 'citus';
        """
    }

    private var checks: String {
        """
        -- 2. Before. Back up ('push-gateway database backup --out FILE'), stop every gateway (SIGTERM drains it), and check that no work is under way.
        --    Each of these statements must return no row:
        SELECT node_id, seen_at AS "still alive" FROM gateway.node WHERE seen_at > now() - interval '1 minute';
        SELECT tenant_id, lane, count(*) AS "still leased" FROM gateway.slice WHERE state = 'leased' GROUP BY 1, 2;
        SELECT extname AS "already there" FROM pg_extension WHERE extname = 'citus';
        SELECT relname AS "not gateway_owner's" FROM pg_class
            WHERE relnamespace = 'gateway'::regnamespace AND relkind IN ('r', 'p') AND relowner <> 'gateway_owner'::regrole;
        SELECT pid, usename, state AS "connected" FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';
        """
    }

    private var counts: String {
        """
        -- 3. Count the rows, for the comparison in step 6.
        CREATE TEMPORARY TABLE before AS
        \(rowCounts);
        """
    }

    private var nodes: String {
        """
        -- 4. On every worker, in an empty database of the same name: CREATE EXTENSION citus;
        --    Then here, with the names by which the servers know each other:
        CREATE EXTENSION IF NOT EXISTS citus;
        SELECT citus_set_coordinator_host('coordinator.example', 5432);
        SELECT citus_add_node('worker1.example', 5432);
        SELECT citus_add_node('worker2.example', 5432);
        \(ownerLogin)
        SELECT nodename, result FROM run_command_on_workers('SHOW server_version') JOIN pg_dist_node USING (nodename, nodeport);
        """
    }

    private var ownerLogin: String {
        """
        -- Maintenance and migrations run as the owner of the tables, and the coordinator connects to the workers as the role that runs a statement. No password: only
        -- pg_hba.conf on these servers decides who may be gateway_owner. The workers receive the change from here.
        ALTER ROLE gateway_owner LOGIN;
        """
    }

    private static let modes = """
        SET LOCAL citus.multi_shard_modify_mode = 'sequential';
        SET LOCAL citus.enable_local_reference_table_foreign_keys = off;
        """

    private func reference(_ table: String) -> String { "SELECT create_reference_table('gateway.\(table)')" }

    private func placement(_ table: String) -> String {
        table == SchemaCatalog.anchor
            ? "SELECT create_distributed_table('gateway.\(table)', 'tenant_id')"
            : "SELECT create_distributed_table('gateway.\(table)', 'tenant_id', colocate_with => 'gateway.\(SchemaCatalog.anchor)')"
    }

    private var functionCalls: [(signature: String, sql: String)] {
        catalog.functions.map {
            (signature: $0.signature, sql: "SELECT create_distributed_function('\($0.signature)');")
        }
    }

    private var spread: String {
        let references = names(.reference).map { reference($0) + ";" }
        let distributed = names(.distributed).map { placement($0) + ";" }
        let functions = functionCalls.map { $0.sql }
        let partitioned = catalog.tables.filter { $0.place == .distributed && $0.partitions > 0 }
            .map { "\($0.name) includes its \($0.partitions) partitions" }
        return """
            -- 5. The tables, in one transaction: parents before children, one colocation group. \(partitioned.joined(separator: ", ")).
            --    32 shards: for more than 32 servers, choose more before the first table. Each partition becomes that many tables.
            SET citus.shard_count = 32;
            BEGIN;
            \(Self.modes)
            -- Small, rarely written tables that are read before the tenant is known: on every server.
            \(references.joined(separator: "\n"))
            -- A tenant's rows: together, on one server.
            \(distributed.joined(separator: "\n"))
            COMMIT;
            -- Functions that statements on these tables call, and that read no table: on every server. Later changes of them reach the workers by themselves.
            \(functions.joined(separator: "\n"))
            -- These stay on the coordinator unchanged: \(names(.local).joined(separator: ", ")).
            """
    }

    private var comparison: String {
        """
        -- 6. Compare the rows, in both directions. The last statement must return no row; if it returns one, stop and restore the backup.
        CREATE TEMPORARY TABLE after AS
        \(rowCounts);
        SELECT 'before' AS side, b.* FROM (SELECT * FROM before EXCEPT SELECT * FROM after) AS b
            UNION ALL SELECT 'after', a.* FROM (SELECT * FROM after EXCEPT SELECT * FROM before) AS a;
        """
    }

    private var truncations: [(table: String, sql: String)] {
        (names(.distributed).reversed() + names(.reference).reversed())
            .map { (table: $0, sql: "SELECT truncate_local_data_after_distributing_table('gateway.\($0)');") }
    }

    private var leftovers: String {
        """
        -- 7. Remove the coordinator's own copies; the shards stay. PostgreSQL prints many notices "truncate cascades to table": they are about these copies as well.
        \(truncations.map { $0.sql }.joined(separator: "\n"))
        """
    }

    private var callSetting: String {
        """
        -- Workers apply row-level security to the rows of a call only if they receive its tenant.
        ALTER ROLE gateway_call SET citus.propagate_set_commands = 'local';
        """
    }

    private var afterwards: String {
        """
        -- 8. Afterwards.
        \(callSetting)
        --    Must return one row; otherwise shard moves lose updates without an error:
        SELECT relowner::regrole, count(*) FROM pg_class
            WHERE relnamespace = 'gateway'::regnamespace AND relkind IN ('r', 'p') GROUP BY 1;
        --    Must return all three roles on every worker; set their passwords there if they log in by password:
        SELECT nodename, result FROM run_command_on_workers(
            $$SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM pg_roles WHERE rolname LIKE 'gateway\\_%'$$)
            JOIN pg_dist_node USING (nodename, nodeport);
        SELECT table_name, citus_table_type, shard_count, table_size FROM citus_tables ORDER BY 2, 1;
        --    Start one gateway with --no-database-shared-flush, send a message and check 'push-gateway doctor'; then start the others.
        --    Later migrations distribute new tables themselves (gateway.colocate). Move shards with citus_move_shard_placement or the rebalancer; isolate a
        --    large tenant with isolate_tenant_to_new_shard('gateway.\(SchemaCatalog.anchor)', 'TENANT', 'CASCADE', shard_transfer_mode := 'block_writes') while it is paused.
        """
    }

    private var rowCounts: String {
        (names(.reference) + names(.distributed))
            .map { "    SELECT '\($0)' AS name, count(*) AS rows FROM gateway.\($0)" }
            .joined(separator: " UNION ALL\n")
    }

    private func names(_ place: SchemaCatalog.Place) -> [String] { catalog.names(place) }
}
