import CommandSupport
import Foundation
import Model

/// Creates a history for `bench analytics` and `bench console`: deliveries of one tenant, and counts of many, first a tenth of them and then the rest.
///
/// The measured tenant's counts are complete from the beginning: the rest are its deliveries, and the other tenants.
struct AnalyticsFill {
    let stage: BenchStage
    /// Deliveries of the measured tenant.
    let deliveries: Int
    let tenants: Int
    /// Of all tenants together; the first one is the measured app.
    let apps: Int
    let days: Int

    /// Messages to all devices, one a week; their counts are kept by message.
    static let largeMessages = 10
    /// The number of devices: the large messages have nearly all deliveries.
    var devices: Int { deliveries / Self.largeMessages }
    /// Messages to one device each.
    private var smallMessages: Int { deliveries / 100 }
    private static let weeks = 12
    /// Values of each property on a day.
    private static let values = 20

    /// - Throws: `StageFailure` when `psql` fails.
    func tenth() async throws {
        try await stage.psql(Self.functions + prepare)
        try await counts(0..<max(1, tenants / 10))
        try await rows(0..<devices / 10, small: 0..<smallMessages / 10, large: 0..<Self.largeMessages)
        try await stage.psql("VACUUM ANALYZE; CHECKPOINT")
    }

    /// - Throws: `StageFailure` when `psql` fails.
    func rest() async throws {
        try await counts(max(1, tenants / 10)..<tenants)
        try await rows(
            devices / 10..<devices,
            small: smallMessages / 10..<smallMessages,
            large: Self.largeMessages..<2 * Self.largeMessages - 1
        )
        try await stage.psql("VACUUM ANALYZE; CHECKPOINT")
    }

    /// The number of the newest message to all devices, after `tenth` and after `rest`.
    static func newest(isWhole: Bool) -> Int { isWhole ? largeMessages : 0 }

    /// The id of a large message in SQL.
    static func message(_ number: Int) -> String { "bench_message(\(number), \(number % largeMessages))" }

    private func counts(_ owners: Range<Int>) async throws {
        Console.error("counts of \(owners.count) tenants")
        for owner in owners { try await stage.psql("SELECT bench_counts(\(owner), \(days))") }
    }

    private func rows(_ devices: Range<Int>, small: Range<Int>, large: Range<Int>) async throws {
        try await stage.psql("SELECT bench_devices(\(devices.lowerBound + 1), \(devices.upperBound))")
        var bar = ProgressBar()
        for (place, number) in large.enumerated() {
            bar.show(done: place, of: large.count, rows: place * devices.upperBound)
            try await stage.psql("SELECT bench_large(\(number), \(devices.upperBound))")
        }
        try await stage.psql(
            "SELECT bench_small(\(small.lowerBound), \(small.upperBound), \(devices.upperBound))"
        )
        bar.show(done: large.count, of: large.count, rows: large.count * devices.upperBound, isLast: true)
    }

    // MARK: SQL

    /// Bytes as a literal.
    private static func literal(_ bytes: [UInt8]) -> String {
        "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'::bytea"
    }

    /// Latencies of 50 deliveries.
    private static let histogram: String = {
        var histogram = LatencyHistogram()
        for value in 0..<50 { histogram.add(Int64(20 + value * value * 3)) }
        return literal(histogram.encoded)
    }()

    /// The sketch of 2,000 devices of a day.
    private static let sketch: String = {
        var sketch = DistinctSketch()
        // An odd factor spreads the numbers over all hashes.
        for value in 1...2000 as ClosedRange<UInt64> { sketch.add(value &* 0x9E37_79B9_7F4A_7C15) }
        return literal(sketch.encoded)
    }()

