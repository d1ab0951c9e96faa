/// Upkeep: partitions, retention, dead nodes. Sweeps over tenants go tenant by tenant.
enum MaintenanceSQL {
    /// The singleton's lease: ours when it is free, ended, or ours already.
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
    static let analyzeDevices = StoreSQL.global("SELECT gateway.analyze_devices()")
    static let sweepNodes = StoreSQL.global("DELETE FROM gateway.node WHERE seen_at < now() - $1::interval")
    static let tenants = StoreSQL.global("SELECT tenant_id FROM gateway.tenant ORDER BY tenant_id")

    /// Messages that are over, oldest first; slices, links and references go with them. Bounded: a long transaction holds back vacuum.
    static let dropMessages = StoreSQL.tenant(
        """
        DELETE FROM gateway.message WHERE tenant_id = $1 AND message_id IN (
            SELECT m.message_id FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id < $2 AND m.expires_at < now()
            ORDER BY m.message_id LIMIT 1000)
        """
    )

    static let dropMedia = StoreSQL.tenant(
        """
        DELETE FROM gateway.media b WHERE b.tenant_id = $1 AND b.created_at < now() - $2::interval AND NOT EXISTS (
            SELECT FROM gateway.message_media l WHERE l.tenant_id = $1 AND l.hash = b.hash)
        """
    )

    static let dropEvents = StoreSQL.tenant(
        """
        DELETE FROM gateway.event WHERE tenant_id = $1 AND position IN (
            SELECT e.position FROM gateway.event e WHERE e.tenant_id = $1 ORDER BY e.position LIMIT 10000)
            AND at < now() - $2::interval
        """
    )

    static let dropKeys = StoreSQL.tenant(
        "DELETE FROM gateway.idempotency WHERE tenant_id = $1 AND created_at < now() - $2::interval"
    )

    static let dropVerifications = StoreSQL.tenant(
        "DELETE FROM gateway.verification WHERE tenant_id = $1 AND sent_at < now() - interval '1 day'"
    )

    static let all = [
        lead, makePartitions, dropPartitions, analyzeDevices, sweepNodes, tenants, dropMessages, dropMedia, dropEvents,
        dropKeys,
        dropVerifications,
    ]
}
