-- Records outcomes of a slice. Returns the number of new deliveries, or -1 without writing anything if another node holds the slice. If a caller repeats the
-- call because the answer was lost, it returns 0.
--
-- p_disposition: go (still being sent), finished, or again (ready after p_after, with one attempt more if p_counts).
-- `put_back_slice` parks the slice of a paused message when it is returned. Any report of its owner resets `lapses`. A slice that gave up and finishes after
-- all is not counted as dead. A single outcome takes a shorter path.
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
    SELECT app_id, vendor, sender_id, due_day, due_at, state INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    -- The condition is the key alone: with the state in it, a server without statistics walks the index of due slices.
    SELECT x.epoch, x.owner, x.state, x.dead_reason INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch THEN RETURN -1; END IF;
    -- Returning a slice increases the epoch, so an unleased slice with this epoch was settled by an earlier run of this call.
    IF s.state <> 'leased' THEN RETURN 0; END IF;
    IF s.owner IS DISTINCT FROM p_owner THEN RETURN -1; END IF;
    v_was_dead := (s.dead_reason IS NOT NULL)::integer;
    IF p_disposition = 'finished' THEN
        UPDATE gateway.slice SET done = p_done, state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSIF p_disposition = 'again' THEN
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0,
                next_at = now() + p_after, attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSE
        UPDATE gateway.slice SET done = p_done, lapses = 0
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    END IF;

    IF cardinality(p_targets) = 1 THEN
        -- A single outcome: scalars instead of arrays, so that the plan is cached, and no savepoint.
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
        -- Nearly always all rows are new, and an INSERT without ON CONFLICT saves a fifth of the server's work on a delivery. RETURNING keeps Citus from
        -- turning it into a COPY, which reports duplicates with another code.
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
            -- A repeated call, or a receipt that was recorded first.
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
                        -- A receipt was recorded first: its state stays.
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
                state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending', 'paused', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done' WHEN state = 'paused' THEN 'paused'
                    WHEN dead_slices - v_was_dead = open_slices - 1 THEN 'dead' WHEN state = 'expanding' THEN 'expanding' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSIF m.state = 'scheduled' THEN
        UPDATE gateway.message SET state = 'sending'
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
    END IF;
    IF v_targets IS NULL THEN RETURN 0; END IF;

    -- Both branches assign fields of the same types, because the next statement is planned with the types of the record's fields.
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

REVOKE ALL ON FUNCTION gateway.record_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_slice TO gateway_engine;
