import PostgresClient
import Store

/// The statements of `SenderSQL` for webhooks.
enum WebhookSQL {
    /// A tenant's last event is never before a cursor, so a comparison of both suffices, without reading the log.
    static let due = StoreSQL.global(
        """
        SELECT y.tenant_id, y.webhook_id, y.url FROM (
            SELECT x.*, row_number() OVER (PARTITION BY x.tenant_id ORDER BY x.place, x.next_at) AS turn FROM (
                SELECT w.tenant_id, w.webhook_id, w.url, w.next_at, \(StoreSQL.placeAtHost(of: "w", url: "url")) AS place
                FROM gateway.webhook w
                WHERE w.is_active AND w.next_at <= now() AND (\(StoreSQL.lastEvent(of: "w.tenant_id"))) > w.cursor) x
            WHERE x.place <= $2) y
        WHERE y.turn <= $2 ORDER BY y.turn, y.next_at LIMIT $1
        """
    )

    static let claim = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET owner = $3, epoch = epoch + 1, next_at = now() + $4::interval
        WHERE tenant_id = $1 AND webhook_id = $2 AND is_active AND next_at <= now()
        RETURNING url, app_id, kinds, delivery_order, sealed, key_id, cursor, epoch, attempts,
            previous_sealed, previous_key_id, previous_until
        """
    )

    /// The secret in use signs next to the new one for `$5` seconds; an earlier one ends now.
    static let rotate = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET previous_sealed = sealed, previous_key_id = key_id,
            previous_until = now() + make_interval(secs => $5::double precision), sealed = $3, key_id = $4
        WHERE tenant_id = $1 AND webhook_id = $2
        """
    )

    static let failing = StoreSQL.tenant(
        """
        SELECT coalesce(floor(extract(epoch FROM now() - failing_since) * 1000), 0)::bigint AS failing, now() AS now
        FROM gateway.webhook WHERE tenant_id = $1 AND webhook_id = $2
        """
    )

    static let advance = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET cursor = greatest(cursor, $5), attempts = 0, failing_since = NULL, failure = NULL,
            owner = NULL, next_at = now()
        WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4
        """
    )

    /// A cursor that moved is progress: the failure is the first one at the new position.
    static let postpone = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET cursor = greatest(cursor, $7),
            attempts = CASE WHEN $7 > cursor THEN 1 ELSE attempts + 1 END,
            failing_since = least(CASE WHEN $7 > cursor THEN NULL ELSE failing_since END, now()),
            failure = $5, owner = NULL, next_at = now() + $6::interval
        WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4
        """
    )

    static let stop = StoreSQL.tenant(
        """
        UPDATE gateway.webhook SET is_active = false, attempts = attempts + 1, failure = $5, owner = NULL
        WHERE tenant_id = $1 AND webhook_id = $2 AND owner = $3 AND epoch = $4
        """
    )
}
