package import Model
package import PostgresClient

/// Reserves the next numbers of the app in the scope's dialect. No number is earlier than the current second of the database's clock.
package struct DrawNumbers: StoreWrite {
    let scope: AppScope
    let count: Int

    package init(_ scope: AppScope, count: Int) {
        self.scope = scope
        self.count = count
    }

    package var sharesCommit: Bool { true }

    /// The first number of this second, or of the next one when this second is used up. All callers update the same row, so the transaction ends at once.
    ///
    /// Numbers begin in the middle of a second: an upstream of the same dialect numbers its messages in the same way and begins at the first position, and a report must
    /// not lead to a message of the other side.
    private static let sql = StoreSQL.tenant(
        """
        INSERT INTO gateway.message_number AS n (tenant_id, app_id, vendor, last)
        VALUES ($1, $2, $3, floor(extract(epoch FROM now()))::bigint * 10000 + 5000 + $4::bigint - 1)
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
