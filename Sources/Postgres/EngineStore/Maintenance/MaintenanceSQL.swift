import PostgresClient
import Store

/// Maintenance: partitions, retention, dead nodes. Sweeps run tenant by tenant.
enum MaintenanceSQL {
    // The limits of one statement. A long transaction holds back vacuum, and a long statement takes a core from the calls. They are part of the text, because
    // the planner cannot plan for a limit that it does not know.

    /// About 50 ms.
    static let rows = 5000
    /// Fewer, because each deletes its slices, links and references.
    static let messages = 1000
    /// Fewer, because a row may have megabytes.
    static let images = 100
    /// Fewer, because a row has up to 500 events.
    static let eventBatches = 1000
    /// More, because rows are small and have one index.
    static let positions = 50_000
    /// Fewer, because each is counted and writes an event.
    static let identities = 100

    /// Acquires the maintenance lease if it is free, expired, or held by this node.
    static let lead = StoreSQL.global(
        """
        INSERT INTO gateway.singleton AS s (name, owner, held_until) VALUES ($1, $2, now() + $3::interval)
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, held_until = excluded.held_until
        WHERE s.held_until < now() OR s.owner = excluded.owner
        RETURNING now() AS now
        """
    )

    /// Raise 55P03 while a long transaction uses the table.
    static let makePartitions = StoreSQL.global("SELECT gateway.make_delivery_partitions($1, $2) AS count")
    static let dropPartitions = StoreSQL.global("SELECT gateway.drop_delivery_partitions($1) AS count")
    static let makeEventPartitions = StoreSQL.global("SELECT gateway.make_event_partitions($1, $2) AS count")
    static let dropEventPartitions = StoreSQL.global("SELECT gateway.drop_event_partitions($1, $2) AS count")
    /// The weekly partitions that end before a day.
    static let expiredWeeks = StoreSQL.global(
        """
        SELECT count(*) AS count FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
            AND (substr(c.relname, 11)::integer + 1) * 7 <= $1
        """
    )
    static let defaultWeeks = StoreSQL.global("SELECT week, rows FROM gateway.default_partition_weeks()")
    static let stageRows = StoreSQL.global(
        "SELECT next_page, copied, horizon FROM gateway.stage_default_rows($1, $2, $3, $4)"
    )
    static let attachStaged = StoreSQL.global("SELECT gateway.attach_staged_weeks($1, $2) AS count")
    static let analyzeDevices = StoreSQL.global("SELECT gateway.analyze_devices()")
    static let analyzeGrown = StoreSQL.global("SELECT gateway.analyze_grown() AS count")
    static let sweepNodes = StoreSQL.global("DELETE FROM gateway.node WHERE seen_at < now() - $1::interval")
    static let tenants = StoreSQL.global(
        "SELECT tenant_id, retention::text AS retention FROM gateway.tenant ORDER BY tenant_id"
    )

    /// The first statements of a sweep's transaction. A row that someone else holds for longer fails this step of this tenant only. The planner would compare
    /// thousands of keys with a table by reading all of it: 133 ms for 5,000 of 300,000 deliveries, and more as the table grows, instead of 26 ms by the key.
    static let sweepSettings = [
        StoreSQL.global("SET LOCAL lock_timeout = '500ms'"), StoreSQL.global("SET LOCAL enable_seqscan = off"),
        StoreSQL.global("SET LOCAL enable_hashjoin = off"), StoreSQL.global("SET LOCAL enable_mergejoin = off"),
    ]

    /// Messages that are over and were due before the retention limit, regardless of when they were accepted, oldest first. Slices, links and references
    /// are deleted with them.
    static let dropMessages = StoreSQL.tenant(
        """
        DELETE FROM gateway.message WHERE tenant_id = $1 AND message_id IN (
            SELECT m.message_id FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id < $2 AND m.expires_at < now() AND m.due_at < now() - $3::interval
            ORDER BY m.message_id LIMIT \(messages))
        """
    )

    /// Notes the first day of which `dropMessages` has removed no message: the day after the one in which the retention `$2` ends.
    static let keepMessages = StoreSQL.tenant(
        kept("floor(extract(epoch FROM now() - $2::interval) / 86400)::integer + 1")
    )

