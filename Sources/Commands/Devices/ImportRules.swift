package import Model
package import Store
import TransferStore

/// The rules for devices that are imported in batches.
package enum ImportRules {
    /// 500 known rows per transaction: each takes two locks, and the server has about 6,400 for all sessions.
    package static let knownRowCount = 500

    /// How the rows of an import are registered.
    package struct Manner: Sendable {
        /// The time of the import, by the database's clock: when they registered, if neither the row nor the file has a time.
        package var at: Timestamp
        /// When the file was made. Later changes here stay, and their rows count as older. Nil: the file is newer than everything.
        package var asOf: Timestamp?
        /// The source of consents that name none: `import/ID`.
        package var source: String?
        /// Set for the first rows: their transaction also writes the start of the import to the audit.
        package var begunBy: AuditActor?
        /// The pauses before further attempts of a transaction after a temporary failure. Unit: seconds.
        package var pauses: [Int]

        package init(
            at: Timestamp,
            asOf: Timestamp? = nil,
            source: String? = nil,
            begunBy: AuditActor? = nil,
            pauses: [Int] = []
        ) {
            self.at = at
            self.asOf = asOf
            self.source = source
            self.begunBy = begunBy
            self.pauses = pauses
        }
    }

    /// Counts the changes that an import of `rows`, of a file that was made at `asOf`, would make.
    package static func preview(
        _ rows: [DeviceRegistration],
        _ scope: AppScope,
        asOf: Timestamp? = nil
    ) -> StoreRequest<ImportCounts> {
        StoreRequest(PreviewImport(rows, scope, asOf: asOf)) { $0 }
    }

    /// Registers the new devices of `rows`; no two rows share a key or token. The answer states for each row whether it was known.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - scope: the app, and the dialect of the identities.
    ///   - number: the highest number that is the name of one of their groups.
    ///   - actor: set for the first rows of an import.
    /// - Returns: for each row whether it was known.
    static func new(
        _ rows: ImportedRows,
        _ scope: AppScope,
        number: Int64?,
        begunBy actor: AuditActor?
    ) -> StoreRequest<[Bool]> {
        var request = StoreRequest<[Bool]>(ImportNewDevices(rows)) { $0 }
        if let number { request = request.adding(RaiseGroupNumbers(scope, to: number)) }
        guard let actor else { return request }
        let data: JSON? = rows.source.map { ["source": .string($0)] }
        return request.adding(WriteAudit([AuditRecord(.importBegun, subject(scope), data: data)], by: actor))
    }

    /// Registers rows one after the other. The answer states what happened to each.
    static func oneByOne(_ rows: ImportedRows, _ scope: AppScope, number: Int64?) -> StoreRequest<[ImportOutcome]> {
        let request = StoreRequest<[ImportOutcome]>(ImportEachDevice(rows)) { $0 }
        return number.map { request.adding(RaiseGroupNumbers(scope, to: $0)) } ?? request
    }

    /// The highest number that is the name of a group of these rows; nil: none is.
    static func groupNumber(_ rows: [DeviceRegistration]) -> Int64? {
        rows.lazy.compactMap(\.imported.groups).flatMap { $0.compactMap(RaiseGroupNumbers.number) }.max()
    }

    /// Writes the end of an import to the audit, with its counts, where they are found for plans of migrations and their gate `optOuts`.
    package static func end(
        _ counts: ImportCounts,
        rejected: Int,
        optOuts: Int,
        consents: Int,
        _ scope: AppScope,
        by actor: AuditActor
    ) -> StoreRequest<Void> {
        let record = AuditRecord(
            .imported,
            subject(scope),
            data: [
                "created": .int(counts.created), "updated": .int(counts.updated), "unchanged": .int(counts.unchanged),
                "older": .int(counts.older), "rejected": .int(rejected), "optOuts": .int(optOuts),
                "consents": .int(consents),
            ]
        )
        return StoreRequest(WriteAudit([record], by: actor)) { (_: Void) in }
    }

    /// Finds the rows of an export among the stored devices. It changes nothing.
    package static func compare(_ rows: [DeviceRegistration], _ scope: AppScope) -> StoreRequest<[ComparedDevice]> {
        StoreRequest(CompareDevices(rows, scope)) { $0 }
    }

    /// Writes the counts of a comparison to the audit, where they are found for `ComparisonSummary.usableFor`.
    package static func compared(
        _ summary: ComparisonSummary,
        _ scope: AppScope,
        by actor: AuditActor
    ) -> StoreRequest<Void> {
        let record = AuditRecord(.compare, subject(scope), data: summary.json)
        return StoreRequest(WriteAudit([record], by: actor)) { (_: Void) in }
    }

    private static func subject(_ scope: AppScope) -> String { AuditRecord.devices(of: scope) }

    /// The positions of rows that are the first with their key and with their token, and of the others.
    static func firstUses(_ rows: [DeviceRegistration]) -> (first: [Int], repeats: [Int]) {
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
}
