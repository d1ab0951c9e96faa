import PostgresClient
import Store

/// The samples for the metrics, over all tenants and without locks. Limited: each statement reads only the necessary part of an index.
enum GaugeSQL {
    /// Due slices that no node has leased, by lane. One probe per (tenant, lane), as in the discovery of work, and at most 1,000 index entries each.
    static let queue = StoreSQL.global(
        """
        SELECT l.lane, sum(x.slices)::bigint AS slices, coalesce(extract(epoch FROM now() - min(x.oldest)), 0)::float8 AS oldest
        FROM gateway.lane l
        CROSS JOIN LATERAL (
            SELECT count(*) AS slices, min(y.next_at) AS oldest FROM (
                SELECT s.next_at FROM gateway.slice s
                WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state IN ('ready', 'leased') AND s.next_at <= now()
                ORDER BY s.next_at LIMIT 1000) y) x
        WHERE NOT l.is_paused GROUP BY l.lane
        """
    )

    static let webhooks = StoreSQL.global(
        """
        SELECT coalesce(max(h.last - w.cursor) FILTER (WHERE w.is_active), 0)::bigint AS lag,
            coalesce(extract(epoch FROM now() - min(coalesce(x.at, y.at)) FILTER (WHERE w.is_active)), 0)::float8 AS lag_seconds,
            count(*) FILTER (WHERE w.is_active AND w.failing_since IS NOT NULL) AS failing,
            coalesce(extract(epoch FROM now() - min(w.failing_since) FILTER (WHERE w.is_active)), 0)::float8 AS failing_seconds,
            count(*) FILTER (WHERE NOT w.is_active AND w.failure IS NOT NULL) AS stopped
        FROM gateway.webhook w
        LEFT JOIN LATERAL (\(StoreSQL.lastEvent(of: "w.tenant_id"))) h ON true
        LEFT JOIN LATERAL (
            SELECT o.at FROM gateway.event_single o WHERE o.tenant_id = w.tenant_id AND o.position > w.cursor
            ORDER BY o.position LIMIT 1) x ON true
        LEFT JOIN LATERAL (
            SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = w.tenant_id AND b.last > w.cursor
            ORDER BY b.last LIMIT 1) y ON true
        """
    )

    /// The events of a sender are mixed with others, so they are counted, at most 1,000 for each sender.
    static let senders = StoreSQL.global(
        """
        SELECT coalesce(max(least(x.lag + y.lag, 1000)), 0)::bigint AS lag,
            coalesce(extract(epoch FROM now() - min(coalesce(x.at, y.at))), 0)::float8 AS lag_seconds,
            count(*) FILTER (WHERE s.failing_since IS NOT NULL) AS failing,
            coalesce(extract(epoch FROM now() - min(s.failing_since)), 0)::float8 AS failing_seconds, 0::bigint AS stopped
        FROM gateway.sender s
        CROSS JOIN LATERAL (
            SELECT count(*) AS lag, min(u.at) AS at FROM (
                SELECT o.at FROM gateway.event_single o
                WHERE o.tenant_id = s.tenant_id AND o.app_id = s.app_id AND o.vendor = s.vendor
                    AND o.sender_id = s.sender_id AND o.position > s.cursor
                ORDER BY o.position LIMIT 1000) u) x
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(least(u.count, u.last - s.cursor)), 0) AS lag, min(u.at) AS at FROM (
                SELECT b.last, b.count, b.at FROM gateway.event_batch b
                WHERE b.tenant_id = s.tenant_id AND b.app_id = s.app_id AND b.vendor = s.vendor
                    AND b.sender_id = s.sender_id AND b.last > s.cursor
                ORDER BY b.last LIMIT 1000) u) y
        WHERE s.callback_url IS NOT NULL
        """
    )

    /// Nodes with a heartbeat within the last four intervals.
    static let nodes = StoreSQL.global(
        "SELECT count(*) AS nodes FROM gateway.node WHERE seen_at > now() - interval '20 seconds'"
    )

    static let credentials = StoreSQL.global(
        "SELECT count(*) AS stopped FROM gateway.credential WHERE refusal IS NOT NULL"
    )

    /// The sessions that hold back vacuum: transactions and snapshots of this database's sessions, replication slots, prepared transactions. Vacuum itself does
    /// not count. Without pg_read_all_stats, sessions of other roles are not visible; `sees_all` shows whether they are.
    static let activity = StoreSQL.global(
        """
        SELECT coalesce(extract(epoch FROM now() - min(a.xact_start) FILTER (WHERE a.backend_type = 'client backend')), 0)::float8
                AS oldest,
            greatest(coalesce(max(age(a.backend_xmin)), 0),
                (SELECT coalesce(max(age(s.xmin)), 0) FROM pg_replication_slots s),
                (SELECT coalesce(max(age(p.transaction)), 0) FROM pg_prepared_xacts p
                    WHERE p.database = current_database()))::bigint AS xmin_age,
            pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all
        FROM pg_stat_activity a
        WHERE (a.datname = current_database() OR a.datname IS NULL) AND a.pid <> pg_backend_pid()
            AND a.backend_type <> 'autovacuum worker'
        """
    )

    /// Reads the index of all open slices, including those that are not due, so it runs rarely.
    static let givenUp = StoreSQL.global(
        "SELECT count(*) AS slices FROM gateway.slice WHERE state = 'ready' AND dead_reason IS NOT NULL"
    )
}
