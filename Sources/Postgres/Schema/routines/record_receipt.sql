-- Records a receipt: the first one counts, `read` implies received, and an event follows. A receipt that arrives before the outcome of its delivery
-- creates the row, and `record_slice` completes it.
CREATE OR REPLACE FUNCTION gateway.record_receipt(
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
        -- Only a leased slice can have sent the push without a row for it yet.
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
        -- `record_slice` may have written the outcome between the two lookups.
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NULL THEN RETURN 'orphan'; END IF;
    END IF;

    SELECT state, received_at, read_at, transport INTO d FROM gateway.delivery
        WHERE tenant_id = p_tenant AND due_day = m.due_day AND message_id = p_message AND target_id = v_target FOR UPDATE;
    IF d.state IN ('failed', 'expired') AND d.transport IS NOT NULL THEN
        -- The push arrived although the attempt got no answer: the device's report has precedence.
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

REVOKE ALL ON FUNCTION gateway.record_receipt FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.record_receipt TO gateway_call, gateway_engine;
