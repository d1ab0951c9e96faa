-- Acceptance, outcomes and receipts: each one round trip, the event offset bumped last.

-- Adds to one hour's counts.
CREATE FUNCTION gateway.add_counts(
    p_tenant text, p_app text, p_vendor text, p_due timestamptz, p_node text, p_recipients bigint, p_sent bigint,
    p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.counter_hour AS c
            (tenant_id, app_id, vendor, hour, node_id, recipients, sent, received, read, failed, suppressed, expired, canceled)
        VALUES (p_tenant, p_app, p_vendor, floor(extract(epoch FROM p_due) / 3600)::integer, p_node, p_recipients, p_sent,
            p_received, p_read, p_failed, p_suppressed, p_expired, p_canceled)
        ON CONFLICT (tenant_id, app_id, vendor, hour, node_id) DO UPDATE SET
            recipients = c.recipients + excluded.recipients, sent = c.sent + excluded.sent,
            received = c.received + excluded.received, read = c.read + excluded.read, failed = c.failed + excluded.failed,
            suppressed = c.suppressed + excluded.suppressed, expired = c.expired + excluded.expired,
            canceled = c.canceled + excluded.canceled;
END $$;

-- Appends one event per kind and target. Last in its transaction: the head's row lock keeps offsets in commit order.
CREATE FUNCTION gateway.append_events(
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
    INSERT INTO gateway.event (tenant_id, position, at, kind, app_id, vendor, sender_id, message_id, target_id, due_day)
        SELECT p_tenant, v_last - v_count + u.o, now(), u.kind, p_app, p_vendor, p_sender, p_message, u.target, p_due_day
        FROM unnest(p_kinds, p_targets) WITH ORDINALITY AS u(kind, target, o)
        ON CONFLICT DO NOTHING;
END $$;

-- Stores a message with all that its acceptance promises. Slices come flattened: slice k has targets up to p_slice_ends[k].
-- p_node and p_lease: the slices are leased by that node from the start; null: they are ready when due.
CREATE FUNCTION gateway.accept_message(
    p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint,
    p_accepted timestamptz, p_due timestamptz, p_due_day integer, p_expires timestamptz, p_fallback json, p_recipients bigint,
    p_media_id text, p_media_hash text, p_key text, p_body_hash text,
    p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[],
    p_holder text, p_lease interval, p_node text,
    p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[])
RETURNS TABLE (outcome text, message_id uuid, recipients bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_old gateway.idempotency;
    v_slices integer := cardinality(p_slice_numbers);
    v_suppressed integer := cardinality(p_sup_targets);
    v_from integer := 1;
BEGIN
    IF p_key IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, message_id, recipients, created_at)
            VALUES (p_tenant, p_app, p_vendor, p_key, p_body_hash, p_id, p_recipients, now())
            ON CONFLICT (tenant_id, app_id, vendor, key) DO NOTHING;
        IF NOT FOUND THEN
            SELECT * INTO v_old FROM gateway.idempotency y
                WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.vendor = p_vendor AND y.key = p_key;
            IF v_old.body_hash = p_body_hash THEN
                RETURN QUERY SELECT 'repeated', v_old.message_id, v_old.recipients;
            ELSE
                RETURN QUERY SELECT 'mismatch', NULL::uuid, NULL::bigint;
            END IF;
            RETURN;
        END IF;
    END IF;

    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, sender_id, state, lane, content, collapse_id, fallback, accepted_at,
            due_at, due_day, expires_at, recipients, open_slices)
        VALUES (p_tenant, p_id, p_app, p_vendor, p_sender,
            CASE WHEN v_slices = 0 THEN 'done' WHEN p_due > p_accepted AND p_holder IS NULL THEN 'scheduled'
                WHEN 'expand' = ANY (p_slice_kinds) THEN 'expanding' ELSE 'sending' END,
            p_lane, p_content, p_collapse, p_fallback, p_accepted, p_due, p_due_day, p_expires, p_recipients, v_slices);
    IF p_media_id IS NOT NULL THEN
        INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash)
            VALUES (p_tenant, p_id, p_media_id, p_media_hash);
    END IF;
    FOR k IN 1 .. v_slices LOOP
        INSERT INTO gateway.slice
                (tenant_id, message_id, no, lane, kind, due_day, targets, addresses, state, next_at, owner, epoch)
            VALUES (p_tenant, p_id, p_slice_numbers[k], p_lane, p_slice_kinds[k], p_due_day,
                p_targets[v_from:p_slice_ends[k]], p_addresses[v_from:p_slice_ends[k]],
                CASE WHEN p_holder IS NULL THEN 'ready' ELSE 'leased' END, greatest(p_due, now() + p_lease), p_holder,
                CASE WHEN p_holder IS NULL THEN 0 ELSE 1 END);
        v_from := p_slice_ends[k] + 1;
    END LOOP;
    IF v_slices > 0 THEN
        INSERT INTO gateway.lane (tenant_id, lane) VALUES (p_tenant, p_lane) ON CONFLICT DO NOTHING;
    END IF;
    IF v_suppressed > 0 THEN
        INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, address, state, reason, sent_at)
            SELECT p_tenant, p_due_day, p_id, s.target, p_app, p_vendor, s.identity, s.device, s.address, 'suppressed',
                s.reason, p_accepted
            FROM unnest(p_sup_targets, p_sup_identities, p_sup_devices, p_sup_addresses, p_sup_reasons)
                AS s(target, identity, device, address, reason)
            ON CONFLICT DO NOTHING;
    END IF;
    PERFORM gateway.add_counts(
        p_tenant, p_app, p_vendor, p_due, p_node, coalesce(p_recipients, 0), 0, 0, 0, 0, v_suppressed, 0, 0);
    PERFORM gateway.append_events(
        p_tenant, p_app, p_vendor, p_sender, p_id, p_due_day, array_fill('suppressed'::text, ARRAY[v_suppressed]), p_sup_targets);
    RETURN QUERY SELECT 'inserted', p_id, p_recipients;
