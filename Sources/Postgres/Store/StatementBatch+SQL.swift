package import PostgresClient

extension StatementBatch {
    /// - Parameters:
    ///   - sql: the merged statement.
    ///   - shared: the parameters that are the same for all calls.
    ///   - row: the values of this call, each of which becomes an element of an array.
    ///   - subject: the subject of the call: two calls with the same subject are not merged. Nil: no restriction.
    ///   - limit: the maximum number of calls in one merged statement. Nil: a whole group.
    package init(
        sql: StoreSQL,
        shared: [PostgresValue],
        row: [PostgresValue],
        subject: String? = nil,
        limit: Int? = nil
    ) {
        self.init(shared: sql.with(shared), row: row, subject: subject, limit: limit)
    }
}
