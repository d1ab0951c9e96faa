/// The SQL that generates the history of the demo (`DemoHistory`), for one session of `psql` with the variables `tenant`, `app` and `zone`.
///
/// Everything is one transaction. Each choice is a digest of its name, so runs differ only by the time at which they begin. The counts are those of the stored
/// deliveries, so a recount finds no difference. The event log gets the events of the deliveries, from which a node counts latencies, campaigns, hours and
/// distinct devices as it does for all other deliveries.
enum DemoHistorySQL {
    static let script = plan + outcomes + rows + counts

    /// The choices: devices and messages. `:zone` is the zone of the app.
    private static let plan = """
        BEGIN;
        SET LOCAL client_min_messages = warning;
        CREATE TEMP TABLE demo AS SELECT :'tenant'::text AS tenant, :'app'::text AS app, date_trunc('milliseconds', now()) AS now,
            date_trunc('day', now() AT TIME ZONE :'zone') AS today, :'zone'::text AS zone;

        -- A number from 0 to 1 that depends on the key alone: every run makes the same choices.
        CREATE FUNCTION pg_temp.part(p_key text) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
            SELECT ('x' || left(md5('push-gateway demo ' || p_key), 8))::bit(32)::bigint / 4294967296.0
        $$;
        -- An id like the gateway's: the time, then what the key determines.
        CREATE FUNCTION pg_temp.id(p_at timestamptz, p_key text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
            SELECT (lpad(to_hex(floor(extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '7' || left(md5(p_key), 3) || '8'
                || right(md5(p_key), 15))::uuid
        $$;
        CREATE FUNCTION pg_temp.local_day(p_at timestamptz) RETURNS integer LANGUAGE sql STABLE AS $$
            SELECT (p_at AT TIME ZONE d.zone)::date - DATE '1970-01-01' FROM demo d
        $$;

        -- The devices. A token that expires, a user who opts out and an app that is removed stay so from their time on; null: never.
        CREATE TEMP TABLE demo_device AS
        WITH known AS MATERIALIZED (
            SELECT n, CASE
                    WHEN n <= 200 THEN 'rationalowl' WHEN n <= 340 THEN 'upmc' WHEN n <= 430 THEN 'ipns' WHEN n <= 510 THEN 'braze'
                    WHEN n <= 560 THEN 'notificationhubs' ELSE 'native' END AS vendor,
                CASE WHEN pg_temp.part('age' || n) < 0.8
                    THEN d.today AT TIME ZONE d.zone - (30 + 170 * pg_temp.part('old' || n)) * interval '1 day'
                    ELSE d.today AT TIME ZONE d.zone - 29 * pg_temp.part('new' || n) * interval '1 day' - interval '1 hour' END AS created_at
            FROM demo d, generate_series(1, 600) AS n),
        lives AS MATERIALIZED (
            SELECT k.*, pg_temp.part('end' || n) AS part, greatest(k.created_at, d.today AT TIME ZONE d.zone - interval '29 days')
                    + (d.now - greatest(k.created_at, d.today AT TIME ZONE d.zone - interval '29 days')) * pg_temp.part('when' || n)
                    AS changed_at
            FROM known k, demo d)
        SELECT l.n, l.vendor, l.created_at, pg_temp.id(l.created_at, 'demo device ' || l.n) AS device,
            pg_temp.id(l.created_at, 'demo identity ' || l.n) AS identity,
            md5('demo token ' || l.n) || md5('demo token of ' || l.n) AS token, 'demo-' || lpad(l.n::text, 4, '0') AS key,
            CASE WHEN l.vendor = 'rationalowl' THEN '010' || lpad(l.n::text, 8, '0') END AS phone,
            CASE WHEN l.part < 0.05 THEN l.changed_at END AS expired_at,
            CASE WHEN l.part >= 0.05 AND l.part < 0.09 THEN l.changed_at END AS opted_out_at,
            CASE WHEN l.part >= 0.09 AND l.part < 0.11 THEN l.changed_at END AS ended_at,
            -- The SDKs of the other vendors report no facts.
            CASE WHEN l.vendor IN ('upmc', 'braze', 'native') THEN jsonb_build_object(
                'appVersion', (ARRAY['2.5.0', '2.4.1', '2.4.0', '2.3.2'])[1 + floor(4 * pg_temp.part('app' || n) ^ 2)::integer],
                'os', 'iOS', 'osVersion', (ARRAY['26.1', '26.0', '18.6', '17.7'])[1 + floor(4 * pg_temp.part('os' || n) ^ 2)::integer],
                'model', (ARRAY['iPhone17,1', 'iPhone16,2', 'iPhone15,2', 'iPhone14,5'])[1 + floor(4 * pg_temp.part('model' || n))::integer])
                END AS client
        FROM lives l;

        -- The messages. `part` selects the devices; null: everyone.
        CREATE TEMP TABLE demo_message AS
        WITH days AS (
            SELECT b AS before, d.today - b * interval '1 day' AS day, extract(isodow FROM d.today - b * interval '1 day') >= 6 AS is_weekend
            FROM demo d, generate_series(29, 0, -1) AS b),
        -- The vendors' back ends: announcements to a part of their users, mostly in the hours of an office.
        announcements AS (
            SELECT s.before, s.day, v.vendor, s.before || ' ' || v.vendor || ' ' || i AS name,
                0.1 + 0.46 * pg_temp.part('share' || s.before || v.vendor || i) AS part,
                floor(v.texts * pg_temp.part('text' || s.before || v.vendor || i))::integer AS choice,
                (ARRAY[9, 9, 10, 10, 11, 12, 13, 14, 16, 17, 18, 19])[1 + floor(12 * pg_temp.part('hour' || s.before || v.vendor || i))::integer] AS hour,
                false AS is_whole, 2 AS lane
            FROM days s
            CROSS JOIN (VALUES ('rationalowl', 3, 4), ('upmc', 2, 3), ('ipns', 2, 3), ('braze', 2, 3), ('notificationhubs', 2, 2)) AS v(vendor, count, texts)
            CROSS JOIN LATERAL generate_series(1, CASE WHEN s.is_weekend THEN 1 ELSE v.count END) AS i),
        -- Campaigns of the native API to all devices, every third day.
        campaigns AS (
            SELECT s.before, s.day, 'native', s.before || ' campaign', 1.0::double precision, s.before / 3 % 4,
                CASE WHEN s.before % 2 = 0 THEN 19 ELSE 12 END, true, 2
            FROM days s WHERE s.before % 3 = 1),
        -- Single messages about orders.
        orders AS (
            SELECT s.before, s.day, 'native', s.before || ' order ' || i, NULL::double precision, 4 + i % 2, 8 + (i * 2 + s.before) % 14, false, 1
            FROM days s, generate_series(1, 6) AS i),
        texts(vendor, choice, title, body, campaign) AS (VALUES
            ('rationalowl', 0, '공지사항', '서비스 점검이 오늘 밤 2시에 시작됩니다.', NULL),
            ('rationalowl', 1, '포인트 적립', '이번 주에 적립한 포인트를 확인하세요.', NULL),
            ('rationalowl', 2, '배송 출발', '주문하신 상품이 출발했습니다.', NULL),
            ('rationalowl', 3, '쿠폰 도착', '오늘까지 사용할 수 있는 쿠폰이 있습니다.', NULL),
            ('upmc', 0, '결재 요청', '승인할 문서가 1건 있습니다.', NULL),
            ('upmc', 1, '회의 알림', '10분 후에 주간 회의가 시작됩니다.', NULL),
            ('upmc', 2, '근태 알림', '출근 기록을 확인하세요.', NULL),
            ('ipns', 0, 'Approval', 'A document needs your approval.', NULL), ('ipns', 1, 'Schedule', 'Your shift of tomorrow has changed.', NULL),
            ('ipns', 2, 'Notice', 'The office closes at 18:00 today.', NULL),
            ('braze', 0, 'Your cart is waiting', 'Two items are still in your cart.', NULL),
            ('braze', 1, 'Back in stock', 'The item on your list is available again.', NULL),
            ('braze', 2, 'Price drop', 'An item that you looked at costs less now.', NULL),
            ('notificationhubs', 0, 'Order update', 'Your order is ready for pickup.', NULL),
            ('notificationhubs', 1, 'Store news', 'Opening hours change next week.', NULL),
            ('native', 0, 'Winter sale starts now', 'Only today: 30% off everything.', 'generated: winter sale'),
            ('native', 1, 'Weekly offers', 'New offers for this week.', 'generated: weekly offers'),
            ('native', 2, 'New in the app', 'Version 2.5 finds products by a photo.', 'generated: app update'),
            ('native', 3, '주말 특가', '이번 주말에만 드리는 특가 상품입니다.', 'generated: weekend'),
            ('native', 4, 'Order shipped', 'Your order is on its way.', 'generated: orders'),
            ('native', 5, 'Order delivered', 'Your order was delivered.', 'generated: orders')),
        planned AS (
            SELECT x.*, (x.day + (x.hour + pg_temp.part('minute' || x.name)) * interval '1 hour') AT TIME ZONE d.zone AS due
            FROM (SELECT * FROM announcements UNION ALL SELECT * FROM campaigns UNION ALL SELECT * FROM orders) x, demo d)
        SELECT p.name, p.before, p.vendor, p.part, p.is_whole, p.lane, t.title, t.body, t.campaign, r.due_at,
            pg_temp.id(r.due_at, 'demo message ' || p.name) AS message,
            floor(extract(epoch FROM r.due_at) / 86400)::integer AS due_day,
            -- One afternoon the push service was slow, and one message was too large.
            p.before = 9 AND p.hour BETWEEN 12 AND 17 AS is_slow, p.name = '16 upmc 1' AS is_too_large
        FROM planned p JOIN texts t ON t.vendor = p.vendor AND t.choice = p.choice
        CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', p.due) AS due_at) r, demo d
        WHERE p.due < d.now - interval '5 minutes';


        """

