-- What earlier messages with the same text, through other entry points, were to the targets of a leased slice whose message is a duplicate. The first lease sets the
-- time from which the slice waits for them.
--
-- outcome: fenced (another node holds the slice), or found, with the milliseconds since that time. Behind found: sent (the device at p_places was sent an earlier
-- message), open (an earlier message may still be sent to it), and unknown, without a place (an upstream sent an earlier message to an audience, whose devices are not
-- known). Of each entry point, the 20 newest messages may be open.
CREATE OR REPLACE FUNCTION gateway.guard_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_places bigint[], p_devices uuid[], p_identities uuid[])
RETURNS TABLE (outcome text, place bigint, waited bigint) LANGUAGE plpgsql AS $$
DECLARE
    s record;
    m record;
    c record;
    v_since timestamptz;
    v_entry text := '';
    v_from uuid;
    v_below uuid;
    v_listed uuid[] := '{}';
    v_audiences uuid[] := '{}';
    v_days integer[] := '{}';
    v_open uuid[];
    v_is_unknown boolean := false;
BEGIN
    SELECT x.epoch, x.owner, x.state, x.guarded_at INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch OR s.owner IS DISTINCT FROM p_owner OR s.state IS DISTINCT FROM 'leased' THEN
        RETURN QUERY SELECT 'fenced', NULL::bigint, NULL::bigint;
        RETURN;
    END IF;
    v_since := s.guarded_at;
    IF v_since IS NULL THEN
        v_since := now();
        UPDATE gateway.slice x SET guarded_at = v_since
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no;
    END IF;
    RETURN QUERY SELECT 'found', NULL::bigint, floor(extract(epoch FROM now() - v_since) * 1000)::bigint;
    RETURN QUERY SELECT 'sent', t.place, NULL::bigint FROM unnest(p_places, p_devices, p_identities) AS t(place, device, identity)
        WHERE gateway.sent_before(p_tenant, p_message, t.device, t.identity) IS NOT NULL;

    SELECT x.app_id, x.fingerprint, x.entry_point, x.compared_at, x.due_at, x.duplicate_window INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    v_from := gateway.first_message_id(m.due_at - m.duplicate_window);
    v_below := gateway.first_message_id(m.due_at + interval '5 seconds');
    LOOP
        SELECT e.entry_point INTO v_entry FROM gateway.message e
            WHERE e.tenant_id = p_tenant AND e.app_id = m.app_id AND e.fingerprint = m.fingerprint AND e.entry_point > v_entry
            ORDER BY e.entry_point LIMIT 1;
        EXIT WHEN v_entry IS NULL;
        CONTINUE WHEN v_entry = m.entry_point;
        FOR c IN SELECT e.message_id, e.due_day, e.state, e.compared_at, e.observed_from, e.recipients FROM gateway.message e
                WHERE e.tenant_id = p_tenant AND e.app_id = m.app_id AND e.fingerprint = m.fingerprint AND e.entry_point = v_entry
                    AND e.message_id >= v_from AND e.message_id < v_below
                ORDER BY e.message_id DESC LIMIT 20 LOOP
            CONTINUE WHEN c.compared_at >= m.compared_at;
            IF c.observed_from IS NOT NULL THEN
                v_is_unknown := v_is_unknown OR c.recipients IS NULL;
            ELSIF c.state IN ('scheduled', 'expanding', 'sending', 'paused') THEN
                IF EXISTS (SELECT FROM gateway.slice x
                        WHERE x.tenant_id = p_tenant AND x.message_id = c.message_id AND x.no = 0 AND x.kind = 'expand') THEN
                    v_audiences := v_audiences || c.message_id;
                    v_days := v_days || c.due_day;
                ELSE
                    v_listed := v_listed || c.message_id;
                END IF;
            END IF;
        END LOOP;
    END LOOP;
    IF v_is_unknown THEN RETURN QUERY SELECT 'unknown', NULL::bigint, NULL::bigint; END IF;
    -- The devices, or identities without one, of listed targets that have no outcome. A list has at most 2000 targets, in a few slices.
    IF cardinality(v_listed) > 0 THEN
        SELECT coalesce(array_agg(DISTINCT coalesce(i.device_id, i.identity_id)), '{}') INTO v_open
            FROM unnest(v_listed) AS l(message)
            CROSS JOIN LATERAL (
                SELECT x.message_id, x.due_day, x.state, x.targets FROM gateway.slice x
                WHERE x.tenant_id = p_tenant AND x.message_id = l.message ORDER BY x.no LIMIT 16) AS x
            CROSS JOIN LATERAL unnest(x.targets) AS u(target)
            CROSS JOIN LATERAL (
                SELECT y.device_id, y.identity_id FROM gateway.identity y
                WHERE y.tenant_id = p_tenant AND y.identity_id = u.target OFFSET 0) AS i
            WHERE x.state <> 'done' AND NOT EXISTS (
                SELECT FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = x.due_day AND d.message_id = x.message_id AND d.target_id = u.target
                OFFSET 0);
        RETURN QUERY SELECT 'open', t.place, NULL::bigint FROM unnest(p_places, p_devices, p_identities) AS t(place, device, identity)
            WHERE coalesce(t.device, t.identity) = ANY (v_open);
    END IF;
    IF cardinality(v_audiences) > 0 THEN
        RETURN QUERY SELECT 'open', t.place, NULL::bigint FROM unnest(p_places, p_devices, p_identities) AS t(place, device, identity)
            WHERE EXISTS (
                SELECT FROM unnest(v_audiences, v_days) AS a(message, day)
                WHERE NOT EXISTS (
                    SELECT FROM gateway.delivery d
                    WHERE d.tenant_id = p_tenant AND d.due_day = a.day AND d.message_id = a.message AND d.device_id = t.device
                    OFFSET 0));
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.guard_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.guard_slice TO gateway_engine;
