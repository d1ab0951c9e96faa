import PostgresClient
import Store

/// The statements about calls that wait for upstreams.
enum ForwardSQL {
    /// The upstreams with a queue that is due, as a hint: over all tenants, without locks.
    static let due = StoreSQL.global(
        """
        SELECT u.tenant_id, u.upstream FROM gateway.outbox_upstream u
        WHERE EXISTS (
                SELECT FROM gateway.outbox_queue q
                WHERE q.tenant_id = u.tenant_id AND q.upstream = u.upstream AND q.is_urgent = true AND q.next_at <= now())
            OR EXISTS (
                SELECT FROM gateway.outbox_queue o
                WHERE o.tenant_id = u.tenant_id AND o.upstream = u.upstream AND o.is_urgent = false AND o.next_at <= now())
        """
    )

    static let claim = StoreSQL.tenant("SELECT * FROM gateway.claim_forwards($1, $2, $3, $4::interval, $5)")

    static let settle = StoreSQL.tenant(
        "SELECT * FROM gateway.settle_forwards($1, $2, $3, $4::interval, $5, $6, $7, $8)"
    )

    /// After a failure.
    static let postpone = StoreSQL.tenant(
        """
        UPDATE gateway.outbox_queue SET attempts = attempts + 1, failing_since = least(failing_since, now()), failure = $7,
            owner = NULL, next_at = now() + $8::interval
        WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6
        """
    )

    /// For a reason that says nothing about the call.
    static let wait = StoreSQL.tenant(
        """
        UPDATE gateway.outbox_queue SET failure = $7, owner = NULL, next_at = now() + $8::interval
        WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6
        """
    )

    static let release = StoreSQL.tenant(
        """
        UPDATE gateway.outbox_queue SET owner = NULL, next_at = now()
        WHERE tenant_id = $1 AND ordering_key = $2 AND app_id = $3 AND upstream = $4 AND owner = $5 AND epoch = $6
        """
    )

    static let resume = StoreSQL.function("resume_forwards", 2, columns: "resume_forwards AS count")

    static let upstreams = StoreSQL.global("SELECT u.tenant_id, u.upstream FROM gateway.outbox_upstream u")

    static let survey = StoreSQL.tenant(
        "SELECT waiting, oldest, is_full FROM gateway.survey_outbox($1, $2, $3, $4::interval)"
    )
}
