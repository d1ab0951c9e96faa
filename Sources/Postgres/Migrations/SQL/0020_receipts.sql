-- Receipts of many devices at once: what each costs alone (planning for the week's partition, a counter's and the event head's new version) is paid once.

-- Receipts of deliveries that were sent, in parallel arrays; nulls are passed over. Gives the outcomes in their places: null is for what has to be looked
-- at alone, which is whatever is not there yet, failed, or stands here twice. Rows are locked in the order of their key, then counters, then the event head.
--
-- By day, because the planner then sees one partition. The joins are kept from reading a partition whole.
CREATE FUNCTION gateway.settle_receipts(
    p_tenant text, p_app text, p_identities uuid[], p_messages uuid[], p_days integer[], p_kinds text[], p_at timestamptz[], p_node text)
RETURNS text[] LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_outcomes text[] := array_fill(NULL::text, ARRAY[coalesce(cardinality(p_messages), 0)]);
    v_written integer[] := '{}';
    v_first boolean[] := '{}';
    v_day integer;
    v record;
    g record;
BEGIN
    FOR v_day IN SELECT DISTINCT x.day FROM unnest(p_days) AS x(day) WHERE x.day IS NOT NULL ORDER BY x.day LOOP
        WITH seen AS (
            SELECT u.o, u.kind, u.at, d.message_id, d.target_id, d.received_at, d.read_at
            FROM (
                SELECT DISTINCT ON (x.message, x.identity) x.o, x.kind, x.at, x.message, x.identity
                FROM unnest(p_identities, p_messages, p_days, p_kinds, p_at) WITH ORDINALITY AS x(identity, message, day, kind, at, o)
                WHERE x.day = v_day ORDER BY x.message, x.identity, x.o) u
            JOIN gateway.delivery d
                ON d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = u.message AND d.target_id = u.identity
            WHERE d.state IN ('sent', 'received', 'read')
            ORDER BY d.message_id, d.target_id FOR UPDATE OF d),
        written AS (
            UPDATE gateway.delivery d SET state = s.kind, received_at = coalesce(s.received_at, s.at),
                    read_at = CASE WHEN s.kind = 'read' THEN s.at END
                FROM seen s
                WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = s.message_id AND d.target_id = s.target_id
                    AND s.read_at IS NULL AND (s.received_at IS NULL OR s.kind = 'read')
                RETURNING s.o)
        SELECT array_agg(s.o::integer ORDER BY s.o) AS seen, array_agg(w.o IS NOT NULL ORDER BY s.o) AS is_written,
                array_agg(s.o::integer ORDER BY s.o) FILTER (WHERE w.o IS NOT NULL) AS written,
                array_agg(s.received_at IS NULL ORDER BY s.o) FILTER (WHERE w.o IS NOT NULL) AS is_first
            INTO v FROM seen s LEFT JOIN written w ON w.o = s.o;
        FOR k IN 1 .. coalesce(cardinality(v.seen), 0) LOOP
            v_outcomes[v.seen[k]] := CASE WHEN v.is_written[k] THEN 'recorded' ELSE 'repeated' END;
        END LOOP;
        v_written := v_written || coalesce(v.written, '{}');
        v_first := v_first || coalesce(v.is_first, '{}');
    END LOOP;
    IF cardinality(v_written) = 0 THEN RETURN v_outcomes; END IF;

    FOR g IN
        SELECT m.vendor, min(m.due_at) AS due_at, count(*) FILTER (WHERE x.is_first) AS received,
            count(*) FILTER (WHERE p_kinds[x.o] = 'read') AS read
        FROM unnest(v_written, v_first) AS x(o, is_first)
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.vendor, floor(extract(epoch FROM m.due_at) / 3600) ORDER BY m.vendor, 2
    LOOP
        PERFORM gateway.add_counts(p_tenant, p_app, g.vendor, g.due_at, p_node, 0, 0, g.received, g.read, 0, 0, 0, 0);
    END LOOP;
    FOR g IN
        SELECT m.vendor, m.sender_id, m.message_id, m.due_day, array_agg(p_kinds[x.o] ORDER BY x.o) AS kinds,
            array_agg(p_identities[x.o] ORDER BY x.o) AS targets
        FROM unnest(v_written) AS x(o)
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = p_messages[x.o]
        GROUP BY m.message_id, m.vendor, m.sender_id, m.due_day ORDER BY min(x.o)
    LOOP
        PERFORM gateway.append_events(p_tenant, p_app, g.vendor, g.sender_id, g.message_id, g.due_day, g.kinds, g.targets);
    END LOOP;
    RETURN v_outcomes;
END $$;

-- record_receipt for many of one app and dialect.
CREATE FUNCTION gateway.record_receipts(
    p_tenant text, p_app text, p_vendor text, p_node text, p_messages uuid[], p_keys text[], p_kinds text[], p_at timestamptz[])
RETURNS TABLE (ordinal integer, outcome text) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    SELECT array_agg(i.identity_id ORDER BY u.o) AS identities,
            array_agg(CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END ORDER BY u.o) AS days
        INTO v FROM unnest(p_messages, p_keys) WITH ORDINALITY AS u(message, key, o)
        LEFT JOIN gateway.identity i
            ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor
        LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = u.message AND m.app_id = p_app;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, p_messages, v.days, p_kinds, p_at, p_node);
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

-- report_number for many of one app and dialect.
CREATE FUNCTION gateway.report_numbers(
    p_tenant text, p_app text, p_vendor text, p_node text, p_keys text[], p_numbers text[], p_kinds text[], p_at timestamptz[])
RETURNS TABLE (ordinal integer, outcome text) LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v record;
    v_outcomes text[];
BEGIN
    SELECT array_agg(i.identity_id ORDER BY u.o) AS identities, array_agg(m.message_id ORDER BY u.o) AS messages,
            array_agg(CASE WHEN i.identity_id IS NOT NULL THEN m.due_day END ORDER BY u.o) AS days
        INTO v FROM unnest(p_keys, p_numbers) WITH ORDINALITY AS u(key, number, o)
        LEFT JOIN gateway.identity i
            ON i.tenant_id = p_tenant AND i.app_id = p_app AND i.key = u.key AND i.vendor = p_vendor AND i.state = 'active'
        LEFT JOIN gateway.message_ref r
            ON r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = u.number
        LEFT JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = r.message_id AND m.app_id = p_app;
    v_outcomes := gateway.settle_receipts(p_tenant, p_app, v.identities, v.messages, v.days, p_kinds, p_at, p_node);
    DELETE FROM gateway.inbox_open o USING unnest(v.identities, v.messages, v_outcomes) AS u(identity, message, result)
        WHERE o.tenant_id = p_tenant AND o.identity_id = u.identity AND o.message_id = u.message AND u.result IS NOT NULL;
    RETURN QUERY SELECT k, v_outcomes[k] FROM generate_subscripts(v_outcomes, 1) AS k ORDER BY k;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_receipts, gateway.record_receipts, gateway.report_numbers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.settle_receipts, gateway.record_receipts, gateway.report_numbers TO gateway_call, gateway_engine;