END $$;

-- Cancels what is not sent: the message's slices come up at once and are written off by whoever claims them.
CREATE FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.message SET state = 'canceled'
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app
            AND (vendor = p_vendor OR p_vendor = 'native') AND state IN ('scheduled', 'expanding', 'sending', 'paused');
    IF NOT FOUND THEN RETURN 0; END IF;
    UPDATE gateway.slice SET next_at = now()
        WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    RETURN 1;
END $$;

-- The identity that reports, and the target of the message that is its own: the identity itself, or the phone registered for it.
CREATE FUNCTION gateway.reported_target(
    p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_target uuid;
BEGIN
    SELECT d.target_id INTO v_target FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message AND d.target_id = p_identity;
    -- 2000: only listed audiences name addresses, and no list is longer.
    IF v_target IS NULL AND p_phone IS NOT NULL AND p_recipients <= 2000 THEN
        SELECT d.target_id INTO v_target FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message
                AND d.address = 'phone:' || p_phone
            ORDER BY d.target_id LIMIT 1;
    END IF;
    RETURN v_target;
END $$;

-- A receipt: first writer wins, `read` implies received, the event follows.
-- One that is faster than its outcome's flush makes the row itself, and the flush fills it in.
CREATE FUNCTION gateway.record_receipt(
    p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamptz, p_node text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    m record;
    d record;
    v_target uuid;
    v_is_read boolean := p_kind = 'read';
    v_first boolean;
    v_failed integer := 0;
    v_expired integer := 0;
BEGIN
    SELECT * INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key;
    IF NOT FOUND THEN RETURN 'orphan'; END IF;
    SELECT vendor, sender_id, due_day, due_at, recipients INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN RETURN 'orphan'; END IF;

    v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
    IF v_target IS NULL THEN
        -- Only a leased slice can have sent it without a row.
        IF EXISTS (
            SELECT FROM gateway.slice s
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state = 'leased' AND i.identity_id = ANY (s.targets))
        THEN
            INSERT INTO gateway.delivery
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                    received_at, read_at)
                VALUES (p_tenant, m.due_day, p_message, i.identity_id, p_app, m.vendor, i.identity_id, i.device_id, i.user_id,
                    p_kind, p_at, CASE WHEN v_is_read THEN p_at END)
                ON CONFLICT DO NOTHING;
            IF FOUND THEN
                PERFORM gateway.add_counts(
                    p_tenant, p_app, m.vendor, m.due_at, p_node, 0, 0, 1, v_is_read::integer, 0, 0, 0, 0);
                PERFORM gateway.append_events(
                    p_tenant, p_app, m.vendor, m.sender_id, p_message, m.due_day, ARRAY[p_kind], ARRAY[i.identity_id]);
                RETURN 'recorded';
            END IF;
        END IF;
        -- The flush may have come between the two looks.
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NULL THEN RETURN 'orphan'; END IF;
    END IF;

    SELECT state, received_at, read_at, transport INTO d FROM gateway.delivery
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target FOR UPDATE;
    IF d.state IN ('failed', 'expired') AND d.transport IS NOT NULL THEN
        -- An attempt without an answer had arrived after all: the device is the better witness.
        v_failed := (d.state = 'failed')::integer;
        v_expired := (d.state = 'expired')::integer;
    ELSIF d.state NOT IN ('sent', 'received', 'read') THEN
        RETURN 'orphan';
    END IF;
    IF d.read_at IS NOT NULL OR (d.received_at IS NOT NULL AND NOT v_is_read) THEN RETURN 'repeated'; END IF;
    v_first := d.received_at IS NULL;
    UPDATE gateway.delivery SET state = p_kind, received_at = coalesce(received_at, p_at),
            read_at = CASE WHEN v_is_read THEN p_at END
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target;
    PERFORM gateway.add_counts(
        p_tenant, p_app, m.vendor, m.due_at, p_node, 0, v_failed + v_expired, v_first::integer, v_is_read::integer,
        -v_failed, 0, -v_expired, 0);
    PERFORM gateway.append_events(
        p_tenant, p_app, m.vendor, m.sender_id, p_message, m.due_day, ARRAY[p_kind], ARRAY[v_target]);
    RETURN 'recorded';
END $$;

-- The delivery that a reporter may see, also one that is still queued; `is_reserved` while its message waits for its time.
CREATE FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text)
RETURNS TABLE (
    message_id uuid, target_id uuid, identity_id uuid, address text, state text, reason text, sent_at timestamptz,
    received_at timestamptz, read_at timestamptz, is_reserved boolean, fallback json, platform text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m gateway.message;
    v_platform text;
    v_target uuid;
BEGIN
    SELECT * INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT x.platform INTO v_platform FROM gateway.device x WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id;
    SELECT * INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.app_id = p_app;
    IF m.message_id IS NOT NULL THEN
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NOT NULL THEN
            RETURN QUERY SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at,
                    d.received_at, d.read_at, m.state = 'scheduled', m.fallback, v_platform
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = v_target;
            RETURN;
        END IF;
        RETURN QUERY SELECT p_message, u.target, CASE WHEN u.target = i.identity_id THEN u.target END, nullif(u.address, ''),
                'queued', NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, m.state = 'scheduled',
                m.fallback, v_platform
            FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets, s.addresses) AS u(target, address)
            WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done'
                AND (u.target = i.identity_id OR u.address = 'phone:' || i.phone)
            ORDER BY u.target = i.identity_id DESC LIMIT 1;
        IF FOUND THEN RETURN; END IF;
    END IF;
    -- Nothing to show, but the platform shapes the answer.
    RETURN QUERY SELECT NULL::uuid, NULL::uuid, NULL::uuid, NULL::text, NULL::text, NULL::text, NULL::timestamptz,
        NULL::timestamptz, NULL::timestamptz, false, NULL::json, v_platform;
