package import Model
package import Store

extension CommandHandler {
    /// Registers devices with the same result as one after the other: the new ones as a set in one transaction, then the others, 500 per transaction.
    ///
    /// Rows of two calls can be processed at the same time if they share neither key nor token. The other rows of the later call wait for `turn`. New
    /// devices do not depend on rows of other calls.
    ///
    /// - Parameters:
    ///   - rows: each with a key and within `unstorableField`.
    ///   - scope: the app, and the dialect of the identities.
    ///   - tenant: the owner of the app.
    ///   - manner: the registration time, the actor, and the number of attempts.
    ///   - turn: waits until the rows before these are committed.
    /// - Returns: how many were new, changed, unchanged, and older than what is stored.
    /// - Throws: `StoreError`, or the error of `turn`. Some rows may be committed then; importing them again is harmless.
    package func importDevices(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        in tenant: TenantID,
        _ manner: ImportRules.Manner,
        turn: @Sendable () async throws(StoreError) -> Void = {}
    ) async throws(StoreError) -> ImportCounts {
        let (first, repeats) = ImportRules.firstUses(rows)
        let new = ImportRules.new(
            imported(first.map { rows[$0] }, scope, manner),
            scope,
            number: ImportRules.groupNumber(rows),
            begunBy: manner.begunBy
        )
        let known = try await run(new, in: tenant, pauses: manner.pauses)
        guard known.count == first.count else {
            throw StoreError(.unavailable, "import_new returned \(known.count) rows")
        }
        let others = (zip(first, known).compactMap { $1 ? $0 : nil } + repeats).sorted()
        var counts = ImportCounts(created: rows.count - others.count)
        if others.isEmpty { return counts }
        try await turn()
        for start in stride(from: 0, to: others.count, by: ImportRules.knownRowCount) {
            let page = others[start..<min(start + ImportRules.knownRowCount, others.count)].map { rows[$0] }
            let number = ImportRules.groupNumber(page)
            let request = ImportRules.oneByOne(imported(page, scope, manner), scope, number: number)
            let outcomes = try await run(request, in: tenant, pauses: manner.pauses)
            guard outcomes.count == page.count else {
                throw StoreError(.unavailable, "import_rows returned \(outcomes.count) rows")
            }
            counts += ImportCounts(outcomes)
        }
        return counts
    }

    private func imported(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        _ manner: ImportRules.Manner
    ) -> ImportedRows {
        ImportedRows(
            rows,
            scope,
            identities: rows.map { _ in identifiers.uuid(at: manner.at) },
            devices: rows.map { _ in identifiers.uuid(at: manner.at) },
            at: manner.at,
            asOf: manner.asOf,
            source: manner.source
        )
    }

    /// Runs a request and retries it after a temporary failure, once per pause.
    ///
    /// - Throws: `StoreError`, the last one.
    package func run<Answer>(
        _ request: StoreRequest<Answer>,
        in tenant: TenantID,
        pauses: [Int]
    ) async throws(StoreError) -> Answer {
        for pause in pauses {
            do throws(StoreError) {
                return try await store.run(request, in: tenant)
            } catch {
                guard error.isRetriable else { throw error }
                try? await Task.sleep(for: .seconds(pause))
            }
        }
        return try await store.run(request, in: tenant)
    }
}
