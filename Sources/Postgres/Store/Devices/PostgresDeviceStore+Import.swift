package import Model
import PostgresClient

/// Imports devices from a file.
extension PostgresDeviceStore {
    /// The counts of an import or of its preview.
    package struct ImportCounts: Sendable, Equatable {
        package var created = 0
        /// Devices that were known before. A preview counts only those that the file changes.
        package var updated = 0
        /// Devices that the file does not change. Only counted by a preview.
        package var unchanged = 0

        package init(created: Int = 0, updated: Int = 0, unchanged: Int = 0) {
            self.created = created
            self.updated = updated
            self.unchanged = unchanged
        }

        package static func += (left: inout ImportCounts, right: ImportCounts) {
            left.created += right.created
            left.updated += right.updated
            left.unchanged += right.unchanged
        }
    }

    /// 500 known registrations per transaction: each takes two locks, and the server has about 6,400 for all sessions.
    static let knownRowCount = 500

    /// How the rows of an import are stored.
    package struct ImportManner: Sendable {
        /// The time of registration, on the database's clock.
        package var at: Timestamp
        /// Set for the first rows: the audit row for the start of the import is written in their transaction.
        package var begunBy: AuditActor?
        /// The pauses before each retry of a transaction that failed temporarily. Unit: seconds.
        package var pauses: [Int]

        package init(at: Timestamp, begunBy: AuditActor? = nil, pauses: [Int] = []) {
            self.at = at
            self.begunBy = begunBy
            self.pauses = pauses
        }
    }

