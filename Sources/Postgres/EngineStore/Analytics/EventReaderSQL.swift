import Model
import PostgresClient
import Store

/// The statements of `PostgresEventReader`.
enum EventReaderSQL {
    /// The tenants with events after their cursor whose reader is free, the one that was counted longest ago first. A tenant without a reader comes first.
    /// Every tenant with events has an app. It begins with the apps, because Citus refuses a subquery about the rows of a reference table.
    static let due = StoreSQL.global(
        """
        SELECT t.tenant_id, r.tenant_id IS NULL AS is_new FROM (SELECT DISTINCT a.tenant_id FROM gateway.app a) t
        LEFT JOIN gateway.event_reader r ON r.tenant_id = t.tenant_id
        CROSS JOIN LATERAL (\(StoreSQL.lastEvent(of: "t.tenant_id"))) h
        WHERE h.last > coalesce(r.cursor, 0) AND (r.next_at IS NULL OR r.next_at <= now())
        ORDER BY r.next_at NULLS FIRST, t.tenant_id LIMIT $1
        """
    )

    /// Whether a slice is due for longer than `$1` and no node has claimed it. One probe per tenant and lane.
    static let waiting = StoreSQL.global(
        """
        SELECT EXISTS (
            SELECT 1 FROM gateway.lane l CROSS JOIN LATERAL (
                SELECT 1 FROM gateway.slice s
                WHERE s.tenant_id = l.tenant_id AND s.lane = l.lane AND s.state = 'ready' AND s.next_at <= now() - $1::interval
                LIMIT 1) x
            WHERE NOT l.is_paused) AS are_waiting
        """
    )

    /// Begins at the oldest event of the log. `$2`: the key of the tenant's sketches.
    static let create = StoreSQL.tenant(
        """
        INSERT INTO gateway.event_reader (tenant_id, cursor, since, key)
        SELECT $1, coalesce(b.before, h.last, 0), coalesce(b.at, now()), $2::bytea FROM (SELECT 1) o
        LEFT JOIN LATERAL (\(StoreSQL.lastEvent(of: "$1"))) h ON true
        LEFT JOIN LATERAL (
            SELECT b.last - b.count AS before, b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 ORDER BY b.last LIMIT 1) b ON true
        ON CONFLICT (tenant_id) DO NOTHING
        """
    )

    static let claim = StoreSQL.tenant(
        """
        UPDATE gateway.event_reader SET owner = $2, epoch = epoch + 1, next_at = now() + $3::interval
        WHERE tenant_id = $1 AND next_at <= now() RETURNING cursor, epoch, key
        """
    )

    /// The last offset, and the one before the first event after `$2`. They differ from each other and from `$2` where retention has removed events.
    static let bounds = StoreSQL.tenant(
        """
        SELECT coalesce((\(StoreSQL.lastEvent(of: "$1"))), 0) AS head, (
            SELECT b.last - b.count FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > $2::bigint
            ORDER BY b.last LIMIT 1) AS before
        """
    )

    /// The events of the kinds `$4` after `$2` up to `$3`, with their deliveries. These are looked up row by row, as in `EventSQL.page`. A transport with a colon
    /// is a vendor: `upstream:CREDENTIAL` or `observed:DIALECT`.
    static let page = StoreSQL.tenant(
        """
        SELECT e.kind, e.at, e.before, e.app_id, e.vendor, e.due_day, e.message_id, e.target_id, d.state,
            coalesce(position(':' IN d.transport) = 0, false) AS has_transport, d.transport_ms, d.sent_at, d.received_at,
            d.read_at, d.device_id, d.user_id, d.client, d.local_hour, d.due_at
        FROM (
            SELECT b.last - b.count + i AS position, b.kind, b.at, b.before, b.app_id, b.vendor,
                CASE cardinality(b.messages) WHEN 1 THEN b.messages[1] ELSE b.messages[i] END AS message_id,
                CASE cardinality(b.targets) WHEN 1 THEN b.targets[1] ELSE b.targets[i] END AS target_id,
                CASE cardinality(b.due_days) WHEN 1 THEN b.due_days[1] ELSE b.due_days[i] END AS due_day
            FROM (
                SELECT * FROM gateway.event_batch b
                WHERE b.tenant_id = $1 AND b.last > $2::bigint AND b.last < $3::bigint + \(StoreSQL.batchLimit)
                    AND b.kind = ANY ($4::text[])
                ORDER BY b.last LIMIT \(EventReaderMachine.stepLimit + 1)) b
            CROSS JOIN LATERAL generate_series(
                greatest($2::bigint - b.last + b.count, 0)::integer + 1, least($3::bigint - b.last + b.count, b.count)::integer) AS i
            ORDER BY b.last, i LIMIT \(EventReaderMachine.stepLimit + 1)) e
        LEFT JOIN LATERAL (
            SELECT d.state, d.transport, d.transport_ms, d.sent_at, d.received_at, d.read_at, d.device_id, d.user_id, d.client, d.local_hour,
                d.due_at
            FROM gateway.delivery d
            WHERE d.tenant_id = $1 AND d.due_day = e.due_day AND d.message_id = e.message_id AND d.target_id = e.target_id LIMIT 1) d
            ON true
        ORDER BY e.position
        """
    )