    /// The deliveries of these messages with their outcomes and reports.
    private static let outcomes = """
        -- The targets: devices that exist at the time, and phone numbers that nobody has registered.
        CREATE TEMP TABLE demo_target AS
        SELECT m.message, m.vendor AS sent_through, m.due_at, m.due_day, m.is_whole, m.is_slow, m.is_too_large, m.name || ' ' || v.n AS name, v.n, v.vendor,
            v.device, v.identity, v.identity AS target, v.key, v.client,
            CASE WHEN v.vendor = 'rationalowl' AND m.vendor = 'rationalowl' THEN 'phone:' || v.phone END AS address,
            v.expired_at <= m.due_at AS is_expired, v.opted_out_at <= m.due_at AS is_opted_out,
            row_number() OVER (PARTITION BY v.n, v.expired_at <= m.due_at ORDER BY m.due_at, m.message) AS place
        FROM demo_message m JOIN demo_device v ON v.created_at < m.due_at AND (v.ended_at IS NULL OR v.ended_at > m.due_at)
            AND (m.vendor = 'native' OR m.vendor = v.vendor)
        WHERE CASE WHEN m.part IS NULL THEN v.n = 1 + floor(600 * pg_temp.part('customer' || m.name))::integer
            ELSE pg_temp.part('target' || m.name || v.n) < m.part END
        UNION ALL
        SELECT m.message, m.vendor, m.due_at, m.due_day, false, false, false, m.name || ' unknown ' || i, 0, m.vendor, NULL, NULL,
            md5('demo target ' || m.name || i)::uuid, NULL, NULL, 'phone:0109999' || lpad(i::text, 4, '0'), false, false, 0
        FROM demo_message m, generate_series(1, 2) AS i WHERE m.vendor = 'rationalowl' AND pg_temp.part('unknown' || m.name || i) < 0.5;

        CREATE TEMP TABLE demo_delivery AS
        WITH ended AS MATERIALIZED (
            SELECT t.*, CASE
                    WHEN t.identity IS NULL THEN 'noDevice' WHEN t.is_opted_out THEN 'preference'
                    WHEN t.is_expired AND t.place > 1 THEN 'noDevice' END AS suppressed,
                t.is_expired AND t.place = 1 AS is_rejected, t.is_slow AND pg_temp.part('late' || t.name) < 0.12 AS is_late,
                pg_temp.part('certain' || t.name) >= 0.002 AS is_certain,
                CASE WHEN t.is_slow THEN 4000 + floor(26000 * pg_temp.part('slow' || t.name))
                    ELSE 22 + floor(160 * pg_temp.part('answer' || t.name) ^ 4) END::integer AS answer
            FROM demo_target t),
        states AS MATERIALIZED (
            SELECT e.*, CASE
                    WHEN e.suppressed IS NOT NULL THEN 'suppressed' WHEN e.is_too_large THEN 'failed' WHEN e.is_late THEN 'expired'
                    WHEN e.is_rejected THEN 'failed' ELSE 'sent' END AS outcome
            FROM ended e),
        times AS MATERIALIZED (
            SELECT s.*, s.suppressed IS NULL AND NOT s.is_too_large AS is_pushed, s.due_at + CASE
                    WHEN s.outcome = 'expired' THEN interval '30 minutes'
                    ELSE (8 + floor(CASE WHEN s.is_whole THEN 1800 ELSE 120 END * pg_temp.part('turn' || s.name))
                        + s.answer) * interval '1 millisecond' END AS sent_at,
                CASE s.vendor WHEN 'rationalowl' THEN 0.87 WHEN 'upmc' THEN 0.83 WHEN 'ipns' THEN 0.79 WHEN 'native' THEN 0.91 ELSE 0 END AS receives,
                CASE s.vendor WHEN 'notificationhubs' THEN 0 WHEN 'braze' THEN 0.14 ELSE 0.31 END AS reads
            FROM states s),
        reports AS MATERIALIZED (
            SELECT t.*, CASE WHEN t.outcome = 'sent' AND pg_temp.part('receipt' || t.name) < t.receives THEN t.sent_at
                    + (300 + floor(CASE WHEN pg_temp.part('online' || t.name) < 0.8 THEN 6000 ELSE 9000000 END * pg_temp.part('delay' || t.name) ^ 3))
                        * interval '1 millisecond'
                    END AS received_at,
                -- An app without receipts that was opened reports both at once.
                t.sent_at + (9000 + floor(14400000 * pg_temp.part('open' || t.name) ^ 3)) * interval '1 millisecond' AS opened_at,
                t.outcome = 'sent' AND pg_temp.part('read' || t.name) < t.reads AS is_opened
            FROM times t),
        known AS (
            SELECT r.*, d.tenant, d.app, CASE WHEN r.received_at < d.now THEN r.received_at
                    WHEN r.vendor = 'braze' AND r.is_opened AND r.opened_at < d.now THEN r.opened_at END AS received
            FROM reports r, demo d),
        read AS (
            SELECT k.*, CASE WHEN k.is_opened AND k.received IS NOT NULL AND greatest(k.opened_at, k.received) < d.now
                    THEN greatest(k.opened_at, k.received) END AS read
            FROM known k, demo d)
        SELECT r.*, CASE WHEN r.read IS NOT NULL THEN 'read' WHEN r.received IS NOT NULL THEN 'received' ELSE r.outcome END AS state,
            CASE WHEN r.suppressed IS NOT NULL THEN r.suppressed WHEN r.is_too_large THEN 'PayloadTooLarge'
                WHEN r.outcome = 'failed' THEN 'Unregistered' END AS reason
        FROM read r;

        CREATE TEMP TABLE demo_seen AS
        SELECT e.n, max(greatest(e.received, e.read)) AS seen_at, min(e.sent_at) FILTER (WHERE e.reason = 'Unregistered') AS rejected_at
        FROM demo_delivery e GROUP BY e.n;
        CREATE TEMP TABLE demo_size AS SELECT e.message, count(*) AS count FROM demo_delivery e GROUP BY e.message;
        ANALYZE demo_delivery, demo_seen, demo_size;


        """

