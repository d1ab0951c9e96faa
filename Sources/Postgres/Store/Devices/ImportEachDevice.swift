import Model
package import PostgresClient

/// Registers rows one after the other. Answers with the number of new devices.
package struct ImportEachDevice: StoreWrite {
    let rows: ImportedRows

    package init(_ rows: ImportedRows) { self.rows = rows }

    private static let routine = Routine<StoreCall, ImportedRows>(
        "import_each",
        select: { "SELECT import_each AS count FROM \($0)" },
        ImportedRows.declare
    )

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, rows) }

    package func read(_ result: ResultSet) throws(PostgresError) -> Int { try result.count() }
}