END $$;

-- A flush of one slice. Returns how many deliveries were new, or -1 when somebody else holds the slice: nothing was written then.
-- p_disposition: go (still being sent), finished, again (ready in p_after, one attempt more if p_counts).
-- The same call again, because its answer was lost, returns 0.
CREATE FUNCTION gateway.record_slice(
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
BEGIN
    IF p_disposition = 'finished' THEN
        UPDATE gateway.slice SET done = p_done, state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
                AND state = 'leased';
    ELSIF p_disposition = 'again' THEN
        UPDATE gateway.slice SET done = p_done, state = 'ready', owner = NULL, next_at = now() + p_after,
                attempts = least(attempts + p_counts::integer, 32767)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
                AND state = 'leased';
    ELSE
        UPDATE gateway.slice SET done = p_done
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

    SELECT app_id, vendor, sender_id, due_day, due_at, state INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message;
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

    IF p_disposition = 'finished' THEN
        UPDATE gateway.message SET open_slices = open_slices - 1,
                state = CASE WHEN state NOT IN ('scheduled', 'sending') THEN state WHEN open_slices <= 1 THEN 'done' ELSE 'sending' END
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

-- The next page of an audience as new slices. outcome: page, finished, fenced.
-- The native dialect speaks to all dialects, to each device once.
CREATE FUNCTION gateway.expand_slice(
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

    IF m.state IN ('scheduled', 'expanding', 'sending') THEN
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
                state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending') THEN state
                    WHEN open_slices <= 1 THEN 'done' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF m.state IN ('scheduled', 'expanding', 'sending') THEN
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

-- The transport's verdicts on tokens, parallel arrays; p_since null: no time was given.
CREATE FUNCTION gateway.condemn_tokens(
    p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamptz[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE gateway.device d SET token_state = v.state, token_reason = v.reason
        FROM unnest(p_devices, p_tokens, p_states, p_reasons, p_since) AS v(device, token, state, reason, since)
        WHERE d.tenant_id = p_tenant AND d.device_id = v.device AND d.token = v.token
            AND (v.since IS NULL OR d.token_registered_at IS NULL OR d.token_registered_at <= v.since)
            AND (d.token_state = 'active' OR (d.token_state = 'quarantined' AND v.state = 'invalid'));
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
