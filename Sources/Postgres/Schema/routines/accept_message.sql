-- Stores a message with everything that its acceptance promises. outcome: inserted, repeated (with the answer of the first call), or mismatch (the
-- idempotency key was used with another body).
--
-- Slices are passed flattened: slice k has the targets up to p_slice_ends[k]. p_slice_dues contains the due times of slices that are due later than the
-- message; slices with a null entry are due with it. p_holder is the node that leases the slices from the start, for p_lease; if null, they are ready when
-- due. With p_awaits the message is paused until someone other than p_by approves it.
--
-- p_share: the recipients that the message takes of the p_share_limit that the key p_by has on this UTC day; null: the key has no limit. Ends the
-- transaction with GW429 if fewer are left.
CREATE OR REPLACE FUNCTION gateway.accept_message(
    p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint,
    p_accepted timestamptz, p_due timestamptz, p_due_day integer, p_expires timestamptz, p_fallback json, p_recipients bigint,
    p_media_id text, p_media_hash text, p_key text, p_body_hash text,
    p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[],
    p_holder text, p_lease interval, p_node text,
    p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[],
    p_audience json DEFAULT NULL, p_due_local bigint DEFAULT NULL, p_slice_dues timestamptz[] DEFAULT NULL,
    p_awaits boolean DEFAULT false, p_by text DEFAULT NULL, p_share bigint DEFAULT NULL, p_share_limit bigint DEFAULT NULL,
    p_fingerprint bytea DEFAULT NULL, p_window interval DEFAULT NULL)
