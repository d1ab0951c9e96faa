import PostgresClient

/// The steps of a migration after its expand part.
extension Migrator {
    /// How long an index may take to build.
    private static let indexTimeout: Duration = .seconds(7 * 86400)

    /// The number of rows that one transaction of a backfill reads.
    static let backfillBatch = 2000

    /// Runs the steps from number `next` on.
    ///
    /// - Throws: `stepFailed`; the next run continues with that step.
    func finish(
        _ migration: Migration,
        from next: Int,
        _ admin: PostgresConnection,
        _ progress: @Sendable (String) -> Void
    ) async throws(MigrationError) {
        for index in migration.steps.indices.dropFirst(next) {
            let step = migration.steps[index]
            progress("migration \(migration.version), step \(index + 1) of \(migration.steps.count): \(step.summary)")
            do throws(PostgresError) {
                let isLast = index == migration.steps.count - 1
                let done = """
                    UPDATE gateway.schema_version SET next_step = \(isLast ? "NULL" : String(index + 1)), cursor = NULL
                    WHERE version = \(migration.version)
                    """
                switch step {
                case .transaction(let sql):
                    try await transact(sql + "\n;\n" + done, admin)
                case .index(let step):
                    try await asOwner(admin) { () async throws(PostgresError) in try await build(step, admin) }
                    try await transact(done, admin)
                case .backfill(let step):
                    try await asOwner(admin) { () async throws(PostgresError) in
                        try await fill(step, version: migration.version, admin)
                    }
                    try await transact(done, admin)
                }
            } catch {
                throw MigrationError(
                    .stepFailed(version: migration.version, name: migration.name, step: index + 1),
                    underlying: error
                )
            }
        }
    }

    /// Runs `body` with the owner's rights and without time limits.
    private func asOwner(_ admin: PostgresConnection, _ body: () async throws(PostgresError) -> Void)
        async throws(PostgresError)
    {
        try await admin.script("SET ROLE gateway_owner; SET statement_timeout = 0; SET lock_timeout = 0")
        do throws(PostgresError) {
            try await body()
        } catch {
            try? await admin.script("RESET ROLE; RESET statement_timeout; RESET lock_timeout")
            throw error
        }
        try await admin.script("RESET ROLE; RESET statement_timeout; RESET lock_timeout")
    }

    // MARK: Indexes

    /// Builds an index while other sessions write; on a partitioned table, partition by partition.
    ///
    /// Citus passes each of the statements on to the shards, and to its workers' copies of the catalog in the text of the query. So no query contains two of them.
    private func build(_ step: IndexStep, _ admin: PostgresConnection) async throws(PostgresError) {
        guard try await isPartitioned(step.table, admin) else {
            return try await build(step, named: step.name, on: "gateway.\(step.table)", admin)
        }
        // The parent's index has no rows and becomes valid once each partition has its part of it. A new partition gets its part when it is created.
        if try await isValid(step.name, admin) == nil {
            try await transact(
                step.statement(name: step.name, on: "ONLY gateway.\(step.table)", isConcurrent: false),
                admin
            )
        }
        for partition in try await partitionsWithout(step, admin) {
            let name = String("\(partition)_\(step.name)".prefix(63))
            try await build(step, named: name, on: "gateway.\(partition)", admin)
            try await transact("ALTER INDEX gateway.\(step.name) ATTACH PARTITION gateway.\(name)", admin)
        }
    }

    /// Builds one index. An invalid index was left by an interrupted build and is dropped first. On Citus, a shard may lack it, hence `IF EXISTS`.
    private func build(_ step: IndexStep, named name: String, on table: String, _ admin: PostgresConnection)
        async throws(PostgresError)
    {
        switch try await isValid(name, admin) {
        case true?: return
        case false?:
            try await admin.script("DROP INDEX CONCURRENTLY IF EXISTS gateway.\(name)", timeout: Self.indexTimeout)
        case nil: break
        }
        try await admin.script(
            step.statement(name: name, on: table, isConcurrent: true),
            timeout: Self.indexTimeout
        )
    }

    /// Returns nil when the index does not exist.
    private func isValid(_ index: String, _ admin: PostgresConnection) async throws(PostgresError) -> Bool? {
        let statement = Statement(
            "SELECT i.indisvalid AS is_valid FROM pg_index i WHERE i.indexrelid = to_regclass('gateway.' || $1)",
            [.text(index)]
        )
        return try await admin.rows(statement).first?.bool("is_valid")
    }

    private func isPartitioned(_ table: String, _ admin: PostgresConnection) async throws(PostgresError) -> Bool {
        let statement = Statement(
            "SELECT c.relkind = 'p' AS is_partitioned FROM pg_class c WHERE c.oid = to_regclass('gateway.' || $1)",
            [.text(table)]
        )
        return try await admin.rows(statement).only().bool("is_partitioned")
    }