    /// Notes that the days from `$2` on are whole, and that deliveries of earlier ones are removed.
    static let keepDays = StoreSQL.tenant(kept("$2::integer"))

    /// Raises `counter_fold.kept_from`, and locks its row only if that changes it. A row with the minute 0 means the same as none.
    private static func kept(_ day: String) -> String {
        """
        INSERT INTO gateway.counter_fold AS f (tenant_id, minute, kept_from)
        SELECT $1, 0, x.day FROM (SELECT \(day) AS day) x
        WHERE NOT EXISTS (SELECT FROM gateway.counter_fold o WHERE o.tenant_id = $1 AND o.kept_from >= x.day)
        ON CONFLICT (tenant_id) DO UPDATE SET kept_from = excluded.kept_from
        WHERE f.kept_from IS NULL OR f.kept_from < excluded.kept_from
        """
    }

    static let sweepMedia = StoreSQL.tenant("SELECT gateway.sweep_media($1, $2::interval, \(images)) AS count")

    /// From the oldest on and without gaps: `$2` is the first day that is kept, `$3` the first whose events a webhook may still receive.
    /// For tenants with a shorter retention than others, whose daily partitions therefore still exist.
    static let dropEvents = StoreSQL.tenant(
        "SELECT count, events FROM gateway.drop_events($1, $2, $3, \(eventBatches))"
    )

    /// All positions but the last.
    static let dropPositions = StoreSQL.tenant(
        """
        DELETE FROM gateway.event_position WHERE tenant_id = $1 AND last IN (
            SELECT q.last FROM gateway.event_position q
            WHERE q.tenant_id = $1 AND q.last < (\(StoreSQL.lastEvent(of: "$1"))) ORDER BY q.last LIMIT \(positions))
        """
    )

    static let dropKeys = StoreSQL.tenant(
        """
        DELETE FROM gateway.idempotency WHERE tenant_id = $1 AND (app_id, vendor, key) IN (
            SELECT y.app_id, y.vendor, y.key FROM gateway.idempotency y
            WHERE y.tenant_id = $1 AND y.created_at < now() - $2::interval ORDER BY y.created_at LIMIT \(rows))
        """
    )

    /// Deliveries of a tenant whose weekly partition still exists, because another tenant keeps it longer, or which are in the default partition. Oldest first,
    /// by key.
    static let dropDeliveries = StoreSQL.tenant(
        """
        DELETE FROM gateway.delivery d USING (
            SELECT o.due_day, o.message_id, o.target_id FROM gateway.delivery o
            WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT \(rows)) o
        WHERE d.tenant_id = $1 AND d.due_day < $2 AND d.due_day = o.due_day AND d.message_id = o.message_id
            AND d.target_id = o.target_id
        """
    )

    /// Inbox entries that no device will fetch any longer.
    static let dropInbox = StoreSQL.tenant(
        """
        DELETE FROM gateway.inbox_open WHERE tenant_id = $1 AND (identity_id, message_id) IN (
            SELECT o.identity_id, o.message_id FROM gateway.inbox_open o
            WHERE o.tenant_id = $1 AND o.due_day < $2 ORDER BY o.due_day LIMIT \(rows))
        """
    )

    /// Runs with the rights of the owner, because only the owner may delete audit rows.
    static let dropAudit = StoreSQL.tenant("SELECT gateway.drop_audit($1, $2::interval, \(rows)) AS count")

    static let dropVerifications = StoreSQL.tenant(
        """
        DELETE FROM gateway.verification WHERE tenant_id = $1 AND (app_id, vendor, phone) IN (
            SELECT v.app_id, v.vendor, v.phone FROM gateway.verification v
            WHERE v.tenant_id = $1 AND v.sent_at < now() - interval '1 day' LIMIT \(rows))
        """
    )

    /// Expectations that no registration met in time.
    static let dropExpectations = StoreSQL.tenant(
        """
        DELETE FROM gateway.expected_user WHERE tenant_id = $1 AND ends_at < now() AND (app_id, user_id) IN (
            SELECT e.app_id, e.user_id FROM gateway.expected_user e
            WHERE e.tenant_id = $1 AND e.ends_at < now() ORDER BY e.ends_at LIMIT \(rows))
        """
    )

