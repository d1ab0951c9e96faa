-- Records receipts of deliveries in parallel arrays; entries with nulls are skipped. Returns the outcomes in their positions; null marks a receipt that
-- must be recorded alone: its delivery is missing or failed, appears twice in the arrays, or is locked by another transaction.
--
-- The first receipt of a delivery finds it in state 'sent' and writes it without reading it first; only those not found so are looked up. Works day by day,
-- because the planner then sees one partition; the join settings keep it from reading a partition whole. Deliveries are locked in the order of their key;
-- those that are looked up, only if no other transaction has locked them. Then follow, under the same condition, the identities that were seen
-- (`note_sightings`) and the rows of the inboxes (only with p_has_inbox), and then the event log.
CREATE OR REPLACE FUNCTION gateway.settle_receipts(
    p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamptz[], p_node text,
    p_has_inbox boolean DEFAULT false)
RETURNS text[] LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_outcomes text[] := array_fill(NULL::text, ARRAY[coalesce(cardinality(p_messages), 0)]);
    v_first integer[] := '{}';
    v_later integer[] := '{}';
    -- The transports and the dialects of the devices of the deliveries in v_first and v_later.
    v_first_ways text[] := '{}';
    v_later_ways text[] := '{}';
    v_first_devices text[] := '{}';
    v_later_devices text[] := '{}';
    v_ways text[];
    v_devices text[];
    v_found integer[];
    -- The receipts of a day as parallel arrays: Citus does not accept a subscript with a column in SET.
    v record;
    v_day integer;
    k integer;
    g record;