    private func partitionsWithout(_ step: IndexStep, _ admin: PostgresConnection) async throws(PostgresError)
        -> [String]
    {
        let statement = Statement(
            """
            SELECT c.relname::text AS name FROM pg_inherits h JOIN pg_class c ON c.oid = h.inhrelid
            WHERE h.inhparent = to_regclass('gateway.' || $1) AND NOT EXISTS (
                SELECT FROM pg_inherits x JOIN pg_index i ON i.indexrelid = x.inhrelid
                WHERE x.inhparent = to_regclass('gateway.' || $2) AND i.indrelid = c.oid)
            ORDER BY c.relname
            """,
            [.text(step.table), .text(step.name)]
        )
        var names: [String] = []
        for row in try await admin.rows(statement) { names.append(try row.text("name")) }
        return names
    }

    // MARK: Backfills

    /// Changes the rows that need it, tenant by tenant along the primary key, with one transaction per batch. Each batch stores the position that it has
    /// reached: the tenant, then the rest of the last row's key.
    private func fill(_ step: BackfillStep, version: Int, _ admin: PostgresConnection) async throws(PostgresError) {
        let batch = try await BackfillBatch(step, admin)
        let stored = Statement("SELECT cursor FROM gateway.schema_version WHERE version = $1", [.int(version)])
        var position = try await admin.rows(stored).only().optionalTexts("cursor") ?? []
        while true {
            // A position that contains only a tenant: no batch of this tenant is finished.
            if position.isEmpty {
                guard let tenant = try await tenant(after: "", admin) else { return }
                position = [tenant]
            }
            let tenant = position[0]
            let transaction = Transaction(tenant: nil, [batch.statement(position)]) { (results) throws(PostgresError) in
                let last = try results.first?.first?.optionalTexts("last") ?? []
                return Step([
                    Statement(
                        "UPDATE gateway.schema_version SET cursor = $2 WHERE version = $1 RETURNING cursor",
                        [.int(version), .texts([tenant] + last)]
                    )
                ])
            }
            position = try await admin.run(transaction).last?.only().texts("cursor") ?? []
            if position.count == 1 {
                guard let next = try await self.tenant(after: tenant, admin) else { return }
                position = [next]
            }
        }
    }

    private func tenant(after tenant: String, _ admin: PostgresConnection) async throws(PostgresError) -> String? {
        let next = Statement(
            "SELECT min(tenant_id) AS tenant FROM gateway.tenant WHERE tenant_id > $1",
            [.text(tenant)]
        )
        return try await admin.rows(next).only().optionalText("tenant")
    }
}

/// The statement that changes the next rows of one tenant. It names the tenant for each table, so Citus runs it where the tenant's rows are.
struct BackfillBatch {
    /// The primary key without `tenant_id`.
    private var columns: [(name: String, type: String)] = []
    private let step: BackfillStep

    /// Reads the table's primary key, which begins with `tenant_id`.
    init(_ step: BackfillStep, _ admin: PostgresConnection) async throws(PostgresError) {
        self.step = step
        let key = Statement(
            """
            SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_index i
            CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(n, o)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.n
            WHERE i.indrelid = to_regclass('gateway.' || $1) AND i.indisprimary ORDER BY k.o
            """,
            [.text(step.table)]
        )
        for row in try await admin.rows(key) { columns.append((try row.text("name"), try row.text("type"))) }
        guard columns.first?.name == "tenant_id" else {
            throw PostgresError(.other, reason: "a backfill needs a table whose primary key begins with tenant_id")
        }
        columns.removeFirst()
    }

    /// The batch after a position: the tenant, and the rest of the key of the last row that was read, if any.
    func statement(_ position: [String]) -> Statement {
        let names = columns.map(\.name)
        let rest = Array(position.dropFirst())
        let after = zip(columns, 2...).map { column, number in "$\(number)::text::\(column.type)" }
        let bound =
            rest.isEmpty || names.isEmpty
            ? "" : "AND (\(names.joined(separator: ", "))) > (\(after.joined(separator: ", ")))"
        let order = names.isEmpty ? "tenant_id" : names.joined(separator: ", ")
        let same = (["tenant_id"] + names).map { "t.\($0) = p.\($0)" }.joined(separator: " AND ")
        let descending = (names.isEmpty ? ["tenant_id"] : names).map { "p.\($0) DESC" }.joined(separator: ", ")
        let values = names.map { "p.\($0)::text" }.joined(separator: ", ")
        let sql = """
            WITH page AS MATERIALIZED (
                SELECT \((["tenant_id"] + names).joined(separator: ", ")) FROM gateway.\(step.table)
                WHERE tenant_id = $1 \(bound)
                ORDER BY \(order) LIMIT \(Migrator.backfillBatch)),
            changed AS (
                UPDATE gateway.\(step.table) AS t SET \(step.assignments) FROM page p
                WHERE t.tenant_id = $1 AND \(same) AND (\(step.condition)) RETURNING 1)
            SELECT ARRAY[\(values)]::text[] AS last, (SELECT count(*) FROM changed) AS changed
            FROM page p ORDER BY \(descending) LIMIT 1
            """
        return Statement(sql, [.text(position[0])] + (bound.isEmpty ? [] : rest.map { .text($0) }))
    }
}

extension Migration.Step {
    /// The description of a step in the progress of a migration.
    var summary: String {
        switch self {
        case .transaction: "statements in a transaction"
        case .index(let step): "index \(step.name)"
        case .backfill(let step): "backfill of \(step.table)"
        }
    }
}
