-- Records a receipt by a message's number, an upstream's name of it (`called_message`), or its id, from the reporter with this token, key or user, and changes
-- the badge: p_badge -1 subtracts one at the holder's first read of the message, 0 and more sets it, null leaves it. If several of the reporter's identities
-- were sent the message, the first one counts whose push was accepted, or else the first one that may have been sent it.
CREATE OR REPLACE FUNCTION gateway.acknowledge(
    p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text,
    p_badge integer, p_at timestamptz, p_node text)
RETURNS TABLE (outcome text, badge integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_message uuid := p_message;
    v_day integer;
    d record;
    i record;
    v_target uuid;
    v_reporter uuid;
    v_holder text;
    v_first boolean := true;
    -- Whether an upstream sent the message.
    v_is_observed boolean := false;
    v_recipients bigint;
    -- The target of the delivery, if that is not the reporter.
    v_named uuid;
    -- The reporter's identities that may have been sent the message.
    v_open uuid[];
    v_row uuid;
    v_badge integer;
    v_reason text;
    v_outcome text;
BEGIN
    IF v_message IS NULL THEN
        SELECT r.message_id INTO v_message FROM gateway.message_ref r
            WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_ref;
        IF NOT FOUND THEN
            SELECT c.message_id INTO v_message FROM gateway.called_message(p_tenant, p_app, p_vendor, p_ref) AS c;
        END IF;
    END IF;
    SELECT x.due_day, x.observed_from IS NOT NULL, x.recipients INTO v_day, v_is_observed, v_recipients FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = v_message AND x.app_id = p_app;
    IF v_day IS NOT NULL AND cardinality(v_ids) > 0 THEN
        SELECT x.target_id, x.read_at INTO d FROM gateway.delivery x
            WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = ANY (v_ids)
                -- As in `record_receipt`.
                AND (x.state IN ('sent', 'received', 'read') OR x.state = 'failed' AND x.transport IS NOT NULL
                    OR x.state IN ('expired', 'canceled') AND x.attempts > 0)
            ORDER BY x.state IN ('sent', 'received', 'read') DESC, array_position(v_ids, x.target_id) LIMIT 1 FOR UPDATE;
        v_target := d.target_id;
        v_first := d.read_at IS NULL;
        IF v_target IS NULL AND v_is_observed AND v_recipients IS NULL THEN
            v_target := v_ids[1];
        ELSIF v_target IS NULL AND v_is_observed THEN
            FOR d IN
                SELECT x.identity_id, x.key, x.user_id FROM gateway.identity x
                WHERE x.tenant_id = p_tenant AND x.identity_id = ANY (v_ids) ORDER BY array_position(v_ids, x.identity_id)
            LOOP
                v_named := gateway.named_target(p_tenant, v_message, v_day, v_recipients, d.key, d.user_id);
                IF v_named IS NOT NULL THEN
                    v_target := d.identity_id;
                    EXIT;
                END IF;
            END LOOP;
        ELSIF v_target IS NULL THEN
            -- A target that ended without a push keeps its place in the slice until that ends.
            v_open := ARRAY(
                SELECT u.id FROM unnest(v_ids) WITH ORDINALITY AS u(id, place)
                WHERE NOT EXISTS (
                    SELECT FROM gateway.delivery x
                    WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = u.id
                        AND x.state NOT IN ('sent', 'received', 'read'))
                ORDER BY u.place);
            v_target := gateway.tried_target(p_tenant, v_message, v_open);
        END IF;
    END IF;
    -- A delivery is locked before badges. One without a row is not: `record_outcomes`, which writes it, takes no badges.
    v_row := coalesce(v_named, v_target);
    PERFORM FROM gateway.delivery x
        WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = v_row FOR UPDATE;
    v_reporter := coalesce(v_target, v_ids[1]);
    SELECT x.key, coalesce('user:' || x.user_id, 'key:' || x.key) AS holder INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = v_reporter;
    v_holder := i.holder;

    IF v_holder IS NOT NULL AND p_badge IS NOT NULL THEN
        IF v_target IS NOT NULL THEN
            INSERT INTO gateway.badge_mark AS k (tenant_id, message_id, holder, is_read) VALUES (p_tenant, v_message, v_holder, true)
                ON CONFLICT (tenant_id, message_id, holder) DO UPDATE SET is_read = true WHERE NOT k.is_read;
            v_first := FOUND AND v_first;
        ELSE
            v_first := false;
        END IF;
        IF p_badge >= 0 THEN
            INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_badge)
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
        ELSIF v_first THEN
            UPDATE gateway.badge b SET count = greatest(b.count - 1, 0)
                WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        END IF;
    END IF;
    IF v_holder IS NOT NULL THEN
        SELECT b.count INTO v_badge FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
    END IF;
    IF v_target IS NOT NULL THEN
        v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node);
    ELSE
        v_reason := CASE WHEN cardinality(v_ids) = 0 THEN 'unknownDevice' WHEN v_day IS NULL THEN 'unknownMessage' ELSE 'otherDevice' END;
        IF v_reason = 'otherDevice' THEN
            PERFORM FROM gateway.delivery x
                WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = ANY (v_ids)
                LIMIT 1;
            IF FOUND THEN v_reason := 'notSent'; END IF;
        END IF;
        v_outcome := gateway.note_orphan(p_tenant, p_app, v_reason, v_message);
    END IF;
    RETURN QUERY SELECT v_outcome, coalesce(v_badge, 0);
END $$;

REVOKE ALL ON FUNCTION gateway.acknowledge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.acknowledge TO gateway_call, gateway_engine;