    /// The rows of the devices, messages and deliveries.
    private static let rows = """
        -- Weeks without a partition would be filled in the default partition, from which maintenance moves the rows.
        DO $$
        BEGIN
            PERFORM gateway.make_delivery_partitions(floor(extract(epoch FROM now()) / 86400)::integer - 35, 6);
        EXCEPTION WHEN lock_not_available THEN NULL;
        END $$;

        INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, token, token_state, token_reason,
            token_registered_at, created_at, seen_at)
        SELECT d.tenant, v.device, d.app, 'ios', 'production', v.token, CASE WHEN x.rejected_at IS NULL THEN 'active' ELSE 'invalid' END,
            CASE WHEN x.rejected_at IS NOT NULL THEN 'Unregistered' END, v.created_at, v.created_at, coalesce(x.seen_at, v.created_at)
        FROM demo d, demo_device v LEFT JOIN demo_seen x ON x.n = v.n;

        INSERT INTO gateway.identity (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, accepts_push,
            registered_at, created_at, user_since, client, client_number)
        SELECT d.tenant, v.identity, d.app, v.vendor, v.key, v.device, CASE WHEN v.ended_at IS NULL THEN 'active' ELSE 'unregistered' END,
            CASE WHEN v.vendor <> 'rationalowl' THEN v.key END, 'Generated ' || v.n, v.phone, v.phone, v.opted_out_at IS NULL, v.created_at, v.created_at,
            v.created_at, v.client, gateway.client_number(d.tenant, d.app, v.client)
        FROM demo d, demo_device v;

        INSERT INTO gateway.identity_count (tenant_id, app_id, vendor, bucket, active)
        SELECT d.tenant, d.app, v.vendor, 0, count(*) FROM demo d, demo_device v WHERE v.ended_at IS NULL GROUP BY d.tenant, d.app, v.vendor;

        INSERT INTO gateway.message (tenant_id, message_id, app_id, vendor, state, lane, content, accepted_at, due_at, due_day, expires_at, recipients,
            expanded, is_counted, submitted_by)
        SELECT d.tenant, m.message, d.app, m.vendor, 'done', m.lane,
            json_strip_nulls(json_build_object('title', m.title, 'body', m.body, 'campaign', m.campaign)), m.due_at, m.due_at, m.due_day,
            m.due_at + CASE WHEN m.is_slow THEN interval '30 minutes' ELSE interval '3 days' END, x.count, CASE WHEN m.is_whole THEN x.count ELSE 0 END,
            m.is_whole, 'generated'
        FROM demo d, demo_message m JOIN demo_size x ON x.message = m.message;

        INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state, reason,
            transport, transport_id, is_certain, attempts, payload_bytes, sent_at, received_at, read_at, device_vendor, transport_ms, client)
        SELECT e.tenant, e.due_day, e.message, e.target, e.app, e.sent_through, e.identity, e.device,
            CASE WHEN e.vendor <> 'rationalowl' THEN e.key END, e.address, e.state, e.reason, CASE WHEN e.is_pushed THEN 'apns' END,
            CASE WHEN e.is_pushed THEN md5('demo push ' || e.name)::uuid END, e.is_certain OR e.outcome <> 'sent',
            CASE WHEN e.outcome = 'expired' THEN 3 WHEN e.is_pushed THEN 1 ELSE 0 END,
            CASE WHEN e.is_pushed THEN 180 + floor(120 * pg_temp.part('size' || e.sent_through || e.vendor))::integer ELSE 0 END,
            date_trunc('milliseconds', e.sent_at), date_trunc('milliseconds', e.received), date_trunc('milliseconds', e.read),
            CASE WHEN e.sent_through = 'native' THEN e.vendor END,
            CASE WHEN e.is_pushed AND e.outcome <> 'expired' AND e.is_certain THEN e.answer END,
            CASE WHEN e.is_pushed THEN i.client_number END
        FROM demo_delivery e LEFT JOIN gateway.identity i ON i.tenant_id = e.tenant AND i.identity_id = e.identity;


        """

