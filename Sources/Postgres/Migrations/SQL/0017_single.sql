-- The short way of a message to one recipient: where lists are unnested the server plans anew at each call, because a list of one is cheaper than it
-- takes an unknown one to be; single values are planned once.

-- As in 0011; new: one event.
CREATE OR REPLACE FUNCTION gateway.append_events(
    p_tenant text, p_app text, p_vendor text, p_sender text, p_message uuid, p_due_day integer,
    p_kinds text[], p_targets uuid[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint := cardinality(p_kinds);
    v_last bigint;
BEGIN
    IF coalesce(v_count, 0) = 0 THEN RETURN; END IF;
    INSERT INTO gateway.event_head AS h (tenant_id, last) VALUES (p_tenant, v_count)
        ON CONFLICT (tenant_id) DO UPDATE SET last = h.last + excluded.last
        RETURNING h.last INTO v_last;
    IF v_count = 1 THEN
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            VALUES (p_tenant, v_last, now(), p_kinds[1], p_app, p_vendor, CASE WHEN p_targets[1] IS NOT NULL THEN p_sender END,
                p_message, p_targets[1], p_due_day);
        RETURN;
    END IF;
    -- RETURNING keeps Citus from making a COPY of it, as ON CONFLICT would, which costs a look and a log record per row more.
    WITH r AS (
        INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
            SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, p_app, p_vendor,
                CASE WHEN u.target IS NOT NULL THEN p_sender END, p_message, u.target, p_due_day
            FROM unnest(p_kinds, p_targets) WITH ORDINALITY AS u(kind, target, o)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
END $$;

-- As in 0009; new: one result.
CREATE OR REPLACE FUNCTION gateway.record_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text,
    p_after interval, p_counts boolean,
    p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[],
    p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[],
    p_sent timestamptz[], p_bytes integer[], p_reduced text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    s record;
    v_targets uuid[];
    v_states text[];
    v record;
    v_was_dead integer;
    v_count bigint;
BEGIN
    SELECT app_id, vendor, sender_id, due_day, due_at, expires_at, state,
            CASE WHEN state = 'paused' THEN expires_at END AS parked_until
        INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    -- By its key alone: asked for by state as well, a server without statistics walks the index of what is due.
    SELECT x.epoch, x.owner, x.state, x.dead_reason INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch THEN RETURN -1; END IF;
    -- A hand-back raises the epoch, so an unleased slice of our epoch is one that we settled ourselves.
    IF s.state <> 'leased' THEN RETURN 0; END IF;
    IF s.owner IS DISTINCT FROM p_owner THEN RETURN -1; END IF;
    v_was_dead := (s.dead_reason IS NOT NULL)::integer;
    IF p_disposition = 'finished' THEN
        UPDATE gateway.slice SET done = p_done, state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSIF p_disposition = 'again' THEN
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0,
                next_at = greatest(now() + p_after, m.parked_until),
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSE
        UPDATE gateway.slice SET done = p_done, lapses = 0
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    END IF;

    IF cardinality(p_targets) = 1 THEN
        -- The short way of a message to one: scalars, so that the plan is made once; and no savepoint.
        INSERT INTO gateway.delivery AS d
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at)
            VALUES (p_tenant, m.due_day, p_message, p_targets[1], m.app_id, m.vendor, p_identities[1], p_devices[1], p_users[1],
                p_addresses[1], p_states[1], p_reasons[1], p_transports[1], p_transport_ids[1], p_certain[1], p_attempts[1],
                p_bytes[1], p_reduced[1], p_sent[1])
            ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                transport_id = excluded.transport_id, is_certain = excluded.is_certain, attempts = excluded.attempts,
                payload_bytes = excluded.payload_bytes, reduced = excluded.reduced, sent_at = excluded.sent_at
            WHERE d.sent_at IS NULL
            RETURNING ARRAY[d.target_id], ARRAY[CASE WHEN d.state IN ('received', 'read') THEN 'sent' ELSE d.state END]
            INTO v_targets, v_states;
    ELSE
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
    END IF;

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

    -- Of one type in both ways: a record's fields are what they were when the next statement was planned.
    IF cardinality(v_states) = 1 THEN
        SELECT (v_states[1] = 'sent')::integer::bigint AS sent, (v_states[1] = 'failed')::integer::bigint AS failed,
                (v_states[1] = 'suppressed')::integer::bigint AS suppressed, (v_states[1] = 'expired')::integer::bigint AS expired,
                (v_states[1] = 'canceled')::integer::bigint AS canceled
            INTO v;
    ELSE
        SELECT count(*) FILTER (WHERE x = 'sent') AS sent, count(*) FILTER (WHERE x = 'failed') AS failed,
                count(*) FILTER (WHERE x = 'suppressed') AS suppressed, count(*) FILTER (WHERE x = 'expired') AS expired,
                count(*) FILTER (WHERE x = 'canceled') AS canceled
            INTO v FROM unnest(v_states) AS x;
    END IF;
    PERFORM gateway.add_counts(
        p_tenant, m.app_id, m.vendor, m.due_at, p_owner, 0, v.sent, 0, 0, v.failed, v.suppressed, v.expired, v.canceled);
    PERFORM gateway.append_events(p_tenant, m.app_id, m.vendor, m.sender_id, p_message, m.due_day, v_states, v_targets);
    RETURN cardinality(v_targets);
END $$;
