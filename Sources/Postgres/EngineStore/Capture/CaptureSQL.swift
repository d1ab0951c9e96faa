import CaptureStore
import PostgresClient
import Store

/// Reads, records and deletes captures of a vendor's calls. Exchanges are written only by `record_exchange`, which enforces the limits.
enum CaptureSQL {
    /// Newest first. A tenant has few captures.
    static let list = StoreSQL.tenant(
        "SELECT \(CaptureRow.columns) FROM gateway.capture c WHERE c.tenant_id = $1 ORDER BY c.started_at DESC, c.capture_id"
    )

    static let exchanges = StoreSQL.tenant(
        """
        SELECT e.sequence, e.at, e.route, e.outcome, e.reason, e.method, e.path, e.query, e.headers::text AS headers, e.body, e.body_bytes,
            e.status, e.answer_type, e.answer, e.answer_bytes
        FROM gateway.captured_exchange e WHERE e.tenant_id = $1 AND e.capture_id = $2 AND e.sequence > $3
        ORDER BY e.sequence LIMIT $4
        """
    )

    /// The running captures of all tenants. Each node runs this every second, and it normally returns no rows.
    static let running = StoreSQL.global(
        """
        SELECT c.tenant_id, c.capture_id, c.app_id, c.vendor, c.keeps_texts, c.body_limit, c.ends_at FROM gateway.capture c
        WHERE c.ended_at IS NULL AND c.ends_at > now() ORDER BY c.ends_at LIMIT 1000
        """
    )

    /// The keys that lead to the captured apps.
    static let keys = StoreSQL.global(
        """
        SELECT b.tenant_id, b.app_id, b.vendor, b.value, b.host FROM gateway.binding b
        WHERE b.tenant_id = ANY ($1::text[]) AND b.vendor = ANY ($2::text[]) LIMIT 10000
        """
    )

    /// The dialects of which only one app has a binding.
    static let sole = StoreSQL.global(
        """
        SELECT b.vendor FROM gateway.binding b WHERE b.vendor = ANY ($1::text[]) GROUP BY b.vendor
        HAVING min(b.tenant_id) = max(b.tenant_id) AND min(b.app_id) = max(b.app_id)
        """
    )

    static let drop = StoreSQL.tenant(
        "DELETE FROM gateway.capture c WHERE c.tenant_id = $1 AND c.ends_at < now() - $2::interval"
    )
}