RETURNS TABLE (outcome text, message_id uuid, recipients bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_old gateway.idempotency;
    v_slices integer := cardinality(p_slice_numbers);
    v_suppressed integer := cardinality(p_sup_targets);
    v_from integer := 1;
    v_holder text;
    v_next timestamptz;
    v_expands boolean := 'expand' = ANY (p_slice_kinds);
    v_count integer := coalesce(cardinality(p_targets), 0) + v_suppressed;
    v_is_counted boolean := v_expands OR v_count > 2000;
    v_reasons json;
    v_kinds text[] := ARRAY['accepted'];
    v_earlier uuid;
    v_compared timestamptz;
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

    IF p_fingerprint IS NOT NULL THEN
        v_earlier := gateway.earlier_message(p_tenant, p_app, p_fingerprint, p_vendor, p_due, p_window);
        -- Behind the lock of the text, so that the times have the order of the commits.
        v_compared := clock_timestamp();
    END IF;
    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, sender_id, state, lane, content, collapse_id, fallback, accepted_at,
            due_at, due_day, expires_at, recipients, audience, due_local, is_counted, paused_at, awaits_approval, submitted_by,
            fingerprint, entry_point, compared_at, duplicate_of, duplicate_window)
        VALUES (p_tenant, p_id, p_app, p_vendor, p_sender,
            CASE WHEN v_slices = 0 THEN 'done' WHEN p_awaits THEN 'paused' WHEN p_due > p_accepted AND p_holder IS NULL THEN 'scheduled'
                WHEN v_expands THEN 'expanding' ELSE 'sending' END,
            p_lane, p_content, p_collapse, p_fallback, p_accepted, p_due, p_due_day, p_expires, p_recipients, p_audience, p_due_local,
            v_is_counted, CASE WHEN p_awaits THEN p_accepted END, p_awaits AND v_slices > 0, p_by,
            p_fingerprint, CASE WHEN p_fingerprint IS NOT NULL THEN p_vendor END, v_compared, v_earlier,
            CASE WHEN v_earlier IS NOT NULL THEN p_window END);
    IF v_slices > 1 OR v_expands THEN
        INSERT INTO gateway.message_open (tenant_id, message_id) VALUES (p_tenant, p_id);
    END IF;
    IF p_media_id IS NOT NULL THEN
        INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash)
            VALUES (p_tenant, p_id, p_media_id, p_media_hash);
    END IF;
    FOR k IN 1 .. v_slices LOOP
        -- A slice that is due later is not leased yet.
        v_holder := CASE WHEN p_slice_dues[k] IS NULL THEN p_holder END;
        v_next := coalesce(p_slice_dues[k], greatest(p_due, now() + p_lease));
        INSERT INTO gateway.slice
                (tenant_id, message_id, no, lane, kind, due_day, targets, addresses, state, next_at, resume_at, owner, epoch, due_at)
            VALUES (p_tenant, p_id, p_slice_numbers[k], p_lane, p_slice_kinds[k], p_due_day,
                p_targets[v_from:p_slice_ends[k]], p_addresses[v_from:p_slice_ends[k]],
                CASE WHEN v_holder IS NULL THEN 'ready' ELSE 'leased' END, CASE WHEN p_awaits THEN p_expires ELSE v_next END,
                CASE WHEN p_awaits THEN coalesce(p_slice_dues[k], p_due) END, v_holder,
                CASE WHEN v_holder IS NULL THEN 0 ELSE 1 END,
                coalesce(p_slice_dues[k], CASE WHEN p_due_local IS NOT NULL THEN p_due END));
        v_from := p_slice_ends[k] + 1;
    END LOOP;
    INSERT INTO gateway.lane (tenant_id, lane) VALUES (p_tenant, p_lane) ON CONFLICT DO NOTHING;
    IF v_suppressed > 0 THEN
        INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, address, state, reason, sent_at)
            SELECT p_tenant, p_due_day, p_id, s.target, p_app, p_vendor, s.identity, s.device, s.address, 'suppressed',
                s.reason, p_accepted
            FROM unnest(p_sup_targets, p_sup_identities, p_sup_devices, p_sup_addresses, p_sup_reasons)
                AS s(target, identity, device, address, reason)
            ON CONFLICT DO NOTHING;
        SELECT json_object_agg('suppressed:' || x.reason, x.count) INTO v_reasons
            FROM (SELECT s.reason, count(*) AS count FROM unnest(p_sup_reasons) AS s(reason) GROUP BY s.reason) x;
    END IF;
    -- Targets of an audience are counted page by page. The count in the answer before that is an estimate.
    IF v_count > 0 THEN
        PERFORM gateway.append_counts(
            p_tenant, p_app, p_vendor, p_due, CASE WHEN v_is_counted THEN p_id END,
            p_targets => v_count, p_suppressed => v_suppressed, p_reasons => v_reasons);
    END IF;
    IF p_share_limit IS NOT NULL THEN
        INSERT INTO gateway.api_key_day AS d (tenant_id, name, day, recipients)
            VALUES (p_tenant, substr(p_by, length('key:') + 1), (p_accepted AT TIME ZONE 'UTC')::date, p_share)
            ON CONFLICT (tenant_id, name, day) DO UPDATE SET recipients = d.recipients + excluded.recipients
            WHERE d.recipients + excluded.recipients <= p_share_limit;
        IF NOT FOUND OR p_share > p_share_limit THEN
            RAISE EXCEPTION 'the recipients of the key are used up' USING ERRCODE = 'GW429', CONSTRAINT = 'recipientsPerDay';
        END IF;
    END IF;
    -- The message's own events have no target.
    IF p_awaits AND v_slices > 0 THEN v_kinds := v_kinds || 'approval_needed'::text; END IF;
    PERFORM gateway.log_events(
        p_tenant, p_app, p_vendor, p_sender, v_kinds || array_fill('suppressed'::text, ARRAY[v_suppressed]), ARRAY[p_id],
        ARRAY[p_due_day], array_fill(NULL::uuid, ARRAY[cardinality(v_kinds)]) || p_sup_targets, NULL,
        array_fill(NULL::text, ARRAY[cardinality(v_kinds)]) || p_sup_reasons);
    RETURN QUERY SELECT 'inserted', p_id, p_recipients;
END $$;

REVOKE ALL ON FUNCTION gateway.accept_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.accept_message TO gateway_call, gateway_engine;