BEGIN
    FOR v_day IN SELECT DISTINCT x.day FROM unnest(p_days) AS x(day) WHERE x.day IS NOT NULL ORDER BY x.day LOOP
        -- One receipt per delivery: a second one in the arrays is recorded alone, afterwards.
        SELECT coalesce(array_agg(y.o ORDER BY y.message, y.identity), '{}') AS places,
                array_agg(y.message ORDER BY y.message, y.identity) AS messages,
                array_agg(y.identity ORDER BY y.message, y.identity) AS identities,
                array_agg(y.kind ORDER BY y.message, y.identity) AS kinds, array_agg(y.at ORDER BY y.message, y.identity) AS times
            INTO v FROM (
                SELECT DISTINCT ON (x.message, x.identity) x.o::integer AS o, x.message, x.identity, x.kind, x.at
                FROM unnest(p_identities, p_messages, p_days, p_kinds, p_at) WITH ORDINALITY AS x(identity, message, day, kind, at, o)
                WHERE x.day = v_day AND x.identity IS NOT NULL ORDER BY x.message, x.identity, x.o) y;

        WITH w AS (
            UPDATE gateway.delivery d SET state = u.kind, received_at = u.at, read_at = CASE WHEN u.kind = 'read' THEN u.at END
                FROM unnest(v.places, v.messages, v.identities, v.kinds, v.times) AS u(o, message, identity, kind, at)
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message
                    AND d.target_id = u.identity AND d.state = 'sent'
                RETURNING u.o, d.transport, d.device_vendor)
        SELECT array_agg(w.o), array_agg(w.transport), array_agg(w.device_vendor) INTO v_found, v_ways, v_devices FROM w;
        IF v_found IS NOT NULL THEN
            v_first := v_first || v_found;
            v_first_ways := v_first_ways || v_ways;
            v_first_devices := v_first_devices || v_devices;
            FOREACH k IN ARRAY v_found LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;
        CONTINUE WHEN coalesce(cardinality(v_found), 0) = cardinality(v.places);

        SELECT array_agg(u.o ORDER BY u.place) AS places, array_agg(u.message ORDER BY u.place) AS messages,
                array_agg(u.identity ORDER BY u.place) AS identities, array_agg(u.kind ORDER BY u.place) AS kinds,
                array_agg(u.at ORDER BY u.place) AS times
            INTO v FROM unnest(v.places, v.messages, v.identities, v.kinds, v.times) WITH ORDINALITY
                AS u(o, message, identity, kind, at, place)
            WHERE v_outcomes[u.o] IS NULL;
        -- Their keys may be before those that are locked above, so this does not wait: a delivery that another transaction has locked is recorded alone.
        WITH h AS (
            SELECT u.o, u.at, d.message_id, d.target_id
            FROM unnest(v.places, v.messages, v.identities, v.kinds, v.times) AS u(o, message, identity, kind, at)
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
        SELECT array_agg(w.o), array_agg(w.transport), array_agg(w.device_vendor) INTO v_found, v_ways, v_devices FROM w;
        IF v_found IS NOT NULL THEN
            v_later := v_later || v_found;
            v_later_ways := v_later_ways || v_ways;
            v_later_devices := v_later_devices || v_devices;
            FOREACH k IN ARRAY v_found LOOP v_outcomes[k] := 'recorded'; END LOOP;
        END IF;

        -- A delivery with an equal or later receipt: repeated.
        FOR k IN
            SELECT u.o FROM unnest(v.places, v.messages, v.identities, v.kinds) AS u(o, message, identity, kind)
            JOIN gateway.delivery d ON d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message
                AND d.target_id = u.identity
            WHERE v_outcomes[u.o] IS NULL AND (d.state = 'read' OR d.state = 'received' AND u.kind = 'received')
        LOOP v_outcomes[k] := 'repeated'; END LOOP;
    END LOOP;
    PERFORM gateway.note_sightings(
        p_tenant, p_app, ARRAY(SELECT u.id FROM unnest(p_identities, v_outcomes) AS u(id, outcome) WHERE u.outcome IS NOT NULL), now());
    IF p_has_inbox THEN
        -- The row of a repeated receipt may be locked by a poll that waits for a delivery of this set. A row that stays is removed by that poll or the next one.
        DELETE FROM gateway.inbox_open o USING (
            SELECT x.identity_id, x.message_id FROM unnest(p_identities, p_messages, v_outcomes) AS u(identity, message, result)
            JOIN gateway.inbox_open x
                ON x.tenant_id = p_tenant AND x.identity_id = u.identity AND x.message_id = u.message
            WHERE u.result IS NOT NULL ORDER BY x.identity_id, x.message_id FOR UPDATE OF x SKIP LOCKED) AS y
            WHERE o.tenant_id = p_tenant AND o.identity_id = y.identity_id AND o.message_id = y.message_id;
    END IF;
    IF cardinality(v_first) + cardinality(v_later) = 0 THEN RETURN v_outcomes; END IF;

    FOR g IN
        SELECT m.vendor, min(m.due_at) AS due_at, CASE WHEN m.is_counted THEN m.message_id END AS message, x.transport, x.device,
            count(*) FILTER (WHERE x.is_first) AS received, count(*) FILTER (WHERE p_kinds[x.o] = 'read') AS read
        FROM (
            SELECT f.o, f.transport, f.device, true AS is_first FROM unnest(v_first, v_first_ways, v_first_devices) AS f(o, transport, device)
            UNION ALL SELECT l.o, l.transport, l.device, false FROM unnest(v_later, v_later_ways, v_later_devices) AS l(o, transport, device)) x
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.vendor, floor(extract(epoch FROM m.due_at) / 900), 3, x.transport, x.device
    LOOP
        PERFORM gateway.append_counts(
            p_tenant, p_app, g.vendor, g.due_at, g.message, p_device => g.device, p_transport => g.transport, p_received => g.received,
            p_read => g.read);
    END LOOP;
    FOR g IN
        SELECT m.vendor, m.sender_id, array_agg(p_kinds[x.o] ORDER BY x.o) AS kinds, array_agg(m.message_id ORDER BY x.o) AS messages,
            array_agg(m.due_day ORDER BY x.o) AS days, array_agg(p_identities[x.o] ORDER BY x.o) AS targets,
            array_agg(x.before ORDER BY x.o) AS before
        FROM (
            SELECT f.o, 'sent'::text AS before FROM unnest(v_first) AS f(o) UNION ALL SELECT l.o, 'received' FROM unnest(v_later) AS l(o)) x
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.vendor, m.sender_id ORDER BY min(x.o)
    LOOP
        PERFORM gateway.log_events(p_tenant, p_app, g.vendor, g.sender_id, g.kinds, g.messages, g.days, g.targets, g.before);
    END LOOP;
    RETURN v_outcomes;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_receipts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_receipts TO gateway_call, gateway_engine;