    private var prepare: String {
        """
        UPDATE gateway.tenant SET retention = '{"deliveries": 34560000, "messages": 34560000}';
        SELECT gateway.make_delivery_partitions(bench_today() - \(Self.weeks * 7), \(Self.weeks + 2));
        CREATE TABLE bench_app AS
            SELECT CASE a % \(tenants) WHEN 0 THEN '\(BenchStage.tenant)' ELSE 'tenant-' || a % \(tenants) END AS tenant_id,
                CASE a WHEN 0 THEN '\(BenchStage.app)' ELSE 'app-' || a END AS app_id, a % \(tenants) AS owner
            FROM generate_series(0, \(apps - 1)) AS a;
        INSERT INTO gateway.tenant (tenant_id) SELECT DISTINCT tenant_id FROM bench_app ON CONFLICT DO NOTHING;
        INSERT INTO gateway.app (tenant_id, app_id, origin) SELECT tenant_id, app_id, 'api' FROM bench_app ON CONFLICT DO NOTHING;
        -- No day may be recounted, because the counts are not those of the deliveries.
        INSERT INTO gateway.counter_fold (tenant_id, minute, rolled, kept_from)
            SELECT DISTINCT tenant_id, floor(extract(epoch FROM now()) / 60)::integer - 60, (bench_today() - 92) * 96, bench_today() + 9
            FROM bench_app ON CONFLICT (tenant_id) DO UPDATE SET rolled = excluded.rolled, kept_from = excluded.kept_from;
        INSERT INTO gateway.event_reader (tenant_id, cursor, since, key)
            SELECT DISTINCT tenant_id, 0, now() - \(days) * interval '1 day', '\\x000102030405060708090a0b0c0d0e0f'::bytea FROM bench_app
            ON CONFLICT (tenant_id) DO UPDATE SET since = excluded.since;
        INSERT INTO gateway.client_version (tenant_id, app_id, client, day, app_version, os, os_version, model)
            SELECT tenant_id, app_id, n, bench_today(), '1.' || n, 'iOS', '18.' || n % 4, 'iPhone' || n % 7
            FROM bench_app, generate_series(1, \(Self.values)) AS n ON CONFLICT DO NOTHING;

        """
    }

