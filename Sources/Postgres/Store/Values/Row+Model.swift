import FoundationEssentials
package import Model
package import PostgresClient

// Reads model values from rows. The getters throw like those of `Row`: a value that the model does not know is a `typeMismatch`.
extension Row {
    /// A wrapped text.
    package func id<ID: TextIdentifier>(_ column: ColumnReference) throws(PostgresError) -> ID {
        ID(rawValue: try text(column))
    }

    /// A wrapped text, or nil for NULL.
    package func optionalID<ID: TextIdentifier>(_ column: ColumnReference) throws(PostgresError) -> ID? {
        try optionalText(column).map { ID(rawValue: $0) }
    }

    /// A wrapped UUID.
    package func id<ID: UUIDIdentifier>(_ column: ColumnReference) throws(PostgresError) -> ID {
        ID(rawValue: try uuid(column))
    }

    /// A wrapped UUID, or nil for NULL.
    package func optionalID<ID: UUIDIdentifier>(_ column: ColumnReference) throws(PostgresError) -> ID? {
        try optionalUUID(column).map { ID(rawValue: $0) }
    }

    /// A moment.
    package func time(_ column: ColumnReference) throws(PostgresError) -> Timestamp {
        Timestamp(milliseconds: try milliseconds(column))
    }

    /// A moment, or nil for NULL.
    package func optionalTime(_ column: ColumnReference) throws(PostgresError) -> Timestamp? {
        try optionalMilliseconds(column).map { Timestamp(milliseconds: $0) }
    }

    /// A value of a string enum.
    package func word<Word: RawRepresentable<String>>(_ column: ColumnReference) throws(PostgresError) -> Word {
        guard let word = Word(rawValue: try text(column)) else {
            throw PostgresError(.typeMismatch, reason: column.label)
        }
        return word
    }

    /// A lane by its number.
    package func lane(_ column: ColumnReference) throws(PostgresError) -> Lane {
        guard let lane = Lane(rawValue: Int16(clamping: try int(column))) else {
            throw PostgresError(.typeMismatch, reason: column.label)
        }
        return lane
    }

    /// A JSON document, or nil for NULL.
    package func optionalDocument(_ column: ColumnReference) throws(PostgresError) -> JSON? {
        guard let text = try optionalText(column) else { return nil }
        do throws(JSONError) {
            return try JSONParser.parse(text)
        } catch {
            throw PostgresError(.typeMismatch, reason: column.label)
        }
    }

    /// A JSON object. NULL becomes an empty object.
    package func object(_ column: ColumnReference) throws(PostgresError) -> JSONObject {
        try optionalDocument(column)?.object ?? JSONObject()
    }

    /// The address by which a caller named a target, or nil when the target was not named.
    package func address(_ column: ColumnReference) throws(PostgresError) -> Address? {
        try optionalText(column).flatMap { Address(canonical: $0) }
    }
}

extension ResultSet {
    /// Decodes every row with `read`.
    package func rows<Value>(_ read: (Row) throws(PostgresError) -> Value) throws(PostgresError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for row in self { values.append(try read(row)) }
        return values
    }
}

extension [ResultSet] {
    /// The result of the statement at `index` of the transaction.
    package func result(_ index: Int) throws(PostgresError) -> ResultSet {
        guard indices.contains(index) else { throw PostgresError(.unexpectedRowCount) }
        return self[index]
    }
}