    /// The counts, the events and the end of the transaction. Prints the numbers of the history.
    private static let counts = """
        -- The counts, from the deliveries as they are stored.
        WITH stored AS (
            SELECT m.due_at AS due, m.is_counted, x.*, coalesce(x.device_vendor, CASE WHEN x.vendor <> 'native' THEN x.vendor ELSE '' END) AS dialect,
                gateway.stage_of(x.state, x.transport, x.is_certain) AS stage
            FROM demo d JOIN gateway.message m ON m.tenant_id = d.tenant AND m.app_id = d.app
            JOIN gateway.delivery x ON x.tenant_id = m.tenant_id AND x.due_day = m.due_day AND x.message_id = m.message_id),
        groups AS (
            SELECT s.tenant_id, floor(extract(epoch FROM s.due) / 900)::integer AS quarter, s.app_id, s.vendor, s.dialect,
                coalesce(s.transport, '') AS transport,
                CASE WHEN s.is_counted THEN s.message_id END AS message_id, s.stage, s.reason, count(*) AS count,
                count(*) FILTER (WHERE s.attempts > 0) AS tried, count(s.received_at) AS received, count(s.read_at) AS read
            FROM stored s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9),
        rows AS (
            SELECT g.tenant_id, g.quarter, g.app_id, g.vendor, g.dialect, g.transport, g.message_id, 0 AS targets,
                coalesce(sum(g.count) FILTER (WHERE g.stage = 'suppressed'), 0) AS suppressed,
                    coalesce(sum(g.count) FILTER (WHERE g.stage = 'expired'), 0) AS expired,
                coalesce(sum(g.tried) FILTER (WHERE g.stage = 'expired'), 0) AS tried,
                    coalesce(sum(g.count) FILTER (WHERE g.stage = 'unsendable'), 0) AS unsendable,
                coalesce(sum(g.count) FILTER (WHERE g.stage = 'accepted'), 0) AS accepted,
                    coalesce(sum(g.count) FILTER (WHERE g.stage = 'uncertain'), 0) AS uncertain,
                coalesce(sum(g.count) FILTER (WHERE g.stage = 'rejected'), 0) AS rejected, sum(g.received) AS received, sum(g.read) AS read,
                json_object_agg(g.stage || ':' || g.reason, g.count) FILTER (WHERE g.reason IS NOT NULL) AS reasons
            FROM groups g GROUP BY 1, 2, 3, 4, 5, 6, 7
            UNION ALL
            SELECT g.tenant_id, g.quarter, g.app_id, g.vendor, g.dialect, '', g.message_id, sum(g.count), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL
            FROM groups g GROUP BY 1, 2, 3, 4, 5, 7)
        INSERT INTO gateway.counter_delta (tenant_id, quarter, app_id, vendor, device_vendor, transport, message_id, targets,
            suppressed, expired, expired_tried,
            unsendable, accepted, uncertain, rejected, received, read, reasons)
        SELECT r.tenant_id, r.quarter, r.app_id, r.vendor, r.dialect, r.transport, r.message_id, r.targets, r.suppressed, r.expired, r.tried, r.unsendable,
            r.accepted, r.uncertain, r.rejected, r.received, r.read, r.reasons
        FROM rows r;

        -- The event reader counts from the beginning of the history. It counts changes of devices by the times of their events, which are now, so
        -- these are counted here.
        INSERT INTO gateway.event_reader AS r (tenant_id, cursor, since, key)
        SELECT d.tenant, 0, d.today AT TIME ZONE d.zone - interval '29 days', uuid_send(gen_random_uuid()) FROM demo d
        ON CONFLICT (tenant_id) DO UPDATE SET since = least(r.since, excluded.since);
        INSERT INTO gateway.device_change (tenant_id, day, app_id, gained, lost, invalidated)
        SELECT d.tenant, x.day, d.app, count(*) FILTER (WHERE x.kind = 'gained'), count(*) FILTER (WHERE x.kind = 'lost'),
            count(*) FILTER (WHERE x.kind = 'invalidated')
        FROM demo d, (
            SELECT pg_temp.local_day(v.created_at) AS day, 'gained' AS kind FROM demo_device v
            UNION ALL SELECT pg_temp.local_day(v.ended_at), 'lost' FROM demo_device v WHERE v.ended_at IS NOT NULL
            UNION ALL SELECT pg_temp.local_day(e.sent_at), 'invalidated' FROM demo_delivery e WHERE e.reason = 'Unregistered') x
        GROUP BY d.tenant, x.day, d.app;

        -- The events, as acceptances, outcomes and receipts write them. Their times are those of this transaction.
        DO $$
        DECLARE
            m record;
        BEGIN
            FOR m IN
                SELECT e.tenant, e.app, e.sent_through, e.message, e.due_day, array_agg(e.target ORDER BY e.target) AS targets,
                    array_agg(CASE WHEN e.outcome = 'sent' THEN 'sent' ELSE e.outcome END ORDER BY e.target) AS outcomes,
                    array_agg(e.target ORDER BY e.target) FILTER (WHERE e.received IS NOT NULL AND e.received IS DISTINCT FROM e.read) AS received,
                    array_agg(e.target ORDER BY e.target) FILTER (WHERE e.read IS NOT NULL) AS read,
                    array_agg(CASE WHEN e.received = e.read THEN 'sent' ELSE 'received' END ORDER BY e.target) FILTER (WHERE e.read IS NOT NULL) AS read_before
                FROM demo_delivery e GROUP BY 1, 2, 3, 4, 5 ORDER BY e.message
            LOOP
                PERFORM gateway.log_events(m.tenant, m.app, m.sent_through, NULL, ARRAY['accepted'], ARRAY[m.message], ARRAY[m.due_day], ARRAY[NULL::uuid]);
                PERFORM gateway.log_events(m.tenant, m.app, m.sent_through, NULL, m.outcomes, ARRAY[m.message], ARRAY[m.due_day], m.targets);
                IF m.received IS NOT NULL THEN
                    PERFORM gateway.log_events(
                        m.tenant, m.app, m.sent_through, NULL, ARRAY['received'], ARRAY[m.message], ARRAY[m.due_day], m.received, ARRAY['sent']);
                END IF;
                IF m.read IS NOT NULL THEN
                    PERFORM gateway.log_events(
                        m.tenant, m.app, m.sent_through, NULL, ARRAY['read'], ARRAY[m.message], ARRAY[m.due_day], m.read, m.read_before);
                END IF;
            END LOOP;
        END $$;
        COMMIT;
        ANALYZE gateway.device, gateway.identity, gateway.message, gateway.delivery;

        -- Latencies, campaigns and hours are counted by a node within seconds.
        DO $$
        BEGIN
            FOR i IN 1 .. 300 LOOP
                EXIT WHEN (SELECT r.cursor >= gateway.last_event(d.tenant) FROM demo d JOIN gateway.event_reader r ON r.tenant_id = d.tenant);
                PERFORM pg_sleep(0.2);
            END LOOP;
        END $$;
        SELECT to_char(count(*), 'FM999,999') || ' deliveries of ' || count(DISTINCT message) || ' messages to '
            || (SELECT count(*) FROM demo_device) || ' devices' FROM demo_delivery;


        """
}
