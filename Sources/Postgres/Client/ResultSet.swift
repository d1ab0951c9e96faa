/// The rows of one statement, copied from libpq. It contains no pointer into C memory.
package struct ResultSet: Sendable {
    /// The names and types of the columns, shared by all rows.
    final class Shape: Sendable {
        let names: [String]
        let types: [UInt32]

        init(names: [String], types: [UInt32]) {
            self.names = names
            self.types = types
        }

        static let empty = Shape(names: [], types: [])
    }

    /// The position of a value in `bytes`. A negative length means NULL.
    struct Cell {
        var offset: Int
        var length: Int
    }

    let shape: Shape
    let bytes: [UInt8]
    let cells: [Cell]
    /// The number of the first cell of the first row: the row of one call shares the cells of its merged statement.
    let firstCell: Int
    let rowCount: Int

    /// Rows inserted, updated, deleted, selected or copied, as the server counts them. 0 for other commands.
    package let affectedRows: Int

    /// The command tag of the server: `INSERT 0 3`, `SELECT 1`.
    package let commandTag: String

    init(
        shape: Shape,
        bytes: [UInt8],
        cells: [Cell],
        firstCell: Int = 0,
        rowCount: Int,
        affectedRows: Int,
        commandTag: String
    ) {
        self.shape = shape
        self.bytes = bytes
        self.cells = cells
        self.firstCell = firstCell
        self.rowCount = rowCount
        self.affectedRows = affectedRows
        self.commandTag = commandTag
    }

    /// A result without rows and columns.
    package static let empty = ResultSet(
        shape: .empty,
        bytes: [],
        cells: [],
        rowCount: 0,
        affectedRows: 0,
        commandTag: ""
    )

    /// The row of a result that must have exactly one.
    ///
    /// - Throws: `unexpectedRowCount`.
    package func only() throws(PostgresError) -> Row {
        guard rowCount == 1 else { throw PostgresError(.unexpectedRowCount) }
        return Row(set: self, index: 0)
    }

    /// A column by its number, for readers of many rows: a name is compared with those of all columns before it. A name that no column has stays a name, which
    /// the getters report.
    package func column(_ name: String) -> ColumnReference {
        shape.names.firstIndex(of: name).map { ColumnReference.index($0) } ?? ColumnReference.name(name)
    }
}

extension ResultSet: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { rowCount }
    package subscript(position: Int) -> Row { Row(set: self, index: position) }
}

/// Identifies a column by its name or by its number from 0. Literals of either kind convert to it.
package enum ColumnReference: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case name(String)
    case index(Int)

    package init(stringLiteral value: String) { self = .name(value) }
    package init(integerLiteral value: Int) { self = .index(value) }

    /// The text for error messages: the column's name or number, never a value.
    package var label: String {
        switch self {
        case .name(let name): name
        case .index(let index): "#\(index)"
        }
    }
}

/// One row of a result. Reading a column of the wrong type is an error, never a trap.
package struct Row: Sendable {
    let set: ResultSet
    let index: Int

    /// Returns the bytes and the type of a column. Nil bytes mean NULL.
    ///
    /// - Throws: `noSuchColumn`.
    func cell(_ column: ColumnReference) throws(PostgresError) -> (bytes: ArraySlice<UInt8>?, type: UInt32) {
        let types = set.shape.types
        let number: Int? =
            switch column {
            case .index(let index): index
            case .name(let name): set.shape.names.firstIndex(of: name)
            }
        guard let number, types.indices.contains(number), index >= 0, index < set.rowCount else {
            throw PostgresError(.noSuchColumn, reason: column.label)
        }
        let cell = set.cells[set.firstCell + index * types.count + number]
        guard cell.length >= 0 else { return (nil, types[number]) }
        return (set.bytes[cell.offset..<cell.offset + cell.length], types[number])
    }

    /// Whether the column is NULL.
    ///
    /// - Throws: `noSuchColumn`.
    package func isNull(_ column: ColumnReference) throws(PostgresError) -> Bool {
        try cell(column).bytes == nil
    }

    /// The column as `Value`, nil for NULL.
    func optional<Value: WireDecodable>(_ column: ColumnReference) throws(PostgresError) -> Value? {
        let (bytes, type) = try cell(column)
        guard let bytes else { return nil }
        guard let value = Value(wire: bytes, type: type) else {
            throw PostgresError(.typeMismatch, reason: column.label)
        }
        return value
    }

    func required<Value: WireDecodable>(_ column: ColumnReference) throws(PostgresError) -> Value {
        guard let value: Value = try optional(column) else {
            throw PostgresError(.unexpectedNull, reason: column.label)
        }
        return value
    }

    func optionalArray<Value: WireDecodable>(_ column: ColumnReference) throws(PostgresError) -> [Value]? {
        let (bytes, _) = try cell(column)
        guard let bytes else { return nil }
        guard let values: [Value] = WireReader.array(bytes) else {
            throw PostgresError(.typeMismatch, reason: column.label)
        }
        return values
    }

    func requiredArray<Value: WireDecodable>(_ column: ColumnReference) throws(PostgresError) -> [Value] {
        guard let values: [Value] = try optionalArray(column) else {
            throw PostgresError(.unexpectedNull, reason: column.label)
        }
        return values
    }
}
