-- Records a receipt: the first one counts, `read` implies received, and an event follows. A receipt that arrives before the outcome of its delivery
-- creates the row; `record_outcomes` completes it and counts both. A receipt of a rejected delivery, or of one that expired or was canceled after an attempt,
-- makes it uncertain: the device's report has precedence over the answer of the push service. A message that an upstream sent to targets that its call did not
-- name has a delivery for each device that reports it; its name may be a UUID too. A target of its call that was not known belongs to the first device with its
-- address. A receipt that changes nothing is counted by its reason (`note_orphan`), unless p_counts is false: then the caller counts it.
--
-- Locks in the order of docs/architecture.md: delivery, inbox, event log.
CREATE OR REPLACE FUNCTION gateway.record_receipt(
    p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text, p_kind text, p_at timestamptz, p_node text,
    p_counts boolean DEFAULT true)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    m record;
    d record;
    v_named uuid;
    v_target uuid;
    v_is_read boolean := p_kind = 'read';
    v_is_corrected boolean;
BEGIN
    SELECT * INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key;
    IF NOT FOUND THEN RETURN gateway.note_orphan(p_tenant, p_app, 'unknownDevice', p_message, p_counts::integer); END IF;
    SELECT vendor, sender_id, due_day, due_at, recipients, is_counted, observed_from INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN
        v_named := gateway.numbered_message(p_tenant, p_app, p_vendor, p_message::text);
        SELECT vendor, sender_id, due_day, due_at, recipients, is_counted, observed_from INTO m FROM gateway.message
            WHERE tenant_id = p_tenant AND message_id = v_named AND app_id = p_app;
        IF NOT FOUND THEN RETURN gateway.note_orphan(p_tenant, p_app, 'unknownMessage', p_message, p_counts::integer); END IF;
        p_message := v_named;
    END IF;

    v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
    IF v_target IS NULL AND m.observed_from IS NOT NULL THEN
        v_target := gateway.named_target(p_tenant, p_message, m.due_day, m.recipients, i.key, i.user_id);
    END IF;
    IF v_target IS NULL THEN
        IF m.observed_from IS NOT NULL AND m.recipients IS NULL THEN
            INSERT INTO gateway.delivery
                    (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state, transport, sent_at,
                    received_at, read_at)
                VALUES (p_tenant, m.due_day, p_message, i.identity_id, p_app, m.vendor, i.identity_id, i.device_id, i.user_id, p_kind,
                    'observed:' || m.vendor, m.due_at, p_at, CASE WHEN v_is_read THEN p_at END)
                ON CONFLICT DO NOTHING;
            IF FOUND THEN
                PERFORM gateway.note_sightings(p_tenant, p_app, ARRAY[i.identity_id], now());
                PERFORM gateway.count_observed(p_tenant, p_app, m.vendor, m.due_at, 1, 1, v_is_read::integer);
                PERFORM gateway.log_events(
                    p_tenant, p_app, m.vendor, NULL, ARRAY['sent', p_kind], ARRAY[p_message], ARRAY[m.due_day],
                    ARRAY[i.identity_id, i.identity_id]);
                RETURN 'recorded';
            END IF;
        ELSE
            -- The push may have left without a row for it yet: its slice is being sent, or was, and waits for another try.
            v_target := gateway.tried_target(p_tenant, p_message, ARRAY[i.identity_id]);
            IF v_target IS NOT NULL THEN
                INSERT INTO gateway.delivery
                        (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, user_id, state,
                        received_at, read_at, device_vendor)
                    VALUES (p_tenant, m.due_day, p_message, i.identity_id, p_app, m.vendor, i.identity_id, i.device_id, i.user_id,
                        p_kind, p_at, CASE WHEN v_is_read THEN p_at END,
                        CASE WHEN i.vendor <> m.vendor OR m.vendor = 'native' THEN i.vendor END)
                    ON CONFLICT DO NOTHING;
                IF FOUND THEN
                    PERFORM gateway.note_sightings(p_tenant, p_app, ARRAY[i.identity_id], now());
                    PERFORM gateway.log_events(
                        p_tenant, p_app, m.vendor, m.sender_id, ARRAY[p_kind], ARRAY[p_message], ARRAY[m.due_day], ARRAY[i.identity_id]);
                    RETURN 'recorded';
                END IF;
            END IF;
        END IF;
        -- `record_outcomes` may have written the outcome between the two lookups.
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NULL THEN RETURN gateway.note_orphan(p_tenant, p_app, 'otherDevice', p_message, p_counts::integer); END IF;
    END IF;

    SELECT state, reason, transport, device_vendor, is_certain, attempts, sent_at, received_at, read_at INTO d FROM gateway.delivery
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target FOR UPDATE;
    v_is_corrected := d.state = 'failed' AND d.transport IS NOT NULL OR d.state IN ('expired', 'canceled') AND d.attempts > 0;
    IF NOT v_is_corrected AND d.state NOT IN ('sent', 'received', 'read') THEN
        RETURN gateway.note_orphan(p_tenant, p_app, 'notSent', p_message, p_counts::integer);
    END IF;
    PERFORM gateway.note_sightings(p_tenant, p_app, ARRAY[i.identity_id], now());
    DELETE FROM gateway.inbox_open WHERE tenant_id = p_tenant AND identity_id = i.identity_id AND message_id = p_message;
    IF NOT v_is_corrected AND (d.read_at IS NOT NULL OR d.received_at IS NOT NULL AND NOT v_is_read) THEN
        RETURN gateway.note_orphan(p_tenant, p_app, 'repeated', p_message, p_counts::integer);
    END IF;
    UPDATE gateway.delivery SET state = p_kind, received_at = coalesce(received_at, p_at),
            read_at = CASE WHEN v_is_read THEN coalesce(read_at, p_at) END, is_certain = is_certain AND NOT v_is_corrected
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target;
    -- A row without an outcome is counted when its outcome is written.
    IF d.sent_at IS NOT NULL THEN
        PERFORM gateway.append_counts(
            p_tenant, p_app, m.vendor, m.due_at, CASE WHEN m.is_counted THEN p_message END, p_device => d.device_vendor,
            p_transport => d.transport, p_tried => -(d.state = 'expired')::integer, p_rejected => -(d.state = 'failed')::integer,
            p_uncertain => v_is_corrected::integer, p_received => (v_is_corrected OR d.received_at IS NULL)::integer,
            p_read => v_is_read::integer, p_reasons => CASE WHEN d.state = 'failed' AND d.reason IS NOT NULL
                THEN json_build_object('rejected:' || d.reason, -1) END, p_canceled => -(d.state = 'canceled')::integer);
    END IF;
    PERFORM gateway.log_events(
        p_tenant, p_app, m.vendor, m.sender_id, ARRAY[p_kind], ARRAY[p_message], ARRAY[m.due_day], ARRAY[v_target], ARRAY[d.state]);
    RETURN 'recorded';
END $$;

REVOKE ALL ON FUNCTION gateway.record_receipt FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_receipt TO gateway_call, gateway_engine;
