package import EngineStore
package import Model
package import PostgresClient
package import Store

/// The migrations of tenants, their states and their history.
///
/// Each change is one transaction: the row at its expected revision, its row of the history, the row of the audit and the event. A change that makes a version of
/// the app's rules is written with it (`PostgresRouteStore.migrate`).
package struct PostgresMigrationStore: Sendable {
    /// 1,000 migrations of a tenant: none is deleted while its app exists.
    package static let limit = 1000
    /// 100 rows of a history.
    package static let historyLimit = 100

    let engine: PostgresPool

    /// - Parameter engine: the pool of `gateway_engine`.
    package init(engine: PostgresPool) { self.engine = engine }

    // MARK: Reading

    /// Returns a migration; nil when the tenant does not have it.
    ///
    /// - Throws: `StoreError`.
    package func migration(_ id: String, in tenant: TenantID) async throws(StoreError) -> StoredMigration? {
        try await asStore { () throws(PostgresError) in
            try await engine.run(MigrationSQL.find(.id(tenant), .string(id)), tenant: nil).rows(StoredMigration.init)
                .first
        }
    }

    /// Returns migrations in the order of their names.
    ///
    /// - Throws: `StoreError`.
    package func migrations(
        of app: AppID?,
        in tenant: TenantID,
        after: String?,
        limit: Int
    ) async throws(StoreError) -> [StoredMigration] {
        let statement = MigrationSQL.page(.id(tenant), .id(app), .string(after ?? ""), .int(max(0, limit)))
        return try await asStore { () throws(PostgresError) in
            try await engine.run(statement, tenant: nil).rows(StoredMigration.init)
        }
    }

    /// Returns the changes of a migration, the newest first.
    ///
    /// - Throws: `StoreError`.
    package func history(
        of id: String,
        in tenant: TenantID,
        limit: Int = Self.historyLimit
    ) async throws(StoreError) -> [MigrationNote] {
        let statement = MigrationSQL.history(.id(tenant), .string(id), .int(max(0, limit)))
        return try await asStore { () throws(PostgresError) in
            try await engine.run(statement, tenant: nil).rows(MigrationNote.init)
        }
    }

    /// Returns the number of migrations in each state, over all tenants.
    ///
    /// - Throws: `StoreError`.
    package func statuses() async throws(StoreError) -> [String: Int] {
        let rows = try await asStore { () throws(PostgresError) in
            try await engine.run(MigrationSQL.statuses(), tenant: nil).rows { (row) throws(PostgresError) in
                (status: try row.optionalText("status") ?? "", count: try row.int("n"))
            }
        }
        return Dictionary(rows.map { ($0.status, $0.count) }, uniquingKeysWith: +)
    }

    // MARK: Writing

    /// The result of `put`.
    package enum Put: Sendable, Hashable {
        case stored
        /// A migration with the name has begun, or belongs to another app.
        case taken
        /// The tenant does not have the app, or it is retired.
        case missing
        /// The tenant has `limit` migrations.
        case full
    }

    /// Stores a migration that has not begun, or replaces one of the same name that has not begun.
    ///
    /// - Throws: `StoreError`.
    package func put(
        _ new: NewMigration,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Put {
        let count = MigrationSQL.count(.id(tenant), .int(Self.limit), .id(new.app))
        let put = MigrationSQL.put(
            .id(tenant),
            .string(new.id),
            .id(new.app),
            .id(new.upstream),
            .document(.object(new.plan)),
            .document(.object(new.state))
        )
        let transaction = Transaction(tenant: nil, [count]) { (results) throws(PostgresError) in
            let row = try results.result(0).only()
            guard try row.bool("has_app"), try row.int("n") < Self.limit else { return .commit }
            return Step([put]) { (written) throws(PostgresError) in
                guard let row = try written.result(0).first else { return .commit }
                let revision = try row.int64("revision")
                let entry = MigrationRevision.Entry(status: "planned", step: 0, note: "planned")
                return Step(Self.records(entry, of: new.id, new.app, revision, nil, in: tenant, by: actor))
            }
        }
        return try await asStore { () throws(PostgresError) -> Put in
            let results = try await engine.run(transaction)
            guard results.count > 1 else { return try results.result(0).only().bool("has_app") ? .full : .missing }
            return try results.result(1).isEmpty ? .taken : .stored
        }
    }

    /// Stores a change that makes no version of the app's rules.
    ///
    /// - Returns: false if another revision is stored; nothing was written.
    /// - Throws: `StoreError`.
    package func change(
        _ next: MigrationRevision,
        in tenant: TenantID,
        by actor: AuditActor
    ) async throws(StoreError) -> Bool {
        let changes = Self.companion(next, in: tenant, by: actor)
        let transaction = Transaction(tenant: nil, [changes.condition]) { (results) throws(PostgresError) in
            guard try results.result(0).affectedRows == 1 else { return .commit }
            return Step(changes.others(nil))
        }
        return try await asStore { () throws(PostgresError) in
            try await engine.run(transaction).result(0).affectedRows == 1
        }
    }

    /// The statements of a change, for a transaction that also stores a version of the app's rules.
    package static func companion(
        _ next: MigrationRevision,
        in tenant: TenantID,
        by actor: AuditActor
    ) -> RouteCompanion {
        let condition = MigrationSQL.change(
            .id(tenant),
            .string(next.id),
            .document(.object(next.state)),
            .int64(next.revision - 1),
            .bool(next.isActive),
            .interval(next.next)
        )
        return RouteCompanion(condition: condition) { version in
            guard let entry = next.entry else { return [] }
            return records(entry, of: next.id, next.app, next.revision, version, in: tenant, by: actor)
        }
    }

    /// The row of the history, the row of the audit, and the event.
    private static func records(
        _ entry: MigrationRevision.Entry,
        of id: String,
        _ app: AppID,
        _ revision: Int64,
        _ version: Int?,
        in tenant: TenantID,
        by actor: AuditActor
    ) -> [Statement] {
        let note = MigrationSQL.note(
            .id(tenant),
            .string(id),
            .int64(revision),
            .string(entry.status),
            .int32(Int32(clamping: entry.step)),
            .string(entry.note),
            .string(actor.description),
            .int32(version.map { Int32(clamping: $0) })
        )
        let facts: JSONObject = [
            "migration": .string(id), "status": .string(entry.status), "step": .int(entry.step),
            "note": .string(entry.note), "routeVersion": version.map { .int($0) } ?? .null,
        ]
        let record = AuditRecord(.write, "migration \(id)", data: .object(facts))
        let event = MigrationSQL.event(
            .id(tenant),
            .id(app),
            .string(EventKind.migrationChanged.rawValue),
            .text(DocumentText.of(facts))
        )
        return [note, [record].written(by: actor, in: tenant), event]
    }

    // MARK: Evaluation

    /// Returns migrations that are due, as a hint.
    ///
    /// - Throws: `StoreError`.
    package func due() async throws(StoreError) -> [(tenant: TenantID, id: String)] {
        try await asStore { () throws(PostgresError) in
            try await engine.run(MigrationSQL.due(), tenant: nil).rows { (row) throws(PostgresError) in
                (tenant: try row.id("tenant_id"), id: try row.text("migration_id"))
            }
        }
    }

    /// Takes a migration that is due, for `lease` by the database's clock. Nil: another node has it, or it is not due.
    ///
    /// - Throws: `StoreError`.
    package func claim(
        _ id: String,
        in tenant: TenantID,
        by node: NodeID,
        for lease: Duration
    ) async throws(StoreError) -> ClaimedMigration? {
        let statement = MigrationSQL.claim(.id(tenant), .string(id), .id(node), .interval(lease))
        return try await asStore { () throws(PostgresError) in
            guard let row = try await engine.run(statement, tenant: nil).first else { return nil }
            // The lease began with the statement.
            return ClaimedMigration(migration: try StoredMigration(row), now: try row.time("next_at") + (.zero - lease))
        }
    }

    /// Gives a migration back that did not change. One that another node has taken since stays with it.
    ///
    /// - Throws: `StoreError`.
    package func release(
        _ id: String,
        in tenant: TenantID,
        by node: NodeID,
        next: Duration
    ) async throws(StoreError) {
        let statement = MigrationSQL.release(.id(tenant), .string(id), .id(node), .interval(next))
        try await asStore { () throws(PostgresError) in _ = try await engine.run(statement, tenant: nil) }
    }
}
