import CPQ

/// Owns one `PGresult`, which is freed with this object. Its data is read only by copying.
@safe final class PGResult {
    private let raw: OpaquePointer

    /// Takes ownership of a result of `PQgetResult`.
    init(_ raw: OpaquePointer) { unsafe self.raw = unsafe raw }

    deinit { unsafe PQclear(raw) }

    /// The kind of result that libpq reports.
    enum Kind { case rows, done, copyIn, sync, aborted, failed }

    var kind: Kind {
        switch unsafe PQresultStatus(raw) {
        case PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE: .rows
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .done
        case PGRES_COPY_IN: .copyIn
        case PGRES_PIPELINE_SYNC: .sync
        case PGRES_PIPELINE_ABORTED: .aborted
        default: .failed
        }
    }

    /// Copies the rows, names and counts.
    func copyOut() -> ResultSet {
        let columnCount = Int(unsafe PQnfields(raw))
        let rowCount = Int(unsafe PQntuples(raw))
        var names: [String] = []
        var types: [UInt32] = []
        for column in 0..<Int32(columnCount) {
            names.append(unsafe text(PQfname(raw, column)))
            types.append(unsafe PQftype(raw, column))
        }
        let (bytes, cells) = copyCells(rowCount: rowCount, columnCount: columnCount)
        return ResultSet(
            shape: columnCount == 0 ? .empty : ResultSet.Shape(names: names, types: types),
            bytes: bytes,
            cells: cells,
            rowCount: rowCount,
            affectedRows: Int(unsafe text(PQcmdTuples(raw))) ?? 0,
            commandTag: unsafe text(PQcmdStatus(raw))
        )
    }

    private func copyCells(rowCount: Int, columnCount: Int) -> ([UInt8], [ResultSet.Cell]) {
        var bytes: [UInt8] = []
        var cells: [ResultSet.Cell] = []
        cells.reserveCapacity(rowCount * columnCount)
        for row in 0..<Int32(rowCount) {
            for column in 0..<Int32(columnCount) {
                if unsafe PQgetisnull(raw, row, column) != 0 {
                    cells.append(ResultSet.Cell(offset: bytes.count, length: -1))
                    continue
                }
                let length = Int(unsafe PQgetlength(raw, row, column))
                cells.append(ResultSet.Cell(offset: bytes.count, length: length))
                if length > 0, let value = unsafe PQgetvalue(raw, row, column) {
                    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: length))
                }
            }
        }
        return (bytes, cells)
    }

    /// The error that the server reported.
    var error: PostgresError {
        guard let state = field(PGDiagnostic.sqlState) else {
            return PostgresError(.connectionLost, detail: unsafe text(PQresultErrorMessage(raw)))
        }
        let fields = ServerErrorFields(
            sqlState: state,
            sentence: field(PGDiagnostic.messagePrimary) ?? "",
            table: field(PGDiagnostic.tableName),
            constraint: field(PGDiagnostic.constraintName).map(Self.withoutShard),
            sourceFunction: field(PGDiagnostic.sourceFunction)
        )
        var error = PostgresError(PostgresError.Code.of(fields), sqlState: state)
        error.constraint = fields.constraint
        if !state.hasPrefix("22") { error.detail = fields.sentence }
        return error
    }

    /// Removes the shard number from a constraint name: Citus reports `name_102095` for `name`.
    static func withoutShard(_ name: String) -> String {
        guard let underscore = name.lastIndex(of: "_") else { return name }
        let number = name[name.index(after: underscore)...]
        // Six digits or more: Citus numbers shards from 102008, and a constraint of the schema may end in a small number.
        let isShard =
            number.count >= 6 && number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isShard ? String(name[..<underscore]) : name
    }

    /// The severity and SQLSTATE of a notice, for the log. The message itself may quote data.
    static func summary(ofNotice raw: OpaquePointer?) -> String {
        guard let raw = unsafe raw else { return "" }
        let severity = unsafe PQresultErrorField(raw, PGDiagnostic.severity)
        let state = unsafe PQresultErrorField(raw, PGDiagnostic.sqlState)
        return (unsafe text(severity)) + " " + (unsafe text(state))
    }

    private func field(_ code: Int32) -> String? {
        guard let value = unsafe PQresultErrorField(raw, code) else { return nil }
        return unsafe String(cString: value)
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { unsafe Self.text(pointer) }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        guard let pointer = unsafe pointer else { return "" }
        return unsafe String(cString: pointer)
    }
}

/// The letters of the error fields (postgres_ext.h). Swift does not import character constants.
private enum PGDiagnostic {
    static let severity = Int32(UInt8(ascii: "S"))
    static let sqlState = Int32(UInt8(ascii: "C"))
    static let messagePrimary = Int32(UInt8(ascii: "M"))
    static let tableName = Int32(UInt8(ascii: "t"))
    static let constraintName = Int32(UInt8(ascii: "n"))
    static let sourceFunction = Int32(UInt8(ascii: "R"))
}
