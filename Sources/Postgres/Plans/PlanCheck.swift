/// A read of a growing table whose number of rows has no limit.
package struct PlanFault: Sendable, Hashable, CustomStringConvertible {
    /// The function, or the text of the statement of a store.
    package var place: String
    package var table: String
    package var reason: String
    package var sql: String

    package var description: String { "\(place): \(table): \(reason): \(sql)" }
}

/// Explains statements in a filled database, with `enable_seqscan` and `enable_sort` off, and finds reads without a limit.
///
/// The plans are generic: they hold for all values of the parameters. A read is limited if the equal columns at the beginning of its index select at most
/// `rowLimit` rows in the filled database, or if it is stopped by a `LIMIT` and skips no rows. Everything that reads all of its input, such as a sort or a
/// sum, must read limited input.
package struct PlanCheck: Sendable {
    /// Runs one statement and returns the given number of columns of its rows, which are texts.
    package typealias Session = @Sendable (_ sql: String, _ columns: Int) async throws -> [[String?]]

    /// The most rows that one look-up may read: about a millisecond.
    package static let rowLimit = 1000

    /// Tables with few rows: those that an operator provisions, and one row per node, task or key.
    package static let small: Set<String> = [
        "tenant", "binding", "api_key", "api_key_use", "app", "credential", "budget", "lane", "webhook", "capture",
        "captured_exchange",
        "identity_count", "message_number", "vendor_sequence", "counter_fold", "node", "singleton", "provider_token",
        "master_key", "log_generation",
        "schema_version", "schema_routine", "campaign", "message_template", "account", "account_role",
        "console_session", "account_invitation", "account_attempt",
    ]

    private let session: Session

    package init(session: @escaping Session) { self.session = session }

    // MARK: The database

    /// Explains a statement with a generic plan. Returns the plan, or the text of the error.
    private static let explain = """
        CREATE OR REPLACE FUNCTION pg_temp.explain_generic(p_role text, p_sql text, p_types text[], p_settings text[])
        RETURNS TABLE (plan text, fault text) LANGUAGE plpgsql AS $body$
        DECLARE
            v_plan json;
            v_count integer;
        BEGIN
            BEGIN
                PERFORM set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true), set_config('enable_partition_pruning', 'off', true),
                    set_config('gateway.tenant', 'plan', true), set_config('search_path', 'pg_catalog', true);
                FOR k IN 1 .. coalesce(cardinality(p_settings), 0) / 2 LOOP
                    PERFORM set_config(p_settings[2 * k - 1], p_settings[2 * k], true);
                END LOOP;
                PERFORM set_config('role', p_role, true);
                EXECUTE 'PREPARE explained' || CASE WHEN cardinality(p_types) > 0 THEN '(' || array_to_string(p_types, ', ') || ')' ELSE '' END
                    || ' AS ' || p_sql;
                SELECT cardinality(s.parameter_types) INTO v_count FROM pg_prepared_statements s WHERE s.name = 'explained';
                EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE explained' || CASE WHEN v_count > 0
                    THEN '(' || array_to_string(array_fill('NULL'::text, ARRAY[v_count]), ', ') || ')' ELSE '' END INTO v_plan;
                RAISE EXCEPTION USING errcode = 'GWPLN', message = v_plan::text;
            EXCEPTION
                WHEN SQLSTATE 'GWPLN' THEN plan := SQLERRM;
                WHEN OTHERS THEN fault := SQLERRM;
            END;
            IF EXISTS (SELECT FROM pg_prepared_statements s WHERE s.name = 'explained') THEN DEALLOCATE explained; END IF;
            RETURN NEXT;
        END $body$
        """

    /// The functions of the schema.
    private static let functions = """
        SELECT p.proname::text, CASE WHEN p.prosecdef THEN 'gateway_owner'
                WHEN has_function_privilege('gateway_call', p.oid, 'EXECUTE') THEN 'gateway_call' ELSE 'gateway_engine' END,
            l.lanname::text, array_to_string(p.proargnames, ','),
            (SELECT string_agg(format_type(t, NULL), ',' ORDER BY o) FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS u(t, o)),
            array_to_string(p.proconfig, chr(31)), p.prosrc
        FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = 'gateway'::regnamespace AND l.lanname IN ('plpgsql', 'sql') ORDER BY 1
        """

    /// The columns that have the same type in every table.
    private static let columns = """
        SELECT a.attname::text, min(format_type(a.atttypid, NULL)) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        GROUP BY a.attname HAVING count(DISTINCT a.atttypid) = 1
        """

    /// The indexes with their columns in order and their condition.
    private static let indexes = """
        SELECT x.relname::text,
            (SELECT string_agg(coalesce(a.attname::text, '?'), ',' ORDER BY k.o) FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(n, o)
                LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n WHERE k.o <= i.indnkeyatts),
            pg_get_expr(i.indpred, i.indrelid), i.indisunique::text
        FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
        WHERE t.relnamespace = 'gateway'::regnamespace
        """

    /// The partitions, with their tables.
    private static let partitions = """
        SELECT c.relname::text, p.relname::text FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid JOIN pg_class p ON p.oid = h.inhparent
        WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'r'
        """

    /// All statements inside of the functions.
    package func functionStatements() async throws -> [PlannedStatement] {
        let columns = Dictionary(
            uniqueKeysWithValues: try await session(Self.columns, 2).compactMap { row in
                row[0].flatMap { name in row[1].map { (name, $0) } }
            }
        )
        return try await session(Self.functions, 7).flatMap { row -> [PlannedStatement] in
            let names = (row[3] ?? "").split(separator: ",").map(String.init)
            let types = (row[4] ?? "").split(separator: ",").map(String.init)
            let settings = (row[5] ?? "").split(separator: "\u{1F}").flatMap { setting in
                setting.split(separator: "=", maxSplits: 1).map(String.init)
            }
            let function = CatalogFunction(
                name: row[0] ?? "",
                role: row[1] ?? "",
                language: row[2] ?? "",
                parameters: zip(names, types).map { (name: $0, type: $1) },
                settings: settings,
                body: row[6] ?? ""
            )
            return FunctionStatements(function, columns: columns).found
        }
    }

    // MARK: The check

    /// The faults of the statements, and the texts of those that could not be explained.
    package func faults(of statements: [PlannedStatement]) async throws -> (faults: [PlanFault], unexplained: [String])
    {
        _ = try await session(Self.explain, 0)
        var judge = PlanJudge(session: session)
        for row in try await session(Self.indexes, 4) {
            judge.indexes[row[0] ?? ""] = PlanJudge.Index(
                columns: (row[1] ?? "").split(separator: ",").map(String.init),
                condition: row[2],
                isUnique: row[3] == "true"
            )
        }
        for row in try await session(Self.partitions, 2) { judge.parents[row[0] ?? ""] = row[1] }
        var faults: [PlanFault] = []
        var unexplained: [String] = []
        // The lock of a table has no plan.
        statements: for statement in statements where !statement.sql.hasPrefix("LOCK TABLE ") {
            var first: [PlanFault]?
            // Without sorts, the planner reads a whole index instead of sorting a few rows. So a second plan may have them.
            for sorts in ["off", "on"] {
                let row = try await session(Self.call(statement, sorts: sorts), 2).first ?? []
                guard let text = row.first ?? nil else {
                    let reason = row.last.flatMap(\.self) ?? "no plan"
                    unexplained.append("\(statement.function ?? "store"): \(reason): \(statement.sql)")
                    continue statements
                }
                let found = try await judge.faults(in: text, of: statement)
                if found.isEmpty { continue statements }
                first = first ?? found
            }
            faults += first ?? []
        }
        return (faults, unexplained)
    }

    /// The statement with 100 in place of parameters of `LIMIT`: a server that does not know a limit plans for a tenth of all rows, and therefore does not keep
    /// such a plan.
    private static func limited(_ statement: PlannedStatement) -> PlannedStatement {
        let limits = Set(statement.sql.matches(of: /\bLIMIT \$([0-9]+)/).compactMap { Int($0.1) })
        guard !limits.isEmpty else { return statement }
        var statement = statement
        let count = statement.sql.matches(of: /\$([0-9]+)/).compactMap { Int($0.1) }.max() ?? 0
        let types = statement.types
        statement.types = (1...count).map { number in
            number <= types.count ? types[number - 1] : limits.contains(number) ? "bigint" : "unknown"
        }
        statement.sql = statement.sql.replacing(/\bLIMIT \$[0-9]+/, with: "LIMIT 100")
        return statement
    }

    private static func call(_ written: PlannedStatement, sorts: String) -> String {
        let statement = limited(written)
        func literal(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }
        func list(_ texts: [String]) -> String { "ARRAY[" + texts.map(literal).joined(separator: ", ") + "]::text[]" }
        return """
            SELECT plan, fault FROM pg_temp.explain_generic(\(literal(statement.role)), \(literal(statement.sql)), \(list(statement.types)), \
            \(list(["enable_sort", sorts] + statement.settings)))
            """
    }
}
