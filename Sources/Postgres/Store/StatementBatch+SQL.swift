package import PostgresClient

extension StatementBatch {
    /// - Parameters:
    ///   - sql: the statement for many.
    ///   - shared: its parameters that are the same for all calls.
    ///   - row: this call's own, each of which becomes an array.
    ///   - subject: whom the call is about: two about the same one do not go together. Nil: they may.
    ///   - limit: how many calls go together at most. Nil: a whole group.
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