    /// Rows as acceptances, flushes of outcomes and the event reader leave them. Counts are by quarter hour for 92 days and by day before.
    private static let functions = """
        CREATE TABLE bench_start AS SELECT date_trunc('hour', now()) - interval '1 hour' AS at;
        GRANT SELECT ON bench_start TO PUBLIC;
        CREATE FUNCTION bench_today() RETURNS integer LANGUAGE sql STABLE AS $$
            SELECT floor(extract(epoch FROM s.at) / 86400)::integer FROM bench_start s
        $$;
        CREATE FUNCTION bench_key(p_salt text, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
            SELECT (lpad(to_hex(n), 12, '0') || '7' || left(md5(p_salt || n), 3) || '8' || right(md5(p_salt || n), 15))::uuid
        $$;
        CREATE FUNCTION bench_due(n bigint, p_week integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
            SELECT s.at - p_week * interval '1 week' - n * interval '1 second' FROM bench_start s
        $$;
        CREATE FUNCTION bench_message(n bigint, p_week integer) RETURNS uuid LANGUAGE sql STABLE AS $$
            SELECT (lpad(to_hex((extract(epoch FROM bench_due(n, p_week)) * 1000)::bigint), 12, '0') || '7' || left(md5(n::text), 3) || '8'
                || right(md5(n::text), 15))::uuid
        $$;
        CREATE FUNCTION bench_devices(p_from bigint, p_to bigint) RETURNS void LANGUAGE sql AS $$
            INSERT INTO gateway.device
                    (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
                SELECT '\(BenchStage.tenant)', bench_key('device', n), '\(BenchStage.app)', 'ios', 'production',
                    lpad(to_hex(n), 32, '0') || md5(n::text), 'active', now(), now(), now()
                FROM generate_series(p_from, p_to) AS n;
            INSERT INTO gateway.identity
                    (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, registered_at, created_at)
                SELECT '\(BenchStage.tenant)', bench_key('identity', n), '\(BenchStage.app)', 'native', 'bench-' || n,
                    bench_key('device', n), 'active', 'user-' || n, now(), now()
                FROM generate_series(p_from, p_to) AS n;
            INSERT INTO gateway.identity_count (tenant_id, app_id, vendor, bucket, active)
                VALUES ('\(BenchStage.tenant)', '\(BenchStage.app)', 'native', 0, p_to)
                ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = excluded.active;
        $$;
        CREATE FUNCTION bench_large(p_number integer, p_devices bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            v_week integer := p_number % \(largeMessages);
            v_id uuid := bench_message(p_number, v_week);
            v_due timestamptz := bench_due(p_number, v_week);
            v_day integer := floor(extract(epoch FROM v_due) / 86400);
        BEGIN
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at,
                    recipients, expanded, is_counted)
                VALUES ('\(BenchStage.tenant)', v_id, '\(BenchStage.app)', 'native', 'done', 2,
                    json_build_object('body', 'message ' || p_number, 'campaign', 'weekly'), v_due, v_due, v_day,
                    v_due + interval '3 days', p_devices, p_devices, true);
            INSERT INTO gateway.message_counter (tenant_id, message_id, device_vendor, transport, targets, accepted, rejected, received, read)
                VALUES ('\(BenchStage.tenant)', v_id, 'native', 'apns', p_devices, p_devices - p_devices / 50, p_devices / 50,
                    p_devices / 2, p_devices / 10);
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                    reason, transport, attempts, payload_bytes, sent_at, received_at, read_at, device_vendor, transport_ms, client)
                SELECT '\(BenchStage.tenant)', v_day, v_id, bench_key('identity', n), '\(BenchStage.app)', 'native', bench_key('identity', n),
                    bench_key('device', n), 'user-' || n,
                    CASE WHEN n % 50 = 0 THEN 'failed' WHEN n % 10 = 1 THEN 'read' WHEN n % 2 = 1 THEN 'received' ELSE 'sent' END,
                    CASE WHEN n % 50 = 0 THEN 'Unregistered' END, 'apns', 1, 120, v_due,
                    CASE WHEN n % 2 = 1 THEN v_due END, CASE WHEN n % 10 = 1 THEN v_due END, 'native', 50, n % \(values) + 1
                FROM generate_series(1, p_devices) AS n;
        END $$;
        CREATE FUNCTION bench_small(p_from bigint, p_to bigint, p_devices bigint) RETURNS void LANGUAGE sql AS $$
            INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at,
                    recipients)
                SELECT '\(BenchStage.tenant)', bench_message(1000 + n, (n % \(weeks - 1))::integer), '\(BenchStage.app)', 'native', 'done', 1,
                    json_build_object('body', 'small message ' || n), d.at, d.at, floor(extract(epoch FROM d.at) / 86400)::integer,
                    d.at + interval '3 days', 1
                FROM generate_series(p_from, p_to - 1) AS n
                CROSS JOIN LATERAL (SELECT bench_due(1000 + n, (n % \(weeks - 1))::integer) AS at) d;
            INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                    transport, attempts, payload_bytes, sent_at, device_vendor, transport_ms)
                SELECT '\(BenchStage.tenant)', floor(extract(epoch FROM d.at) / 86400)::integer,
                    bench_message(1000 + n, (n % \(weeks - 1))::integer), bench_key('identity', d.device), '\(BenchStage.app)', 'native',
                    bench_key('identity', d.device), bench_key('device', d.device), 'user-' || d.device, 'sent', 'apns', 1, 120, d.at, 'native', 50
                FROM generate_series(p_from, p_to - 1) AS n
                CROSS JOIN LATERAL (
                    SELECT bench_due(1000 + n, (n % \(weeks - 1))::integer) AS at, 1 + n % p_devices AS device) d;
        $$;
        \(countFunction)

        """

