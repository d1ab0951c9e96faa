import PostgresClient
import Store

/// Maintenance: partitions, retention, dead nodes. Sweeps run tenant by tenant.
enum MaintenanceSQL {
    /// Acquires the maintenance lease if it is free, expired, or held by this node.
    static let lead = StoreSQL.global(
        """
        INSERT INTO gateway.singleton AS s (name, owner, held_until) VALUES ($1, $2, now() + $3::interval)
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, held_until = excluded.held_until
        WHERE s.held_until < now() OR s.owner = excluded.owner
        RETURNING now() AS now
        """
    )

    static let makePartitions = StoreSQL.global("SELECT gateway.make_delivery_partitions($1, $2) AS count")
    static let dropPartitions = StoreSQL.global("SELECT gateway.drop_delivery_partitions($1) AS count")
    static let makeEventPartitions = StoreSQL.global("SELECT gateway.make_event_partitions($1, $2) AS count")
    static let dropEventPartitions = StoreSQL.global("SELECT gateway.drop_event_partitions($1, $2) AS count")
    static let analyzeDevices = StoreSQL.global("SELECT gateway.analyze_devices()")
    static let analyzeGrown = StoreSQL.global("SELECT gateway.analyze_grown() AS count")
    static let sweepNodes = StoreSQL.global("DELETE FROM gateway.node WHERE seen_at < now() - $1::interval")
    static let tenants = StoreSQL.global(
        "SELECT tenant_id, retention::text AS retention FROM gateway.tenant ORDER BY tenant_id"
    )

    /// Messages that are over and were due before the retention limit, regardless of when they were accepted, oldest first. Slices, links and references
    /// are deleted with them. Limited, because a long transaction holds back vacuum.
    static let dropMessages = StoreSQL.tenant(
        """
        DELETE FROM gateway.message WHERE tenant_id = $1 AND message_id IN (
            SELECT m.message_id FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id < $2 AND m.expires_at < now() AND m.due_at < now() - $3::interval
            ORDER BY m.message_id LIMIT 1000)
        """
    )

    static let dropMedia = StoreSQL.tenant(
        """
        DELETE FROM gateway.media b WHERE b.tenant_id = $1 AND b.created_at < now() - $2::interval AND NOT EXISTS (
            SELECT FROM gateway.message_media l WHERE l.tenant_id = $1 AND l.hash = b.hash)
        """
    )

    /// At most 1,000 batches, from the oldest on and without gaps: `$2` is the first day that is kept, `$3` the first whose events a webhook may still receive.
    /// For tenants with a shorter retention than others, whose daily partitions therefore still exist.
    static let dropEvents = StoreSQL.tenant("SELECT count, events FROM gateway.drop_events($1, $2, $3, 1000)")

    /// All positions but the last, at most 50,000: small rows without further indexes.
    static let dropPositions = StoreSQL.tenant(
        """
        DELETE FROM gateway.event_position WHERE tenant_id = $1 AND last IN (
            SELECT q.last FROM gateway.event_position q
            WHERE q.tenant_id = $1 AND q.last < (\(StoreSQL.lastEvent(of: "$1"))) ORDER BY q.last LIMIT 50000)
        """
    )

    static let dropKeys = StoreSQL.tenant(
        """
        DELETE FROM gateway.idempotency WHERE tenant_id = $1 AND (app_id, vendor, key) IN (
            SELECT y.app_id, y.vendor, y.key FROM gateway.idempotency y
            WHERE y.tenant_id = $1 AND y.created_at < now() - $2::interval ORDER BY y.created_at LIMIT 10000)
        """
    )

    /// Deliveries of a tenant with a shorter retention than others, whose weekly partitions therefore still exist. Oldest first, by key.
    static let dropDeliveries = StoreSQL.tenant(
        """
        DELETE FROM gateway.delivery d USING (
            SELECT o.due_day, o.message_id, o.target_id FROM gateway.delivery o
            WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT 10000) o
        WHERE d.tenant_id = $1 AND d.due_day < $2 AND d.due_day = o.due_day AND d.message_id = o.message_id
            AND d.target_id = o.target_id
        """
    )

    /// Inbox entries that no device will fetch any longer.
    static let dropInbox = StoreSQL.tenant(
        """
        DELETE FROM gateway.inbox_open WHERE tenant_id = $1 AND (identity_id, message_id) IN (
            SELECT o.identity_id, o.message_id FROM gateway.inbox_open o
            WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT 10000)
        """
    )

    /// Runs with the rights of the owner, because only the owner may delete audit rows.
    static let dropAudit = StoreSQL.tenant("SELECT gateway.drop_audit($1, $2::interval, 10000) AS count")

    static let dropVerifications = StoreSQL.tenant(
        "DELETE FROM gateway.verification WHERE tenant_id = $1 AND sent_at < now() - interval '1 day'"
    )

    /// Tokens of Live Activities that have ended. The system ends each activity within twelve hours.
    static let dropActivityTokens = StoreSQL.tenant(
        """
        DELETE FROM gateway.activity_token WHERE tenant_id = $1 AND (device_id, kind, name) IN (
            SELECT a.device_id, a.kind, a.name FROM gateway.activity_token a
            WHERE a.tenant_id = $1 AND a.kind = 'running' AND a.registered_at < now() - interval '1 day' LIMIT 10000)
        """
    )

    /// Identities whose end has come. Each takes several statements.
    static let endIdentities = StoreSQL.function("end_identities", 2, columns: "end_identities AS count")

    /// Acts that are older than the retention, at most 10,000: a long transaction holds back vacuum.
    static let dropActs = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_act WHERE tenant_id = $1 AND (app_id, vendor, user_id, digest) IN (
            SELECT a.app_id, a.vendor, a.user_id, a.digest FROM gateway.user_act a
            WHERE a.tenant_id = $1 AND a.noted_at < now() - $2::interval ORDER BY a.noted_at LIMIT 10000)
        """
    )

    static let dropTallies = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_tally WHERE tenant_id = $1 AND (app_id, vendor, user_id, kind, name) IN (
            SELECT t.app_id, t.vendor, t.user_id, t.kind, t.name FROM gateway.user_tally t
            WHERE t.tenant_id = $1 AND t.noted_at < now() - $2::interval ORDER BY t.noted_at LIMIT 10000)
        """
    )
}
