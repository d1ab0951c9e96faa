-- Stores a message that an upstream sent, without slices: nothing is left to send. Returns new, known (a message has one of its names already) or unknownApp.
--
-- p_recipients is null if the call names no targets; their deliveries are written when devices report them (`record_receipt`). Targets without an identity have an
-- address. p_number: the upstream counts its messages, so that the numbers of the gateway must stay above it. The message has no sender: the upstream reports to
-- its back ends itself.
CREATE OR REPLACE FUNCTION gateway.observe_message(
    p_tenant text, p_app text, p_vendor text, p_id uuid, p_upstream text, p_refs text[], p_number bigint, p_paid boolean,
    p_content json, p_collapse text, p_lane smallint, p_accepted timestamptz, p_due timestamptz, p_due_day integer, p_due_local bigint,
    p_expires timestamptz, p_fallback json, p_recipients bigint, p_targets uuid[], p_identities uuid[], p_addresses text[],
    p_fingerprint bytea DEFAULT NULL, p_window interval DEFAULT NULL)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_count integer := cardinality(p_targets);
    v_stored integer;
    v_entry text := 'observed:' || p_vendor;
    v_earlier uuid;
    v_compared timestamptz;
BEGIN
    PERFORM FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL;
    IF NOT FOUND THEN RETURN 'unknownApp'; END IF;
    PERFORM FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = ANY (p_refs) LIMIT 1;
    IF FOUND THEN RETURN 'known'; END IF;
    -- The upstream has pushed it already, so that an earlier message is for the explanation only.
    IF p_fingerprint IS NOT NULL THEN
        v_earlier := gateway.earlier_message(p_tenant, p_app, p_fingerprint, v_entry, p_due, p_window);
        v_compared := clock_timestamp();
    END IF;
    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, state, lane, content, collapse_id, fallback, accepted_at, due_at, due_day, expires_at,
            recipients, due_local, observed_from, fingerprint, entry_point, compared_at, duplicate_of,
            duplicate_window)
        VALUES (p_tenant, p_id, p_app, p_vendor, 'done', p_lane, p_content, p_collapse, p_fallback, p_accepted, p_due, p_due_day, p_expires,
            p_recipients, p_due_local, p_upstream, p_fingerprint, CASE WHEN p_fingerprint IS NOT NULL THEN v_entry END,
            v_compared, v_earlier, CASE WHEN v_earlier IS NOT NULL THEN p_window END);
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id, owner, is_paid)
        SELECT p_tenant, p_app, p_vendor, u.ref, p_id, p_upstream, p_paid FROM unnest(p_refs) AS u(ref) ORDER BY u.ref
        ON CONFLICT (tenant_id, app_id, vendor, ref) DO NOTHING;
    GET DIAGNOSTICS v_stored = ROW_COUNT;
    -- Another transaction has stored the same message meanwhile: the repetition of this one finds it.
    IF v_stored = 0 AND cardinality(p_refs) > 0 THEN
        RAISE EXCEPTION 'the message is being stored by another call' USING ERRCODE = 'serialization_failure';
    END IF;
    IF v_count > 0 THEN
        INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, address, state, transport, sent_at)
            SELECT p_tenant, p_due_day, p_id, t.target, p_app, p_vendor, i.identity_id, i.device_id, i.user_id, t.address, 'sent',
                'observed:' || p_vendor, p_accepted
            FROM unnest(p_targets, p_identities, p_addresses) AS t(target, identity, address)
            LEFT JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = t.identity
            ON CONFLICT DO NOTHING;
        PERFORM gateway.count_observed(p_tenant, p_app, p_vendor, p_due, v_count);
    END IF;
    PERFORM gateway.log_events(
        p_tenant, p_app, p_vendor, NULL, ARRAY['accepted'] || array_fill('sent'::text, ARRAY[v_count]), ARRAY[p_id], ARRAY[p_due_day],
        ARRAY[NULL::uuid] || p_targets);
    IF p_number IS NOT NULL AND p_number < 1000000000000000 THEN
        PERFORM gateway.raise_number(p_tenant, p_app, p_vendor, 'message', p_number + 500000, p_number + 1000000);
    END IF;
    RETURN 'new';
END $$;

REVOKE ALL ON FUNCTION gateway.observe_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.observe_message TO gateway_call, gateway_engine;
