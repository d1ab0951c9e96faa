package import FoundationEssentials

// Every getter throws `noSuchColumn` and `typeMismatch`. For NULL, the plain getters throw `unexpectedNull` and the optional ones return nil.
extension Row {
    /// A whole number: smallint, integer, bigint, oid, or a numeric without a fraction (the type of `sum(bigint)`).
    package func int(_ column: ColumnReference) throws(PostgresError) -> Int {
        let value: WireInteger = try required(column)
        return Int(value.value)
    }

    /// A whole number, or nil for NULL.
    package func optionalInt(_ column: ColumnReference) throws(PostgresError) -> Int? {
        let value: WireInteger? = try optional(column)
        return value.map { Int($0.value) }
    }

    /// A whole number as `Int64`.
    package func int64(_ column: ColumnReference) throws(PostgresError) -> Int64 {
        let value: WireInteger = try required(column)
        return value.value
    }

    /// `double precision` or `real`.
    package func double(_ column: ColumnReference) throws(PostgresError) -> Double { try required(column) }

    /// `boolean`.
    package func bool(_ column: ColumnReference) throws(PostgresError) -> Bool { try required(column) }

    /// `boolean`, or nil for NULL.
    package func optionalBool(_ column: ColumnReference) throws(PostgresError) -> Bool? { try optional(column) }

    /// Text of a textual type, an enum, json or jsonb; a uuid in its canonical lower-case form.
    package func text(_ column: ColumnReference) throws(PostgresError) -> String { try required(column) }

    /// Text as `text(_:)`, or nil for NULL.
    package func optionalText(_ column: ColumnReference) throws(PostgresError) -> String? { try optional(column) }

    /// `bytea`.
    package func bytes(_ column: ColumnReference) throws(PostgresError) -> [UInt8] { try required(column) }

    /// `bytea`, or nil for NULL.
    package func optionalBytes(_ column: ColumnReference) throws(PostgresError) -> [UInt8]? { try optional(column) }

    /// `uuid`.
    package func uuid(_ column: ColumnReference) throws(PostgresError) -> UUID { try required(column) }

    /// `uuid`, or nil for NULL.
    package func optionalUUID(_ column: ColumnReference) throws(PostgresError) -> UUID? { try optional(column) }

    /// `timestamptz` in milliseconds since 1970, rounded down.
    package func milliseconds(_ column: ColumnReference) throws(PostgresError) -> Int64 {
        let value: WireTimestamp = try required(column)
        return value.milliseconds
    }

    /// `timestamptz` in milliseconds since 1970, rounded down, or nil for NULL.
    package func optionalMilliseconds(_ column: ColumnReference) throws(PostgresError) -> Int64? {
        let value: WireTimestamp? = try optional(column)
        return value?.milliseconds
    }

    /// An array of whole numbers without NULLs.
    package func ints(_ column: ColumnReference) throws(PostgresError) -> [Int] {
        let values: [WireInteger] = try requiredArray(column)
        return values.map { Int($0.value) }
    }

    /// An array of texts without NULLs.
    package func texts(_ column: ColumnReference) throws(PostgresError) -> [String] { try requiredArray(column) }

    /// An array of texts without NULLs, or nil for NULL.
    package func optionalTexts(_ column: ColumnReference) throws(PostgresError) -> [String]? {
        try optionalArray(column)
    }

    /// An array of uuids without NULLs.
    package func uuids(_ column: ColumnReference) throws(PostgresError) -> [UUID] { try requiredArray(column) }

    /// An array of booleans without NULLs.
    package func bools(_ column: ColumnReference) throws(PostgresError) -> [Bool] { try requiredArray(column) }
}
