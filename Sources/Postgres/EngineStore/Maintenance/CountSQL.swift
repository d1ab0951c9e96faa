import PostgresClient
import Store

/// The folding of counts, and the ends of messages that crashed nodes left open.
enum CountSQL {
    /// The tenants with counts to fold, as in `EventReaderSQL.due`. Those without messages have some too: of orphan receipts.
    static let unfolded = StoreSQL.global(
        """
        SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
        LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
        CROSS JOIN LATERAL (
            SELECT 1 FROM gateway.counter_delta d WHERE d.tenant_id = t.tenant_id AND d.minute >= greatest(f.minute, 0) LIMIT 1) x
        """
    )

    /// The tenants with counts before the quarter hour `$1` that are not merged into days yet, as in `EventReaderSQL.due`.
    static let unrolled = StoreSQL.global(
        """
        SELECT t.tenant_id FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
        LEFT JOIN gateway.counter_fold f ON f.tenant_id = t.tenant_id
        CROSS JOIN LATERAL (
            SELECT 1 FROM gateway.counter c WHERE c.tenant_id = t.tenant_id AND c.quarter >= greatest(f.rolled, 0) AND c.quarter < $1 LIMIT 1) x
        """
    )

    static let rollUp = StoreSQL.function("roll_up_counts", 3, columns: "roll_up_counts AS quarter")

    static let fold = StoreSQL.function("fold_counts", 2, columns: "fold_counts AS count")

    /// The tenants with messages whose slices are all done.
    static let unsettled = StoreSQL.global(
        """
        SELECT DISTINCT o.tenant_id FROM gateway.message_open o
        WHERE NOT EXISTS (
            SELECT FROM gateway.slice s
            WHERE s.tenant_id = o.tenant_id AND s.message_id = o.message_id AND s.state <> 'done')
        """
    )

    static let settle = StoreSQL.function("settle_messages", 2, columns: "settle_messages AS count")
}
