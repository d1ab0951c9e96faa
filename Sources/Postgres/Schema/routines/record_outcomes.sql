-- Records outcomes of a slice and what becomes of it. Returns the number of new deliveries, or -1 without writing anything if another node holds the slice.
-- If a caller repeats the call because the answer was lost, it returns 0.
--
-- p_disposition: go (still being sent), finished, again (ready after p_after, with one attempt more if p_counts; p_held: the credential whose repair
-- reactivates it), crowded (as again; the message's other due slices wait as long), or dead (given up because of p_dead). A slice that is returned while its
-- message is paused stays parked, and one of a canceled message is due at once. Any report of its owner resets `lapses`.
--
-- p_settles: the caller holds no other slice of the message, so this transaction ends the message if no slice is open. A caller that holds others calls
-- `settle_message` after the last one. p_inbox: the targets whose devices have an inbox.
--
-- p_groups contains the outcomes grouped by transport and device: [{"transport": "apns", "accepted": 249, "rejected": 1, "reasons": {"rejected:Unregistered": 1}}].
-- Null: they are grouped here, which costs more. They only count if every delivery is new; otherwise the new ones are grouped here.
--
-- p_device_vendors and the `device` of a group: the dialect of the device, where it does not follow from the message's (`delivery.device_vendor`). Targets are
-- counted under the dialect of the message, or under none if it is of the native API, and move to that of the device with the outcome. p_latencies: how
-- long the transport took to answer, in milliseconds. p_clients: what the SDKs of the devices reported (`client_version`). p_local_hours: the hour of the week in the zones of the devices. Null: none has a value.
--
-- p_calls: calls to upstreams that have ended (`end_upstream_calls`). Null: none.
--
-- Locks in the order of docs/architecture.md: message, slice, calls to upstreams, deliveries, inbox, event log. A single outcome takes a shorter path.
CREATE OR REPLACE FUNCTION gateway.record_outcomes(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_done bytea, p_disposition text,
    p_after interval, p_counts boolean, p_held text, p_dead text, p_settles boolean,
    p_targets uuid[], p_identities uuid[], p_devices uuid[], p_users text[], p_addresses text[], p_states text[],
    p_reasons text[], p_transports text[], p_transport_ids uuid[], p_certain boolean[], p_attempts smallint[],
    p_sent timestamptz[], p_bytes integer[], p_reduced text[], p_groups json, p_inbox uuid[],
    p_device_vendors text[] DEFAULT NULL, p_latencies integer[] DEFAULT NULL, p_clients bigint[] DEFAULT NULL,
    p_local_hours smallint[] DEFAULT NULL, p_calls json DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    s record;
    v_control timestamptz;
    v_next timestamptz;
    v_resume timestamptz;
    v_targets uuid[];
    v_states text[];
    v_reasons text[] := p_reasons;
    v_groups json := p_groups;
    v_base text;
    v_quarter integer;
    v_counted uuid;
    v_counts record;
BEGIN
    SELECT x.app_id, x.vendor, x.sender_id, x.due_day, x.due_at, x.expires_at, x.state, x.is_counted INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    -- A message is canceled or paused under its lock, without looking at slices that are being sent, so a slice is returned under a lock as well.
    IF m.state = 'scheduled' OR p_disposition IN ('crowded', 'dead') OR p_settles AND p_disposition = 'finished' THEN
        SELECT x.state INTO m.state FROM gateway.message x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message FOR NO KEY UPDATE;
    ELSIF p_disposition = 'again' THEN
        SELECT x.state INTO m.state FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message FOR SHARE;
    END IF;
    -- The condition is the key alone: with the state in it, a server without statistics walks the index of due slices.
    SELECT x.epoch, x.owner, x.state, x.dead_reason, x.due_at, x.route_version INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch THEN RETURN -1; END IF;
    -- Returning a slice increases the epoch, so an unleased slice with this epoch was settled by an earlier run of this call.
    IF s.state <> 'leased' THEN
        IF p_settles AND p_disposition = 'finished' THEN PERFORM gateway.settle_message(p_tenant, p_message); END IF;
        RETURN 0;
    END IF;
    IF s.owner IS DISTINCT FROM p_owner THEN RETURN -1; END IF;

    v_control := CASE m.state WHEN 'canceled' THEN now() WHEN 'paused' THEN m.expires_at END;
    v_next := coalesce(v_control, now() + p_after);
    v_resume := CASE WHEN m.state = 'paused' THEN now() + p_after END;
    IF p_disposition = 'go' THEN
        UPDATE gateway.slice SET done = p_done, lapses = 0
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSIF p_disposition = 'finished' THEN
        -- The targets are kept in their deliveries alone.
        UPDATE gateway.slice SET targets = '{}', addresses = '{}', done = '\x', state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSIF p_disposition = 'dead' THEN
        -- At least an hour: a slice that cannot even be written off would otherwise become due again and again without pause.
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0, dead_reason = p_dead, held_by = NULL,
                next_at = greatest(m.expires_at, now() + interval '1 hour'),
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    ELSE
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, lapses = 0, held_by = p_held,
                next_at = v_next, resume_at = v_resume,
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        -- The message's other slices would find no free capacity either, so they are delayed without being read. Slices that gave up or are held are not due.
        IF p_disposition = 'crowded' AND v_control IS NULL THEN
            -- A slice that is locked is just claimed, or its lease is renewed. It is not waited for: a renewal that has locked it may wait for this one.
            UPDATE gateway.slice o SET next_at = v_next FROM (
                    SELECT x.no FROM gateway.slice x
                    WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.state = 'ready' AND x.kind = 'deliver' AND x.next_at <= now()
                    ORDER BY x.no FOR NO KEY UPDATE SKIP LOCKED) AS d
                WHERE o.tenant_id = p_tenant AND o.message_id = p_message AND o.no = d.no;
        END IF;
    END IF;
    IF m.state = 'scheduled' THEN
        UPDATE gateway.message SET state = 'sending' WHERE tenant_id = p_tenant AND message_id = p_message;
    END IF;
    IF p_disposition = 'dead' AND s.dead_reason IS NULL THEN
        UPDATE gateway.message SET dead_slices = dead_slices + 1 WHERE tenant_id = p_tenant AND message_id = p_message;
    END IF;
    IF p_disposition = 'dead' OR p_settles AND p_disposition = 'finished' THEN
        PERFORM gateway.settle_message(p_tenant, p_message);
    END IF;
    IF p_calls IS NOT NULL THEN PERFORM gateway.end_upstream_calls(p_tenant, p_message, p_calls); END IF;

    IF cardinality(p_targets) = 1 THEN
        -- A single outcome: scalars instead of arrays, so that the plan is cached, and no savepoint.
        INSERT INTO gateway.delivery AS d
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at, device_vendor, transport_ms,
                client, local_hour, due_at, route_version)
            VALUES (p_tenant, m.due_day, p_message, p_targets[1], m.app_id, m.vendor, p_identities[1], p_devices[1], p_users[1],
                p_addresses[1], p_states[1], p_reasons[1], p_transports[1], p_transport_ids[1], p_certain[1], p_attempts[1],
                p_bytes[1], p_reduced[1], p_sent[1], p_device_vendors[1], p_latencies[1], p_clients[1], p_local_hours[1], s.due_at,
                s.route_version)
            ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                transport_id = excluded.transport_id, is_certain = excluded.is_certain AND excluded.state = 'sent',
                attempts = excluded.attempts, payload_bytes = excluded.payload_bytes, reduced = excluded.reduced,
                sent_at = excluded.sent_at, device_vendor = excluded.device_vendor, transport_ms = excluded.transport_ms, client = excluded.client,
                local_hour = excluded.local_hour, due_at = excluded.due_at, route_version = excluded.route_version
            WHERE d.sent_at IS NULL
            RETURNING ARRAY[d.target_id], ARRAY[d.state], ARRAY[d.reason] INTO v_targets, v_states, v_reasons;
        IF v_states[1] IN ('received', 'read') THEN v_groups := NULL; END IF;
    ELSIF cardinality(p_targets) > 1 THEN
        -- Nearly always all rows are new, and an INSERT without ON CONFLICT saves a fifth of the server's work on a delivery. The row of the message has the
        -- tenant: Citus then runs the statement where the rows are, instead of copying them there and committing on two servers.
        BEGIN
            INSERT INTO gateway.delivery
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                    reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at, device_vendor, transport_ms,
                    client, local_hour, due_at, route_version)
                SELECT x.tenant_id, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                    u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent, u.device_vendor, u.latency,
                    u.client, u.local_hour, s.due_at, s.route_version
                FROM gateway.message x CROSS JOIN unnest(
                        p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                        p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent, p_device_vendors, p_latencies, p_clients, p_local_hours)
                    AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                        bytes, reduced, sent, device_vendor, latency, client, local_hour)
                WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
            v_targets := p_targets;
            v_states := p_states;
        EXCEPTION WHEN unique_violation THEN
            -- A repeated call, or a receipt that was recorded first. In the order of their key, because the rows may exist.
            WITH r AS (
                INSERT INTO gateway.delivery AS d
                        (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state,
                        reason, transport, transport_id, is_certain, attempts, payload_bytes, reduced, sent_at, device_vendor, transport_ms,
                        client, local_hour, due_at, route_version)
                    SELECT p_tenant, m.due_day, p_message, u.target, m.app_id, m.vendor, u.identity, u.device, u.user_id, u.address,
                        u.state, u.reason, u.transport, u.transport_id, u.certain, u.attempts, u.bytes, u.reduced, u.sent, u.device_vendor, u.latency,
                        u.client, u.local_hour, s.due_at, s.route_version
                    FROM unnest(p_targets, p_identities, p_devices, p_users, p_addresses, p_states, p_reasons, p_transports,
                            p_transport_ids, p_certain, p_attempts, p_bytes, p_reduced, p_sent, p_device_vendors, p_latencies, p_clients, p_local_hours)
                        AS u(target, identity, device, user_id, address, state, reason, transport, transport_id, certain, attempts,
                            bytes, reduced, sent, device_vendor, latency, client, local_hour)
                    ORDER BY u.target
                    ON CONFLICT (tenant_id, due_day, message_id, target_id) DO UPDATE SET
                        -- A receipt was recorded first: its state stays. If the push was not accepted, the app received it nevertheless.
                        address = excluded.address, reason = excluded.reason, transport = excluded.transport,
                        transport_id = excluded.transport_id, is_certain = excluded.is_certain AND excluded.state = 'sent',
                        attempts = excluded.attempts, payload_bytes = excluded.payload_bytes, reduced = excluded.reduced,
                        sent_at = excluded.sent_at, device_vendor = excluded.device_vendor, transport_ms = excluded.transport_ms, client = excluded.client,
                        local_hour = excluded.local_hour, due_at = excluded.due_at, route_version = excluded.route_version
                    WHERE d.sent_at IS NULL
                    RETURNING d.target_id, d.state, d.reason)
            SELECT array_agg(r.target_id), array_agg(r.state), array_agg(r.reason) INTO v_targets, v_states, v_reasons FROM r;
            v_groups := NULL;
        END;
    END IF;
    IF v_targets IS NULL THEN RETURN 0; END IF;
    IF cardinality(p_inbox) > 0 THEN PERFORM gateway.open_inbox(p_tenant, p_message, p_inbox); END IF;

    IF v_groups IS NULL THEN
        v_groups := gateway.group_outcomes(p_tenant, p_message, m.due_day, v_targets);
        v_states := array_replace(array_replace(v_states, 'received', 'sent'), 'read', 'sent');
    END IF;
    v_quarter := floor(extract(epoch FROM m.due_at) / 900);
    v_counted := CASE WHEN m.is_counted THEN p_message END;
    v_base := CASE WHEN m.vendor <> 'native' THEN m.vendor ELSE '' END;
    -- Row by row, because Citus would copy the rows of an INSERT … SELECT between servers.
    FOR v_counts IN WITH g AS (
        SELECT coalesce(g.device, v_base) AS device, coalesce(g.transport, '') AS transport, 0 AS targets, coalesce(g.suppressed, 0) AS suppressed,
            coalesce(g.canceled, 0) AS canceled, coalesce(g.expired, 0) AS expired, coalesce(g.expired_tried, 0) AS expired_tried,
            coalesce(g.unsendable, 0) AS unsendable, coalesce(g.accepted, 0) AS accepted, coalesce(g.uncertain, 0) AS uncertain,
            coalesce(g.rejected, 0) AS rejected, coalesce(g.received, 0) AS received, coalesce(g.read, 0) AS read, g.reasons
        FROM json_to_recordset(v_groups) AS g(
            device text, transport text, suppressed integer, canceled integer, expired integer, expired_tried integer, unsendable integer,
            accepted integer, uncertain integer, rejected integer, received integer, read integer, reasons json)),
    t AS (
        SELECT v.device, '', v.sign * (g.suppressed + g.canceled + g.expired + g.unsendable + g.accepted + g.uncertain + g.rejected),
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL::json
        FROM g CROSS JOIN LATERAL (VALUES (g.device, 1), (v_base, -1)) AS v(device, sign) WHERE g.device <> v_base)
    SELECT g.* FROM g UNION ALL SELECT t.* FROM t
    LOOP
        INSERT INTO gateway.counter_delta
            (tenant_id, quarter, app_id, vendor, message_id, device_vendor, transport, targets, suppressed, canceled, expired,
            expired_tried, unsendable, accepted, uncertain, rejected, received, read, reasons)
        VALUES (p_tenant, v_quarter, m.app_id, m.vendor, v_counted, v_counts.device, v_counts.transport,
            v_counts.targets, v_counts.suppressed, v_counts.canceled, v_counts.expired, v_counts.expired_tried, v_counts.unsendable,
            v_counts.accepted, v_counts.uncertain, v_counts.rejected, v_counts.received, v_counts.read, v_counts.reasons);
    END LOOP;
    -- The state before an outcome is null, also if a receipt was recorded first.
    PERFORM gateway.log_events(
        p_tenant, m.app_id, m.vendor, m.sender_id, v_states, ARRAY[p_message], ARRAY[m.due_day], v_targets, NULL, v_reasons);
    RETURN cardinality(v_targets);
END $$;

REVOKE ALL ON FUNCTION gateway.record_outcomes FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_outcomes TO gateway_engine;
