-- Messages that an operator steers, and slices that gave up.
--
-- Both kinds of waiting are parked: ready, but due only when the message expires. Whoever claims them then writes them off as expired, so nothing
-- waits for ever and there is no second queue.

-- Leases in a row that ended without a word of their owner: a slice that brings a node down must not go on to the next for ever.
ALTER TABLE gateway.slice ADD COLUMN lapses smallint NOT NULL DEFAULT 0;
-- Why it gave up; null: it has not.
ALTER TABLE gateway.slice ADD COLUMN dead_reason text;
-- Open slices that gave up. When all that are open did, the message is dead.
ALTER TABLE gateway.message ADD COLUMN dead_slices integer NOT NULL DEFAULT 0;

-- A flush of one slice, as in 0005. New: what a paused message puts back stays parked, any word of its owner ends the lapses, and a slice that gave
-- up and finishes after all is counted out again.
CREATE OR REPLACE FUNCTION gateway.record_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text,
    p_after interval, p_counts boolean,
    p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[],
    p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[],
    p_sent timestamptz[], p_bytes integer[], p_reduced text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    v_targets uuid[];
    v_states text[];
    v record;
    v_was_dead integer;
    v_count bigint;
BEGIN
    SELECT app_id, vendor, sender_id, due_day, due_at, expires_at, state,
            CASE WHEN state = 'paused' THEN expires_at END AS parked_until
        INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    IF p_disposition = 'finished' THEN
        UPDATE gateway.slice SET done = p_done, state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
                AND state = 'leased'
            RETURNING (dead_reason IS NOT NULL)::integer INTO v_was_dead;
    ELSIF p_disposition = 'again' THEN
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0,
                next_at = greatest(now() + p_after, m.parked_until),
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
                AND state = 'leased';
    ELSE
        UPDATE gateway.slice SET done = p_done, lapses = 0
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
                AND state = 'leased';
    END IF;
    IF NOT FOUND THEN
        -- A hand-back raises the epoch, so an unleased slice of our epoch is one that we settled ourselves.
        PERFORM FROM gateway.slice
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state <> 'leased';
        IF FOUND THEN RETURN 0; END IF;
        RETURN -1;
    END IF;

    -- Nearly always all of them are new, and an INSERT that need not look for others saves a fifth of the server's work on a delivery. RETURNING,
    -- although nobody reads it: without, Citus would make a COPY of it, whose duplicates come under another code.
    BEGIN
        WITH r AS (
            INSERT INTO gateway.delivery
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                    reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
                SELECT p_tenant, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                    u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent
                FROM unnest(p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                        p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent)
                    AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                        bytes, reduced, sent)
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        IF v_count > 0 THEN
            v_targets := p_targets;
            v_states := p_states;
        END IF;
    EXCEPTION WHEN unique_violation THEN
        -- A repeated flush, or a receipt that was faster.
        WITH r AS (
            INSERT INTO gateway.delivery AS d
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                    reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
                SELECT p_tenant, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                    u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent
                FROM unnest(p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                        p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent)
                    AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                        bytes, reduced, sent)
                ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                    -- A receipt was here first: its state stands.
                    address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                    transport_id = excluded.transport_id, is_certain = excluded.is_certain, attempts = excluded.attempts,
                    payload_bytes = excluded.payload_bytes, reduced = excluded.reduced, sent_at = excluded.sent_at
                WHERE d.sent_at IS NULL
                RETURNING d.target_id, CASE WHEN d.state IN ('received', 'read') THEN 'sent' ELSE d.state END AS state)
        SELECT array_agg(r.target_id), array_agg(r.state) INTO v_targets, v_states FROM r;
    END;

    IF p_disposition = 'finished' THEN
        UPDATE gateway.message SET open_slices = open_slices - 1, dead_slices = dead_slices - v_was_dead,
                state = CASE WHEN state NOT IN ('scheduled', 'sending', 'paused', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done' WHEN state = 'paused' THEN 'paused'
                    WHEN dead_slices - v_was_dead = open_slices - 1 THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSIF m.state = 'scheduled' THEN
        UPDATE gateway.message SET state = 'sending'
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
    END IF;
    IF v_targets IS NULL THEN RETURN 0; END IF;

    SELECT count(*) FILTER (WHERE s = 'sent') AS sent, count(*) FILTER (WHERE s = 'failed') AS failed,
            count(*) FILTER (WHERE s = 'suppressed') AS suppressed, count(*) FILTER (WHERE s = 'expired') AS expired,
            count(*) FILTER (WHERE s = 'canceled') AS canceled
        INTO v FROM unnest(v_states) AS s;
    PERFORM gateway.add_counts(
        p_tenant, m.app_id, m.vendor, m.due_at, p_owner, 0, v.sent, 0, 0, v.failed, v.suppressed, v.expired, v.canceled);
    PERFORM gateway.append_events(p_tenant, m.app_id, m.vendor, m.sender_id, p_message, m.due_day, v_states, v_targets);
    RETURN cardinality(v_targets);
END $$;

-- The next page of an audience as new slices, as in 0005. New: of a paused message the expansion is parked.
-- outcome: page, finished, fenced.
-- The native dialect speaks to all dialects, to each device once.
CREATE OR REPLACE FUNCTION gateway.expand_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    s gateway.slice;
    m gateway.message;
    v_ids uuid[];
    v_count integer;
    v_first integer;
    v_slices integer;
BEGIN
    SELECT * INTO s FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
            AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid; RETURN; END IF;
    SELECT * INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;

    IF m.state = 'paused' THEN
        UPDATE gateway.slice SET state = 'ready', owner = NULL, epoch = epoch + 1, next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        RETURN;
    END IF;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        IF m.vendor = 'native' THEN
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                -- A scalar subquery, not an anti-join: on a table without statistics yet the planner joined all identities with all.
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                    AND (i.device_id IS NULL OR i.identity_id = (
                        SELECT (array_agg(o.identity_id ORDER BY o.identity_id))[1] FROM gateway.identity o
                        WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.state = 'active'))
                ORDER BY i.identity_id LIMIT p_page) a;
        ELSE
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.vendor = m.vendor AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                ORDER BY i.identity_id LIMIT p_page) a;
        END IF;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);

    IF v_count = 0 THEN
        UPDATE gateway.slice SET state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        UPDATE gateway.message SET open_slices = open_slices - 1, recipients = expanded,
                dead_slices = dead_slices - (s.dead_reason IS NOT NULL)::integer,
                state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done'
                    WHEN dead_slices - (s.dead_reason IS NOT NULL)::integer >= open_slices - 1 THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
            RETURN QUERY SELECT 'finished', m.expanded, NULL::uuid;
        ELSE
            RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        END IF;
        RETURN;
    END IF;

    SELECT max(x.no) + 1 INTO v_first FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    v_slices := (v_count + p_slice_size - 1) / p_slice_size;
    FOR k IN 0 .. v_slices - 1 LOOP
        INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
            VALUES (p_tenant, p_message, v_first + k, m.lane, 'deliver', m.due_day,
                v_ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', greatest(m.due_at, now()));
    END LOOP;
    UPDATE gateway.slice SET after = v_ids[v_count]
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    UPDATE gateway.message SET expanded = expanded + v_count, open_slices = open_slices + v_slices, state = 'expanding'
        WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_count, 0, 0, 0, 0, 0, 0, 0);
    RETURN QUERY SELECT 'page', v_count::bigint, v_ids[v_count];
