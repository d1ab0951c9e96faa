import Model
package import PostgresClient

/// Registers the rows that are new as one set. Answers for each row whether it was known before; known rows are not changed.
///
/// No two rows may share their key or their token.
package struct ImportNewDevices: StoreWrite {
    let rows: ImportedRows

    package init(_ rows: ImportedRows) { self.rows = rows }

    private static let routine = Routine<StoreCall, ImportedRows>(
        "import_new",
        select: { "SELECT import_new AS known FROM \($0)" },
        ImportedRows.declare
    )

    package func statement(_ call: StoreCall) -> Statement { Self.routine(call, rows) }

    package func read(_ result: ResultSet) throws(PostgresError) -> [Bool] { try result.only().bools("known") }
}