    /// Challenges that no device answered in time.
    static let dropChallenges = StoreSQL.tenant(
        """
        DELETE FROM gateway.challenge WHERE tenant_id = $1 AND device_id IN (
            SELECT c.device_id FROM gateway.challenge c
            WHERE c.tenant_id = $1 AND c.ends_at < now() ORDER BY c.ends_at LIMIT \(rows)) AND ends_at < now()
        """
    )

    /// Deliveries of erased identities that were recorded after the erasure.
    static let eraseLate = StoreSQL.tenant("SELECT gateway.erase_late($1, \(identities)) AS count")

    /// Forwarded calls that have waited for their upstream for too long. Claims delete queues without calls. It locks no queues, so it skips calls that are
    /// locked: a set of calls may hold the newest ones of several queues.
    static let dropForwarded = StoreSQL.tenant(
        """
        DELETE FROM gateway.outbox WHERE tenant_id = $1 AND (ordering_key, app_id, upstream, no) IN (
            SELECT x.ordering_key, x.app_id, x.upstream, x.no FROM gateway.outbox_upstream u
            CROSS JOIN LATERAL (
                SELECT o.ordering_key, o.app_id, o.upstream, o.no FROM gateway.outbox o
                WHERE o.tenant_id = $1 AND o.upstream = u.upstream AND o.called_at < now() - $2::interval
                ORDER BY o.called_at LIMIT \(rows) FOR UPDATE SKIP LOCKED) AS x
            WHERE u.tenant_id = $1 LIMIT \(rows))
        """
    )

    /// Users of calls of messages with smaller ids than `$2`.
    static let dropUpstreamUsers = StoreSQL.tenant(
        """
        DELETE FROM gateway.upstream_user WHERE tenant_id = $1 AND (message_id, upstream, user_key) IN (
            SELECT u.message_id, u.upstream, u.user_key FROM gateway.upstream_user u
            WHERE u.tenant_id = $1 AND u.message_id < $2 ORDER BY u.message_id LIMIT \(rows))
        """
    )

    /// Calls of such messages.
    static let dropUpstreamCalls = StoreSQL.tenant(
        """
        DELETE FROM gateway.upstream_call WHERE tenant_id = $1 AND (message_id, slice_no, epoch, no) IN (
            SELECT c.message_id, c.slice_no, c.epoch, c.no FROM gateway.upstream_call c
            WHERE c.tenant_id = $1 AND c.message_id < $2 ORDER BY c.message_id LIMIT \(rows))
        """
    )

    /// Counts of calls for the gates of migrations, which compare those of the last seven days.
    static let dropFigures = StoreSQL.tenant(
        """
        DELETE FROM gateway.observed_figure WHERE tenant_id = $1 AND (app_id, figure, at) IN (
            SELECT f.app_id, f.figure, f.at FROM gateway.observed_figure f
            WHERE f.tenant_id = $1 AND f.at < now() - interval '8 days' ORDER BY f.at LIMIT \(rows))
        """
    )

    /// Counts of messages that were due before the quarter hour `$2`: about as many rows as the limit, at whole quarter hours.
    static let dropCounts = StoreSQL.tenant(counts("counter"))
    static let dropReasons = StoreSQL.tenant(counts("counter_reason"))

    private static func counts(_ table: String) -> String {
        """
        DELETE FROM gateway.\(table) WHERE tenant_id = $1 AND quarter < $2 AND quarter <= (
            SELECT max(x.quarter) FROM (
                SELECT c.quarter FROM gateway.\(table) c WHERE c.tenant_id = $1 AND c.quarter < $2 ORDER BY c.quarter LIMIT \(rows)) x)
        """
    }

    /// Recipients of keys of days that are over.
    static let dropKeyDays = StoreSQL.tenant(
        """
        DELETE FROM gateway.api_key_day WHERE tenant_id = $1 AND (name, day) IN (
            SELECT d.name, d.day FROM gateway.api_key_day d
            WHERE d.tenant_id = $1 AND d.day < (now() AT TIME ZONE 'UTC')::date - 1 LIMIT \(rows))
        """
    )

    /// Tokens of Live Activities that have ended. The system ends each activity within twelve hours.
    static let dropActivityTokens = StoreSQL.tenant(
        """
        DELETE FROM gateway.activity_token WHERE tenant_id = $1 AND (device_id, kind, name) IN (
            SELECT a.device_id, a.kind, a.name FROM gateway.activity_token a
            WHERE a.tenant_id = $1 AND a.kind = 'running' AND a.registered_at < now() - interval '1 day' LIMIT \(rows))
        """
    )

