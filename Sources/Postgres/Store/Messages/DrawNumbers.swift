package import Model
package import PostgresClient

/// The next numbers of the app in the scope's dialect, which nobody else gets: none before the database's second.
package struct DrawNumbers: StoreWrite {
    let scope: AppScope
    let count: Int

    package init(_ scope: AppScope, count: Int) {
        self.scope = scope
        self.count = count
    }

    package var sharesCommit: Bool { true }

    /// The first number of this second or, when it is used up, of the next. One row is changed by whoever draws, so it is left at once.
    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_number AS n (tenant_id, app_id, vendor, last)
        VALUES ($1, $2, $3, floor(extract(epoch FROM now()))::bigint * 10000 + $4::bigint - 1)
        ON CONFLICT (tenant_id, app_id, vendor) DO UPDATE SET last = greatest(n.last + $4::bigint, excluded.last)
        RETURNING last
        """
    )

    package func statement(_ call: StoreCall) -> Statement {
        Self.sql(.id(call.tenant), .id(scope.app), .id(scope.vendor), .int(count))
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> MessageNumbers {
        let last = try result.only().int64("last")
        return MessageNumbers(first: MessageNumber(rawValue: last - Int64(count) + 1), count: count)
    }
}