END $$;

-- After `record_slice` put it back: it gave up. 1 when it had not before.
CREATE FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_expires timestamptz;
    v_is_new boolean;
BEGIN
    SELECT expires_at INTO v_expires FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;
    SELECT dead_reason IS NULL INTO v_is_new FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready' FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    -- An hour: one that cannot even be written off would otherwise come up at once, again and again.
    UPDATE gateway.slice SET dead_reason = p_reason, held_by = NULL, next_at = greatest(v_expires, now() + interval '1 hour')
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    IF NOT v_is_new THEN RETURN 0; END IF;
    UPDATE gateway.message SET dead_slices = dead_slices + 1,
            state = CASE WHEN state IN ('scheduled', 'sending') AND dead_slices + 1 >= open_slices THEN 'dead' ELSE state END
        WHERE tenant_id = p_tenant AND message_id = p_message;
    RETURN 1;
END $$;

-- Steers a message: pause, resume, requeue, cancel. 1 when that changed something.
-- Slices at work are not called back: they end within seconds, and what they put back is parked by `record_slice`.
CREATE FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m gateway.message;
    v_count bigint;
    v_is_early boolean;
    v_expands boolean;
BEGIN
    SELECT * INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app AND (vendor = p_vendor OR p_vendor = 'native')
        FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;

    IF p_action = 'cancel' AND m.state IN ('scheduled', 'expanding', 'sending', 'paused', 'dead') THEN
        -- Its slices come up at once and are written off by whoever claims them.
        UPDATE gateway.message SET state = 'canceled' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = now()
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    ELSIF p_action = 'pause' AND m.state IN ('scheduled', 'expanding', 'sending') THEN
        UPDATE gateway.message SET state = 'paused' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
    ELSIF p_action = 'resume' AND m.state = 'paused' THEN
        v_is_early := m.due_at > now();
        SELECT EXISTS (SELECT FROM gateway.slice
            WHERE tenant_id = p_tenant AND message_id = p_message AND kind = 'expand' AND state <> 'done') INTO v_expands;
        UPDATE gateway.slice SET next_at = greatest(m.due_at, now())
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
        UPDATE gateway.message SET
                state = CASE WHEN v_is_early THEN 'scheduled' WHEN v_expands THEN 'expanding'
                    WHEN m.dead_slices >= m.open_slices THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSIF p_action = 'requeue' AND m.dead_slices > 0 AND m.state <> 'canceled' THEN
        UPDATE gateway.slice SET dead_reason = NULL, attempts = 0, lapses = 0,
                next_at = greatest(now(), CASE WHEN m.state = 'paused' THEN m.expires_at END)
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NOT NULL;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        UPDATE gateway.message SET dead_slices = dead_slices - v_count,
                state = CASE WHEN state = 'dead' THEN 'sending' ELSE state END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        RETURN least(v_count, 1);
    ELSE
        RETURN 0;
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.bury_slice, gateway.control_message FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.bury_slice, gateway.control_message TO gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.control_message TO gateway_call;