    private static let countFunction = """
        CREATE FUNCTION bench_counts(p_owner integer, p_days integer) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            v_today integer := bench_today();
            -- Other tenants have sketches and properties for 92 days only: more of them would fill the disk.
            v_first integer := CASE p_owner WHEN 0 THEN v_today - p_days + 1 ELSE v_today - 91 END;
        BEGIN
            CREATE TEMP TABLE IF NOT EXISTS span (quarter integer, times integer) ON COMMIT DELETE ROWS;
            INSERT INTO span SELECT q, 1 FROM generate_series((v_today - 92) * 96, v_today * 96 + 95) AS q;
            INSERT INTO span SELECT d * 96, 96 FROM generate_series(v_today - p_days + 1, v_today - 93) AS d;
            INSERT INTO gateway.counter (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, suppressed, accepted, uncertain,
                    rejected, received, read)
                SELECT b.tenant_id, s.quarter, b.app_id, 'native', 'native', t.transport, t.targets * s.times, t.suppressed * s.times,
                    t.accepted * s.times, t.uncertain * s.times, t.rejected * s.times, t.received * s.times, t.read * s.times
                FROM bench_app b CROSS JOIN span s CROSS JOIN (
                    VALUES ('', 52, 2, 0, 0, 0, 0, 0), ('apns', 0, 0, 45, 1, 4, 30, 10))
                    AS t(transport, targets, suppressed, accepted, uncertain, rejected, received, read)
                WHERE b.owner = p_owner;
            INSERT INTO gateway.counter_reason (tenant_id, quarter, app_id, vendor, device_vendor, transport, stage, reason, count)
                SELECT b.tenant_id, s.quarter, b.app_id, 'native', 'native', t.transport, t.stage, t.reason, t.count * s.times
                FROM bench_app b CROSS JOIN span s CROSS JOIN (
                    VALUES ('', 'suppressed', 'noDevice', 2), ('apns', 'rejected', 'Unregistered', 3), ('apns', 'rejected', 'BadDeviceToken', 1))
                    AS t(transport, stage, reason, count)
                WHERE b.owner = p_owner;
            INSERT INTO gateway.latency (tenant_id, quarter, app_id, vendor, kind, histogram)
                SELECT b.tenant_id, s.quarter, b.app_id, 'native', k, \(histogram)
                FROM bench_app b, span s, unnest(ARRAY['delivery', 'transport', 'receipt', 'read']) AS k
                WHERE b.owner = p_owner;
            INSERT INTO gateway.device_sketch (tenant_id, day, app_id, subject, stage, sketch)
                SELECT b.tenant_id, d, b.app_id, u, g, \(sketch)
                FROM bench_app b, generate_series(v_first, v_today) AS d, unnest(ARRAY['device', 'user']) AS u,
                    unnest(ARRAY['reached', 'received', 'read']) AS g
                WHERE b.owner = p_owner;
            INSERT INTO gateway.device_change (tenant_id, day, app_id, gained, lost, invalidated)
                SELECT b.tenant_id, d, b.app_id, 30, 10, 5 FROM bench_app b, generate_series(v_first, v_today) AS d WHERE b.owner = p_owner;
            INSERT INTO gateway.property_count (tenant_id, day, app_id, property, value, variant, reached, received, read)
                SELECT b.tenant_id, d, b.app_id, p.property,
                    CASE p.property WHEN 'campaign' THEN 'campaign ' || n WHEN 'hour' THEN (((d + 3) % 7) * 24 + n)::text ELSE n::text END,
                    CASE p.property WHEN 'campaign' THEN 'b' ELSE '' END, 100, 60, 20
                FROM bench_app b, generate_series(v_first, v_today) AS d, unnest(ARRAY['client', 'campaign', 'hour']) AS p(property),
                    generate_series(1, \(values)) AS n
                WHERE b.owner = p_owner;
        END $$;
        """
}
