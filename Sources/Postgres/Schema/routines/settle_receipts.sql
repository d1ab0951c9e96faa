-- Records receipts of deliveries in parallel arrays; entries with nulls are skipped. Returns the outcomes in their positions; null marks a receipt that
-- must be recorded alone: its delivery is missing or failed, appears twice in the arrays, or is locked by another transaction.
--
-- The first receipt of a delivery finds it in state 'sent' and writes it without reading it first; only those not found so are looked up. Works day by day,
-- because the planner then sees one partition; the join settings keep it from reading a partition whole.
-- `unnest((SELECT …))` hides the size of a set from the planner. It then estimates all sets alike and keeps its plans; otherwise it plans small sets at each
-- call, which costs more than the receipts. The statements about deliveries do not hide it: a plan that is kept locks every partition.
--
-- Deliveries are locked in the order of their key; those that are looked up, only if no other transaction has locked them. Then follow, under the same
-- condition, the identities that were seen (`note_sightings`) and the rows of the inboxes (only with p_has_inbox), and then the event log.
CREATE OR REPLACE FUNCTION gateway.settle_receipts(
    p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamptz[], p_node text,
    p_has_inbox boolean DEFAULT false)
RETURNS text[] LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_outcomes text[] := array_fill(NULL::text, ARRAY[coalesce(cardinality(p_messages), 0)]);
    -- The receipts that are recorded, with the states of their deliveries before, the transports and the dialects of the devices.
    v_places integer[] := '{}';
    v_before text[] := '{}';
    v_ways text[] := '{}';
    v_devices text[] := '{}';
    v_repeated integer := 0;
    v_found record;
    -- The receipts of a day, and those of them that are left, as parallel arrays: Citus does not accept a subscript with a column in SET.
    v record;
    r record;
    v_day integer;
    k integer;
    g record;
