/// The work of `database migrate` on a database, in its order, with the locks that it takes. Pure.
package struct MigrationPreview: Sendable, Equatable {
    /// One transaction, or one step that runs in several.
    package struct Part: Sendable, Equatable {
        package var title: String
        package var locks: [TableLock]
    }

    package var parts: [Part]

    /// - Parameter status: the state of the database, as `Migrator.status` reports it.
    package init(_ status: MigrationStatus) {
        parts = []
        guard status.databaseVersion <= status.programVersion else { return }
        guard status.databaseVersion > 0 else {
            parts = [Part(title: "one transaction: creates the schema, version \(status.programVersion)", locks: [])]
            return
        }
        if !status.pending.isEmpty || !status.changedRoutines.isEmpty { parts.append(Self.expansion(status)) }
        for migration in status.unfinished { parts += Self.steps(migration, isInterrupted: true) }
        for migration in status.pending { parts += Self.steps(migration, isInterrupted: false) }
    }

    private static func expansion(_ status: MigrationStatus) -> Part {
        var contents = status.pending.map { "migration \($0.version) (\($0.name))" }
        if !status.changedRoutines.isEmpty { contents.append("\(status.changedRoutines.count) changed routine(s)") }
        return Part(
            title: "one transaction: " + contents.joined(separator: ", "),
            locks: LockForecast.locks(of: status.pending.map(\.expand).joined(separator: "\n;\n"))
        )
    }

    private static func steps(_ migration: Migration, isInterrupted: Bool) -> [Part] {
        migration.steps.enumerated().map { number, step in
            let place = "migration \(migration.version) (\(migration.name)), step \(number + 1)"
            // Which steps are done is known to the migrator only.
            let part = Part(step)
            return Part(
                title: "\(place): \(part.title)" + (isInterrupted ? "; was interrupted, runs unless it is done" : ""),
                locks: part.locks
            )
        }
    }
}

extension MigrationPreview.Part {
    fileprivate init(_ step: Migration.Step) {
        switch step {
        case .transaction(let sql):
            self.init(title: "one transaction", locks: LockForecast.locks(of: sql))
        case .index(let step):
            self.init(
                title: "index \(step.name), built while other sessions write; in a partitioned table, one by one",
                locks: [TableLock(.shareUpdateExclusive, step.table)]
            )
        case .backfill(let step):
            self.init(
                title: "changes rows, \(Migrator.backfillBatch) in each transaction",
                locks: [TableLock(.rowExclusive, step.table)]
            )
        }
    }
}

extension MigrationPreview {
    /// The preview for a person.
    ///
    /// - Parameter status: the state from which the preview was made.
    /// - Returns: numbered parts with their locks, or a sentence if there is nothing to do.
    package func text(_ status: MigrationStatus) -> String {
        guard !parts.isEmpty else {
            return "nothing to run: the schema is at version \(status.databaseVersion), "
                + "this program is built for version \(status.programVersion)"
        }
        var lines = ["the schema is at version \(status.databaseVersion); version \(status.programVersion) needs:"]
        for (number, part) in parts.enumerated() {
            lines.append("\(number + 1). \(part.title)")
            for mode in TableLock.Mode.allCases.reversed() {
                let tables = part.locks.filter { $0.mode == mode }.map(\.table)
                guard !tables.isEmpty else { continue }
                lines.append("     \(mode.name) on \(tables.joined(separator: ", ")): \(mode.effect)")
            }
            if part.locks.isEmpty { lines.append("     locks no table that exists") }
        }
        let oldest = status.pending.last?.oldestProgram ?? status.oldestProgram
        lines.append(
            "Partitions are locked with their table. A transaction waits at most \(Migrator.lockTimeout) for a lock. "
                + "Then it is rolled back and repeated, at most \(Migrator.lockAttempts) times."
        )
        lines.append("Afterwards the schema serves programs built for version \(oldest) and later.")
        return lines.joined(separator: "\n")
    }
}