    /// `$5`: the number of events between the cursor and the first one that was still there. If there are any, everything is counted only from that one on.
    static let advance = StoreSQL.tenant(
        """
        UPDATE gateway.event_reader r SET cursor = $4, lost = lost + $5, owner = NULL, next_at = now(),
            since = CASE WHEN $5::bigint = 0 THEN since ELSE coalesce((
                SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = $1 AND b.last > r.cursor ORDER BY b.last LIMIT 1), since) END
        WHERE tenant_id = $1 AND owner = $2 AND epoch = $3 AND cursor < $4
        RETURNING cursor
        """
    )

    static let release = StoreSQL.tenant(
        """
        UPDATE gateway.event_reader SET owner = NULL, next_at = now() WHERE tenant_id = $1 AND owner = $2 AND epoch = $3
        """
    )

    // MARK: Messages, apps and marks of events

    /// Properties of messages by which deliveries are counted.
    static let messages = StoreSQL.tenant(
        """
        SELECT q.id, r.due_at, r.is_single, r.campaign, r.variant FROM unnest($2::uuid[]) AS q(id)
        CROSS JOIN LATERAL (
            SELECT m.due_at, m.due_local IS NULL AND m.pace_count IS NULL AS is_single, m.content->>'campaign' AS campaign,
                m.content->>'campaignVariant' AS variant
            FROM gateway.message m
            WHERE m.tenant_id = $1 AND m.message_id = q.id LIMIT 1) r
        """
    )

    static let apps = StoreSQL.tenant(
        "SELECT app_id, defaults::text AS defaults FROM gateway.app WHERE tenant_id = $1 AND app_id = ANY ($2::text[])"
    )

    /// Nearly always the tenant has no marks, and the list is not looked at.
    static let marks = StoreSQL.tenant(
        """
        SELECT k.due_day, k.message_id, k.target_id, k.is_early, k.is_received, k.is_read
        FROM unnest($2::integer[], $3::uuid[], $4::uuid[]) AS u(due_day, message, target)
        CROSS JOIN LATERAL (
            SELECT r.* FROM gateway.receipt_mark r
            WHERE r.tenant_id = $1 AND r.due_day = u.due_day AND r.message_id = u.message AND r.target_id = u.target LIMIT 1) k
        WHERE EXISTS (SELECT FROM gateway.receipt_mark x WHERE x.tenant_id = $1)
        """
    )

    // MARK: Stored figures

    static let latencies = StoreSQL.tenant(
        """
        SELECT u.place, k.histogram
        FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[]) AS u(place, quarter, app, vendor, kind)
        CROSS JOIN LATERAL (
            SELECT l.histogram FROM gateway.latency l
            WHERE l.tenant_id = $1 AND l.quarter = u.quarter AND l.app_id = u.app AND l.vendor = u.vendor AND l.kind = u.kind
            LIMIT 1) k
        """
    )

    static let sketches = StoreSQL.tenant(
        """
        SELECT u.place, k.sketch
        FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[]) AS u(place, day, app, subject, stage)
        CROSS JOIN LATERAL (
            SELECT s.sketch FROM gateway.device_sketch s
            WHERE s.tenant_id = $1 AND s.day = u.day AND s.app_id = u.app AND s.subject = u.subject AND s.stage = u.stage
            LIMIT 1) k
        """
    )

    static let storeLatencies = StoreSQL.tenant(
        """
        INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram)
        SELECT $1, u.quarter, u.app, u.vendor, u.kind, u.histogram
        FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::bytea[]) AS u(quarter, app, vendor, kind, histogram)
        ON CONFLICT (tenant_id, quarter, app_id, vendor, kind) DO UPDATE SET histogram = excluded.histogram
        """
    )