BEGIN
    -- One receipt per delivery: a second one in the arrays is recorded alone, afterwards.
    FOR v IN
        SELECT y.day, array_agg(y.o) AS places, array_agg(y.message) AS messages, array_agg(y.identity) AS identities,
            array_agg(y.kind) AS kinds, array_agg(y.at) AS times
        FROM (
            SELECT DISTINCT ON (x.day, x.message, x.identity) x.day, x.o::integer AS o, x.message, x.identity, x.kind, x.at
            FROM unnest(p_identities, p_messages, p_days, p_kinds, p_at) WITH ORDINALITY AS x(identity, message, day, kind, at, o)
            WHERE x.day IS NOT NULL AND x.identity IS NOT NULL ORDER BY x.day, x.message, x.identity, x.o) y
        GROUP BY y.day ORDER BY y.day
    LOOP
        v_day := v.day;
        WITH w AS (
            UPDATE gateway.delivery d SET state = u.kind, received_at = u.at, read_at = CASE WHEN u.kind = 'read' THEN u.at END
                FROM unnest(v.places, v.messages, v.identities, v.kinds, v.times)
                    AS u(o, message, identity, kind, at)
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message
                    AND d.target_id = u.identity AND d.state = 'sent'
                RETURNING u.o, d.transport, d.device_vendor)
        SELECT array_agg(w.o) AS places, array_agg(w.transport) AS ways, array_agg(w.device_vendor) AS devices INTO v_found FROM w;
        IF v_found.places IS NOT NULL THEN
            v_places := v_places || v_found.places;
            v_before := v_before || array_fill('sent'::text, ARRAY[cardinality(v_found.places)]);
            v_ways := v_ways || v_found.ways;
            v_devices := v_devices || v_found.devices;
            FOREACH k IN ARRAY v_found.places LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;
        CONTINUE WHEN coalesce(cardinality(v_found.places), 0) = cardinality(v.places);

        SELECT array_agg(y.o) AS places, array_agg(y.message) AS messages, array_agg(y.identity) AS identities,
                array_agg(y.kind) AS kinds, array_agg(y.at) AS times
            INTO r FROM (
                SELECT u.o, u.message, u.identity, u.kind, u.at
                FROM unnest(v.places, v.messages, v.identities, v.kinds, v.times) WITH ORDINALITY
                    AS u(o, message, identity, kind, at, place)
                WHERE v_outcomes[u.o] IS NULL ORDER BY u.place) y;
        -- Their keys may be before those that are locked above, so this does not wait: a delivery that another transaction has locked is recorded alone.
        WITH h AS (
            SELECT u.o, u.at, d.message_id, d.target_id
            FROM unnest(r.places, r.messages, r.identities, r.kinds, r.times)
                AS u(o, message, identity, kind, at)
            JOIN gateway.delivery d ON d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message
                AND d.target_id = u.identity
            WHERE d.state = 'received' AND u.kind = 'read'
                -- A row without an outcome is recorded alone.
                AND d.sent_at IS NOT NULL
            FOR NO KEY UPDATE OF d SKIP LOCKED),
        w AS (
            UPDATE gateway.delivery d SET state = 'read', read_at = h.at FROM h
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = h.message_id AND d.target_id = h.target_id
                RETURNING h.o, d.transport, d.device_vendor)
        SELECT array_agg(w.o) AS places, array_agg(w.transport) AS ways, array_agg(w.device_vendor) AS devices INTO v_found FROM w;
        IF v_found.places IS NOT NULL THEN
            v_places := v_places || v_found.places;
            v_before := v_before || array_fill('received'::text, ARRAY[cardinality(v_found.places)]);
            v_ways := v_ways || v_found.ways;
            v_devices := v_devices || v_found.devices;
            FOREACH k IN ARRAY v_found.places LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;

        -- A delivery with an equal or later receipt: repeated.
        FOR k IN
            SELECT u.o
            FROM unnest(r.places, r.messages, r.identities, r.kinds) AS u(o, message, identity, kind)
            JOIN gateway.delivery d ON d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message
                AND d.target_id = u.identity
            WHERE v_outcomes[u.o] IS NULL AND (d.state = 'read' OR d.state = 'received' AND u.kind = 'received')
        LOOP
            v_outcomes[k] := 'repeated';
            v_repeated := v_repeated + 1;
        END LOOP;
    END LOOP;
    PERFORM gateway.note_sightings(
        p_tenant, p_app, ARRAY(SELECT u.id FROM unnest(p_identities, v_outcomes) AS u(id, outcome) WHERE u.outcome IS NOT NULL), now());
    IF p_has_inbox THEN
        -- The row of a repeated receipt may be locked by a poll that waits for a delivery of this set. A row that stays is removed by that poll or the next one.
        DELETE FROM gateway.inbox_open o USING (
            SELECT x.identity_id, x.message_id
            FROM unnest((SELECT p_identities), (SELECT p_messages), (SELECT v_outcomes)) AS u(identity, message, result)
            JOIN gateway.inbox_open x
                ON x.tenant_id = p_tenant AND x.identity_id = u.identity AND x.message_id = u.message
            WHERE u.result IS NOT NULL ORDER BY x.identity_id, x.message_id FOR UPDATE OF x SKIP LOCKED) AS y
            WHERE o.tenant_id = p_tenant AND o.identity_id = y.identity_id AND o.message_id = y.message_id;
    END IF;
    IF v_repeated > 0 THEN PERFORM gateway.note_orphan(p_tenant, p_app, 'repeated', NULL, v_repeated); END IF;
    IF cardinality(v_places) = 0 THEN RETURN v_outcomes; END IF;

    -- As `append_counts` does, for the whole set.
    INSERT INTO gateway.counter_delta (tenant_id, quarter, app_id, vendor, device_vendor, transport, message_id, received, read)
        SELECT p_tenant, floor(extract(epoch FROM m.due_at) / 900)::integer, p_app, m.vendor,
            coalesce(x.device, CASE WHEN m.vendor <> 'native' THEN m.vendor ELSE '' END), coalesce(x.way, ''),
            CASE WHEN m.is_counted THEN m.message_id END, sum(x.received), sum(x.read)
        FROM (
            SELECT p_messages[u.o] AS message, u.way, u.device, count(*) FILTER (WHERE u.before = 'sent') AS received,
                count(*) FILTER (WHERE p_kinds[u.o] = 'read') AS read
            FROM unnest((SELECT v_places), (SELECT v_before), (SELECT v_ways), (SELECT v_devices)) AS u(o, before, way, device)
            GROUP BY 1, u.way, u.device) x
        -- OFFSET 0: a join may read all messages of the tenant.
        CROSS JOIN LATERAL (
            SELECT i.vendor, i.due_at, i.is_counted, i.message_id FROM gateway.message i
            WHERE i.tenant_id = p_tenant AND i.message_id = x.message OFFSET 0) AS m
        GROUP BY 2, m.vendor, 5, 6, 7
        -- Nothing conflicts. On Citus, the rows then do not become a COPY, which row-level security refuses.
        ON CONFLICT DO NOTHING;
    -- In the order of the receipts; each message is looked up once.
    FOR g IN
        SELECT y.vendor, y.sender_id, array_agg(p_kinds[y.o]) AS kinds, array_agg(y.message_id) AS messages, array_agg(y.due_day) AS days,
            array_agg(p_identities[y.o]) AS targets, array_agg(y.before) AS before
        FROM (
            SELECT m.vendor, m.sender_id, m.message_id, m.due_day, u.o, u.before
            FROM (
                SELECT p_messages[n.o] AS message, array_agg(n.o) AS places, array_agg(n.before) AS befores
                FROM unnest((SELECT v_places), (SELECT v_before)) AS n(o, before) GROUP BY 1) x
            CROSS JOIN LATERAL (
                SELECT i.vendor, i.sender_id, i.message_id, i.due_day FROM gateway.message i
                WHERE i.tenant_id = p_tenant AND i.message_id = x.message OFFSET 0) AS m
            CROSS JOIN LATERAL unnest(x.places, x.befores) AS u(o, before)
            ORDER BY m.vendor, m.sender_id, u.o) y
        GROUP BY y.vendor, y.sender_id ORDER BY min(y.o)
    LOOP
        PERFORM gateway.log_events(p_tenant, p_app, g.vendor, g.sender_id, g.kinds, g.messages, g.days, g.targets, g.before);
    END LOOP;
    RETURN v_outcomes;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_receipts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_receipts TO gateway_call, gateway_engine;