    /// Identities whose end has come. Each takes several statements.
    static let endIdentities = StoreSQL.tenant("SELECT gateway.end_identities($1, \(identities)) AS count")

    /// Acts that are older than the retention.
    static let dropActs = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_act WHERE tenant_id = $1 AND (app_id, vendor, user_id, digest) IN (
            SELECT a.app_id, a.vendor, a.user_id, a.digest FROM gateway.user_act a
            WHERE a.tenant_id = $1 AND a.noted_at < now() - $2::interval ORDER BY a.noted_at LIMIT \(rows))
        """
    )

    static let dropTallies = StoreSQL.tenant(
        """
        DELETE FROM gateway.user_tally WHERE tenant_id = $1 AND (app_id, vendor, user_id, kind, name) IN (
            SELECT t.app_id, t.vendor, t.user_id, t.kind, t.name FROM gateway.user_tally t
            WHERE t.tenant_id = $1 AND t.noted_at < now() - $2::interval ORDER BY t.noted_at LIMIT \(rows))
        """
    )

    // Figures of the event reader.

    static let dropLatencies = StoreSQL.tenant(
        """
        DELETE FROM gateway.latency WHERE tenant_id = $1 AND (quarter, app_id, vendor, kind) IN (
            SELECT l.quarter, l.app_id, l.vendor, l.kind FROM gateway.latency l
            WHERE l.tenant_id = $1 AND l.quarter < $2 * 96 ORDER BY l.quarter LIMIT \(rows))
        """
    )

    static let dropSketches = StoreSQL.tenant(
        """
        DELETE FROM gateway.device_sketch WHERE tenant_id = $1 AND (day, app_id, subject, stage) IN (
            SELECT s.day, s.app_id, s.subject, s.stage FROM gateway.device_sketch s
            WHERE s.tenant_id = $1 AND s.day < $2 ORDER BY s.day LIMIT \(rows))
        """
    )

    static let dropDeviceChanges = StoreSQL.tenant(
        """
        DELETE FROM gateway.device_change WHERE tenant_id = $1 AND (day, app_id) IN (
            SELECT c.day, c.app_id FROM gateway.device_change c
            WHERE c.tenant_id = $1 AND c.day < $2 ORDER BY c.day LIMIT \(rows))
        """
    )

    static let dropOrphans = StoreSQL.tenant(
        """
        DELETE FROM gateway.orphan_receipt WHERE tenant_id = $1 AND (day, app_id, reason) IN (
            SELECT o.day, o.app_id, o.reason FROM gateway.orphan_receipt o
            WHERE o.tenant_id = $1 AND o.day < $2 ORDER BY o.day LIMIT \(rows))
        """
    )

    static let dropPropertyCounts = StoreSQL.tenant(
        """
        DELETE FROM gateway.property_count WHERE tenant_id = $1 AND (day, app_id, property, value, variant) IN (
            SELECT c.day, c.app_id, c.property, c.value, c.variant FROM gateway.property_count c
            WHERE c.tenant_id = $1 AND c.day < $2 ORDER BY c.day LIMIT \(rows))
        """
    )

    /// Figures of the agreement with upstreams.
    static let dropParity = StoreSQL.tenant(
        """
        DELETE FROM gateway.parity_count WHERE tenant_id = $1 AND (app_id, metric, hour, dialect) IN (
            SELECT c.app_id, c.metric, c.hour, c.dialect FROM gateway.parity_count c
            WHERE c.tenant_id = $1 AND c.hour < $2 * 24 ORDER BY c.hour LIMIT \(rows))
        """
    )

    /// Marks of deliveries that are not kept any longer.
    static let dropMarks = StoreSQL.tenant(
        """
        DELETE FROM gateway.receipt_mark WHERE tenant_id = $1 AND (due_day, message_id, target_id) IN (
            SELECT r.due_day, r.message_id, r.target_id FROM gateway.receipt_mark r
            WHERE r.tenant_id = $1 AND r.due_day < $2 ORDER BY r.due_day LIMIT \(rows))
        """
    )
}
