import Model
package import PostgresClient

/// Registers rows one after the other. Answers with what happened to each.
package struct ImportEachDevice: StoreWrite {
    let rows: ImportedRows

    package init(_ rows: ImportedRows) { self.rows = rows }

    private static let routine = Routine<StoreCall, ImportedRows>(
        "import_rows",
        select: { "SELECT import_rows AS outcomes FROM \($0)" },
        ImportedRows.declare
    )

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, rows) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ImportOutcome] {
        var outcomes: [ImportOutcome] = []
        for text in try result.only().texts("outcomes") {
            guard let outcome = ImportOutcome(rawValue: text) else {
                throw PostgresError(.typeMismatch, reason: "outcomes")
            }
            outcomes.append(outcome)
        }
        return outcomes
    }
}
