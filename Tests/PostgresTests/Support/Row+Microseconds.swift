@testable import PostgresClient

extension Row {
    /// `timestamptz` or `date` (its midnight in UTC). Unit: microseconds since 1970.
    func microseconds(_ column: ColumnReference) throws(PostgresError) -> Int64 {
        let value: WireTimestamp = try required(column)
        return value.microseconds
    }
}
