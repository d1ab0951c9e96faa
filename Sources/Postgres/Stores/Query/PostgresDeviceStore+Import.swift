package import Commands
package import Model

/// Devices by the file.
extension PostgresDeviceStore {
    /// What an import did, or would do.
    package struct ImportCounts: Sendable, Equatable {
        package var created = 0
        /// Known before. In a preview only those that the file changes.
        package var updated = 0
        /// Known before and the same; a preview's.
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

    /// 500 registrations per call: those that are not new take two locks each, and the server has some 6,400 for all.
    package static let importBatchCount = 500

    /// Registers devices, in order, in one transaction: new ones as a set, the others as the app's own registration would.
    ///
    /// - Parameters:
    ///   - rows: at most `importBatchCount`, each with a key and within `unstorableField`.
    ///   - scope: the app, and the dialect whose identities they are.
    ///   - tenant: whose app it is.
    ///   - identifiers: makes the ids of what is new.
    ///   - at: when they registered, by the database's clock.
    ///   - actor: set for the first batch: the audit says that an import began, in the same transaction.
    /// - Returns: how many were new and how many were known.
    /// - Throws: `StoreError`; then nothing of it happened, except with code `.timedOut`, after which the same may be tried again.
    package func importDevices(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        in tenant: TenantID,
        identifiers: any IdentifierSource,
        at: Timestamp,
        begunBy actor: AuditActor? = nil
    ) async throws(StoreError) -> ImportCounts {
        let statement = DeviceSQL.importDevices(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .strings(rows.map { $0.key?.rawValue }),
            .uuids(rows.map { _ in identifiers.uuid(at: at) }),
            .uuids(rows.map { _ in identifiers.uuid(at: at) }),
            .strings(rows.map(\.platform.rawValue)),
            .strings(rows.map { $0.environment?.rawValue }),
            .strings(rows.map { $0.token?.text }),
            .strings(rows.map { $0.user?.rawValue }),
            .strings(rows.map(\.name)),
            .strings(rows.map(\.phone)),
            .strings(rows.map(\.rawPhone)),
            .strings(rows.map { $0.attributes.isEmpty ? nil : JSONWriter.text(.object($0.attributes)) }),
            .time(at)
        )
        return try await asStore { () throws(PostgresError) in
            var statements = [statement]
            if let actor {
                statements.append([AuditRecord(.importBegun, Self.subject(scope))].written(by: actor, in: tenant))
            }
            let row = try await run(statements, in: tenant).result(0).only()
            return ImportCounts(created: try row.int("created"), updated: try row.int("updated"))
        }
    }

    /// Notes in the audit that an import ended, with its counts; under a repeat key the answer is kept in the same transaction.
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

    /// What an import's repeat key stands for already, and the digest it came with; nil when it is free.
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

    private static func subject(_ scope: AppScope) -> String { "devices of app \(scope.app), \(scope.vendor)" }

    /// What `importDevices` would do; it only reads. Rows that stand twice are counted twice.
    ///
    /// - Throws: `StoreError`.
    package func previewImport(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        in tenant: TenantID
    ) async throws(StoreError) -> ImportCounts {
        let statement = DeviceSQL.previewImport(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .strings(rows.map { $0.key?.rawValue }),
            .strings(rows.map { $0.token?.text }),
            .strings(rows.map { $0.user?.rawValue }),
            .strings(rows.map(\.name)),
            .strings(rows.map(\.phone))
        )
        return try await asStore { () throws(PostgresError) in
            let row = try await run([statement], in: tenant).result(0).only()
            return ImportCounts(
                created: try row.int("created"),
                updated: try row.int("changed"),
                unchanged: try row.int("unchanged")
            )
        }
    }
}