    static let storeSketches = StoreSQL.tenant(
        """
        INSERT INTO gateway.device_sketch (tenant_id, day, app_id, subject, stage, sketch)
        SELECT $1, u.day, u.app, u.subject, u.stage, u.sketch
        FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::bytea[]) AS u(day, app, subject, stage, sketch)
        ON CONFLICT (tenant_id, day, app_id, subject, stage) DO UPDATE SET sketch = excluded.sketch
        """
    )

    /// Which of the keys have a row.
    static let knownCounts = StoreSQL.tenant(
        """
        SELECT u.place FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::text[])
            AS u(place, day, app, property, value, variant)
        CROSS JOIN LATERAL (
            SELECT 1 FROM gateway.property_count c
            WHERE c.tenant_id = $1 AND c.day = u.day AND c.app_id = u.app AND c.property = u.property AND c.value = u.value
                AND c.variant = u.variant LIMIT 1) k
        """
    )

    /// The number of rows of each app, day and property, at most the limit.
    static let numberOfCounts = StoreSQL.tenant(
        """
        SELECT u.place, k.count FROM unnest($2::bigint[], $3::integer[], $4::text[], $5::text[]) AS u(place, day, app, property)
        CROSS JOIN LATERAL (
            SELECT count(*) AS count FROM (
                SELECT 1 FROM gateway.property_count c
                WHERE c.tenant_id = $1 AND c.day = u.day AND c.app_id = u.app AND c.property = u.property
                LIMIT \(CountedValue.limit)) x) k
        """
    )

    static let addCounts = StoreSQL.tenant(
        """
        INSERT INTO gateway.property_count AS c (tenant_id, day, app_id, property, value, variant, reached, received, read)
        SELECT $1, u.day, u.app, u.property, u.value, u.variant, u.reached, u.received, u.read
        FROM unnest($2::integer[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[])
            AS u(day, app, property, value, variant, reached, received, read)
        ON CONFLICT (tenant_id, day, app_id, property, value, variant) DO UPDATE SET reached = c.reached + excluded.reached,
            received = c.received + excluded.received, read = c.read + excluded.read
        """
    )

    static let addChanges = StoreSQL.tenant(
        """
        INSERT INTO gateway.device_change AS c (tenant_id, day, app_id, gained, lost, invalidated)
        SELECT $1, u.day, u.app, u.gained, u.lost, u.invalidated
        FROM unnest($2::integer[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) AS u(day, app, gained, lost, invalidated)
        ON CONFLICT (tenant_id, day, app_id) DO UPDATE SET gained = c.gained + excluded.gained, lost = c.lost + excluded.lost,
            invalidated = c.invalidated + excluded.invalidated
        """
    )

    static let storeMarks = StoreSQL.tenant(
        """
        INSERT INTO gateway.receipt_mark (tenant_id, due_day, message_id, target_id, is_early, is_received, is_read)
        SELECT $1, u.due_day, u.message, u.target, u.is_early, u.is_received, u.is_read
        FROM unnest($2::integer[], $3::uuid[], $4::uuid[], $5::boolean[], $6::boolean[], $7::boolean[])
            AS u(due_day, message, target, is_early, is_received, is_read)
        ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET is_early = excluded.is_early,
            is_received = excluded.is_received, is_read = excluded.is_read
        """
    )

    static let removeMarks = StoreSQL.tenant(
        """
        DELETE FROM gateway.receipt_mark r USING unnest($2::integer[], $3::uuid[], $4::uuid[]) AS u(due_day, message, target)
        WHERE r.tenant_id = $1 AND r.due_day = u.due_day AND r.message_id = u.message AND r.target_id = u.target
        """
    )

    // MARK: Lag

    /// Over all tenants: the number of events after the cursors, and the age of the oldest one.
    static let lag = StoreSQL.global(
        """
        SELECT coalesce(sum(h.last - r.cursor), 0)::bigint AS events,
            coalesce(extract(epoch FROM now() - min(x.at)), 0)::float8 AS seconds, coalesce(sum(r.lost), 0)::bigint AS lost
        FROM gateway.event_reader r
        CROSS JOIN LATERAL (\(StoreSQL.lastEvent(of: "r.tenant_id"))) h
        LEFT JOIN LATERAL (
            SELECT b.at FROM gateway.event_batch b WHERE b.tenant_id = r.tenant_id AND b.last > r.cursor ORDER BY b.last LIMIT 1) x ON true
        """
    )
}
