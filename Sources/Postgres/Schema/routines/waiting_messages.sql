-- The open messages without an outcome for a device that may reach it: those that are due, the newest first, then those that are due later, the first ones first;
-- at most p_limit, among p_looks open messages of the tenant. A last row without a message: there are more, which were not looked at.
--
-- Each step finds the next open message in `slice_open`, so neither finished messages nor the slices of a campaign count. `find_queued_targets` finds the places
-- of the device in the message. Before an expansion to everyone or to tags has reached the device there is none, and it is not known whether the message selects the
-- device (is_selected); nor is it for variants. The slice is then that of the expansion. slice_state null: the slice is not known.
CREATE OR REPLACE FUNCTION gateway.waiting_messages(p_tenant text, p_device uuid, p_looks integer, p_limit integer)
RETURNS TABLE (
    message_id uuid, target_id uuid, is_selected boolean, vendor text, state text, awaits_approval boolean, lane smallint,
    accepted_at timestamptz, due_at timestamptz, due_local bigint, expires_at timestamptz, paused_at timestamptz, is_paced boolean, no integer,
    slice_state text, next_at timestamptz, attempts smallint, held_by text, dead_reason text, is_paused boolean, seen_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_app text;
    v_crosses boolean;
    v_ids uuid[];
    v_vendors text[];
    v_now uuid := gateway.first_message_id(now() + interval '1 millisecond');
    v_place uuid := v_now;
    v_is_due boolean := true;
    v_looks integer := p_looks;
    v_left integer := p_limit;
    v_target uuid;
    v_after uuid;
    v_no integer;
    v_is_selected boolean;
    m record;
    q record;
BEGIN
    SELECT x.app_id INTO v_app FROM gateway.device x WHERE x.tenant_id = p_tenant AND x.device_id = p_device;
    SELECT coalesce(a.defaults->>'crossDialectSends' = 'true', false) INTO v_crosses FROM gateway.app a
        WHERE a.tenant_id = p_tenant AND a.app_id = v_app;
    SELECT array_agg(i.identity_id ORDER BY i.identity_id), array_agg(i.vendor) INTO v_ids, v_vendors FROM (
        SELECT x.identity_id, x.vendor FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.device_id = p_device AND x.state = 'active' LIMIT 8) AS i;
    IF v_ids IS NULL THEN RETURN; END IF;
    LOOP
        IF v_is_due THEN
            SELECT x.message_id INTO v_place FROM gateway.slice x
                WHERE x.tenant_id = p_tenant AND x.message_id < v_place AND x.state <> 'done'
                ORDER BY x.message_id DESC, x.no DESC LIMIT 1;
        ELSE
            SELECT x.message_id INTO v_place FROM gateway.slice x
                WHERE x.tenant_id = p_tenant AND x.message_id > v_place AND x.state <> 'done'
                ORDER BY x.message_id, x.no LIMIT 1;
        END IF;
        IF v_place IS NULL THEN
            IF NOT v_is_due THEN RETURN; END IF;
            v_is_due := false;
            v_place := v_now;
            CONTINUE;
        END IF;
        EXIT WHEN v_looks = 0 OR v_left = 0;
        v_looks := v_looks - 1;
        SELECT x.vendor, x.due_day, x.recipients, x.audience, x.content->'variants' IS NOT NULL AS has_variants INTO m FROM gateway.message x
            WHERE x.tenant_id = p_tenant AND x.message_id = v_place AND x.app_id = v_app AND x.state NOT IN ('done', 'canceled', 'expired');
        CONTINUE WHEN NOT FOUND;

        v_target := NULL;
        FOR q IN SELECT x.target_id, x.no FROM gateway.find_queued_targets(p_tenant, v_place, v_ids) x ORDER BY x.target_id LOOP
            PERFORM 1 FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = v_place AND d.target_id = q.target_id;
            CONTINUE WHEN FOUND;
            -- Where the slice is unknown, the message may have reached the device under another name: a variant, or another identity.
            IF q.no IS NULL THEN
                PERFORM 1 FROM gateway.delivery d
                    WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = v_place AND d.device_id = p_device LIMIT 1;
                CONTINUE WHEN FOUND;
            END IF;
            v_target := q.target_id;
            -- No slice has this number. Citus refuses an outer join whose condition is null.
            v_no := coalesce(q.no, -1);
            v_is_selected := q.no IS NOT NULL OR m.audience->'groups' IS NOT NULL OR m.audience->'users' IS NOT NULL;
            EXIT;
        END LOOP;
        IF v_target IS NULL THEN
            -- It has reached the device by one of its identities, and waits for others.
            PERFORM 1 FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = v_place AND d.device_id = p_device LIMIT 1;
            CONTINUE WHEN FOUND;
            -- Everyone, or tags: the expansion walks the identities in the order of their ids.
            CONTINUE WHEN m.recipients IS NOT NULL OR m.has_variants OR m.audience->'groups' IS NOT NULL OR m.audience->'users' IS NOT NULL;
            CONTINUE WHEN m.vendor <> 'native' AND m.vendor <> ALL (v_vendors) AND NOT (v_crosses AND m.audience->'tags' IS NULL);
            SELECT x.after INTO v_after FROM gateway.slice x
                WHERE x.tenant_id = p_tenant AND x.message_id = v_place AND x.no = 0 AND x.kind = 'expand' AND x.state <> 'done';
            CONTINUE WHEN NOT FOUND;
            CONTINUE WHEN v_after >= v_ids[cardinality(v_ids)];
            v_no := 0;
            v_is_selected := false;
        END IF;
        RETURN QUERY SELECT x.message_id, v_target, v_is_selected, x.vendor, x.state, x.awaits_approval, x.lane, x.accepted_at,
                x.due_at, x.due_local, x.expires_at, x.paused_at, x.pace_count IS NOT NULL, s.no, s.state, s.next_at,
                coalesce(s.attempts, 0::smallint), s.held_by, s.dead_reason, coalesce(l.is_paused, false), now()
            FROM gateway.message x
            LEFT JOIN gateway.slice s ON s.tenant_id = p_tenant AND s.message_id = x.message_id AND s.no = v_no
            LEFT JOIN gateway.lane l ON l.tenant_id = p_tenant AND l.lane = x.lane
            WHERE x.tenant_id = p_tenant AND x.message_id = v_place;
        v_left := v_left - 1;
    END LOOP;
    message_id := NULL;
    RETURN NEXT;
END $$;

REVOKE ALL ON FUNCTION gateway.waiting_messages FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.waiting_messages TO gateway_call, gateway_engine;