    /// Registers devices as if one after the other: new devices as a set in one transaction, then the others, 500 per transaction.
    ///
    /// The rows of two calls may run concurrently if they share neither a key nor a token, and if the known rows of the later call wait for `turn`: new rows
    /// depend on nothing that a row of another call names.
    ///
    /// - Parameters:
    ///   - rows: rows that have a key and pass `unstorableField`.
    ///   - scope: the app, and the dialect of the identities.
    ///   - tenant: the tenant of the app.
    ///   - identifiers: makes the ids of new rows.
    ///   - manner: the time, the author and the retries.
    ///   - turn: waits until the preceding rows are stored.
    /// - Returns: how many devices were new and how many were known.
    /// - Throws: `StoreError`, or an error of `turn`. Some rows may be stored then; the same rows may be imported again.
    package func importDevices(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        in tenant: TenantID,
        identifiers: any IdentifierSource,
        _ manner: ImportManner,
        turn: @Sendable () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> ImportCounts {
        let (first, repeats) = Self.firstUses(rows)
        let importing = Importing(tenant: tenant, scope: scope, identifiers: identifiers, at: manner.at)
        var statements = [Self.importNew(importing, first.map { rows[$0] })]
        if let actor = manner.begunBy {
            statements.append([AuditRecord(.importBegun, Self.subject(scope))].written(by: actor, in: tenant))
        }
        let known = try await asked(statements, in: tenant, manner.pauses) { (row) throws(PostgresError) in
            try row.bools("known")
        }
        guard known.count == first.count else {
            throw StoreError(.unavailable, "import_new returned \(known.count) rows")
        }
        let others = (zip(first, known).compactMap { $1 ? $0 : nil } + repeats).sorted()
        var counts = ImportCounts(created: rows.count - others.count)
        if others.isEmpty { return counts }
        try await turn()
        for start in stride(from: 0, to: others.count, by: Self.knownRowCount) {
            let page = others[start..<min(start + Self.knownRowCount, others.count)].map { rows[$0] }
            let statement = Self.importEach(importing, page)
            let created = try await asked([statement], in: tenant, manner.pauses) { (row) throws(PostgresError) in
                try row.int("count")
            }
            counts += ImportCounts(created: created, updated: page.count - created)
        }
        return counts
    }

    /// Separates the positions of rows that are the first with their key and with their token from all others.
    private static func firstUses(_ rows: [DeviceRegistration]) -> (first: [Int], repeats: [Int]) {
        var (keys, tokens) = (Set<VendorDeviceKey?>(), Set<DeviceToken>())
        keys.reserveCapacity(rows.count)
        tokens.reserveCapacity(rows.count)
        var (first, repeats): ([Int], [Int]) = ([], [])
        for (place, row) in rows.enumerated() {
            let isFirstKey = keys.insert(row.key).inserted
            let isFirstToken = row.token.map { tokens.insert($0).inserted } ?? true
            if isFirstKey, isFirstToken { first.append(place) } else { repeats.append(place) }
        }
        return (first, repeats)
    }

    /// The target of an import, and its time.
    struct Importing: Sendable {
        var tenant: TenantID
        var scope: AppScope
        var identifiers: any IdentifierSource
        var at: Timestamp
    }

    static let importNew = Routine<Importing, [DeviceRegistration]>(
        "import_new",
        select: { "SELECT import_new AS known FROM \($0)" },
        declare
    )

    private static let importEach = Routine<Importing, [DeviceRegistration]>(
        "import_each",
        select: { "SELECT import_each AS count FROM \($0)" },
        declare
    )

    private static func declare(_ p: inout RoutineParameters<Importing, [DeviceRegistration]>) {
        p["p_tenant"] = { importing, _ in .id(importing.tenant) }
        p["p_app"] = { importing, _ in .id(importing.scope.app) }
        p["p_vendor"] = { importing, _ in .id(importing.scope.vendor) }
        p["p_keys"] = { .strings($1.map { $0.key?.rawValue }) }
        p["p_identities"] = { importing, rows in .uuids(rows.map { _ in importing.identifiers.uuid(at: importing.at) })
        }
        p["p_devices"] = { importing, rows in .uuids(rows.map { _ in importing.identifiers.uuid(at: importing.at) }) }
        p["p_platforms"] = { .strings($1.map(\.platform.rawValue)) }
        p["p_environments"] = { .strings($1.map { $0.environment?.rawValue }) }
        p["p_tokens"] = { .strings($1.map { $0.token?.text }) }
        p["p_users"] = { .strings($1.map { $0.user?.rawValue }) }
        p["p_names"] = { .strings($1.map(\.name)) }
        p["p_phones"] = { .strings($1.map(\.phone)) }
        p["p_raw_phones"] = { .strings($1.map(\.rawPhone)) }
        p["p_attributes"] = { .strings($1.map { $0.attributes.isEmpty ? nil : DocumentText.of($0.attributes) }) }
        p["p_zones"] = { .strings($1.map { $0.clock.timeZone?.text }) }
        p["p_from"] = { .int32s($1.map { $0.clock.window.map { Int32(clamping: $0.from) } }) }
        p["p_to"] = { .int32s($1.map { $0.clock.window.map { Int32(clamping: $0.to) } }) }
        p["p_tags"] = { tags($1) }
        p["p_at"] = { importing, _ in .time(importing.at) }
    }

    /// The tags of each row, separated by spaces, which no tag contains.
    private static func tags(_ rows: [DeviceRegistration]) -> PostgresValue {
        .strings(rows.map { row in row.tags.map { Set($0.map(\.text)).sorted().joined(separator: " ") } })
    }

    /// Runs one transaction, with one retry for each pause.
    private func asked<Value: Sendable>(
        _ statements: [Statement],
        in tenant: TenantID,
        _ pauses: [Int],
        _ read: (Row) throws(PostgresError) -> Value
    ) async throws(StoreError) -> Value {
        for pause in pauses {
            do throws(StoreError) {
                return try await once(statements, in: tenant, read)
            } catch {
                guard error.isRetriable else { throw error }
                try? await Task.sleep(for: .seconds(pause))
            }
        }
        return try await once(statements, in: tenant, read)
    }

    private func once<Value: Sendable>(
        _ statements: [Statement],
        in tenant: TenantID,
        _ read: (Row) throws(PostgresError) -> Value
    ) async throws(StoreError) -> Value {
        try await asStore { () throws(PostgresError) in try read(try await run(statements, in: tenant).result(0).only())
        }
    }

    /// Records the end of an import and its counts in the audit. With a repeat key, the answer is stored in the same transaction.
    ///
    /// - Throws: `StoreError`.
    package func noteImport(
        _ counts: ImportCounts,
        rejected: Int,
        _ scope: AppScope,
        by actor: AuditActor,
        in tenant: TenantID,
        keeping keep: Keep<Void>? = nil
    ) async throws(StoreError) -> Kept<Void> {
        let record = AuditRecord(
            .imported,
            Self.subject(scope),
            data: ["created": .int(counts.created), "updated": .int(counts.updated), "rejected": .int(rejected)]
        )
        return try await act([[record].written(by: actor, in: tenant)], in: tenant, keep) { _ in }
    }

    /// Returns the stored answer of an import's repeat key, with the digest of its request. Nil when the key is free.
    ///
    /// - Throws: `StoreError`.
    package func keptAnswer(
        under key: String,
        in tenant: TenantID
    ) async throws(StoreError) -> (bodyHash: String, answer: KeptAnswer)? {
        try await asStore { () throws(PostgresError) in
            let statement = AnswerSQL.peek(.id(tenant), .string(key))
            guard let row = try await run([statement], in: tenant).result(0).first else { return nil }
            let answer = KeptAnswer(status: try row.int("status"), body: try row.bytes("answer"))
            return (try row.text("body_hash"), answer)
        }
    }

    private static func clocks(_ rows: [DeviceRegistration]) -> [PostgresValue] {
        [
            .strings(rows.map { $0.clock.timeZone?.text }),
            .int32s(rows.map { $0.clock.window.map { Int32(clamping: $0.from) } }),
            .int32s(rows.map { $0.clock.window.map { Int32(clamping: $0.to) } }),
        ]
    }

    private static func subject(_ scope: AppScope) -> String { "devices of app \(scope.app), \(scope.vendor)" }

    /// Computes the result of `importDevices` without changing anything. Repeated rows are counted repeatedly.
    ///
    /// - Throws: `StoreError`.
    package func previewImport(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        in tenant: TenantID,
        pauses: [Int] = []
    ) async throws(StoreError) -> ImportCounts {
        var statement = DeviceSQL.previewImport(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .strings(rows.map { $0.key?.rawValue }),
            .strings(rows.map { $0.token?.text }),
            .strings(rows.map { $0.user?.rawValue }),
            .strings(rows.map(\.name)),
            .strings(rows.map(\.phone))
        )
        statement.parameters += Self.clocks(rows) + [Self.tags(rows)]
        return try await asked([statement], in: tenant, pauses) { (row) throws(PostgresError) in
            ImportCounts(
                created: try row.int("created"),
                updated: try row.int("changed"),
                unchanged: try row.int("unchanged")
            )
        }
    }
}
