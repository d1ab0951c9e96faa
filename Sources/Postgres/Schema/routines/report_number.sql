-- Records a receipt by a message's number. Returns recorded, repeated, unknown_device or unknown_message. A message that was not pushed may be read. If only
-- another device of the user received the message, it is marked read there.
CREATE OR REPLACE FUNCTION gateway.report_number(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamptz, p_node text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v_outcome text;
    v_owner uuid;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN
        PERFORM gateway.note_orphan(p_tenant, p_app, 'unknownDevice', NULL);
        RETURN 'unknown_device';
    END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message;
    IF NOT FOUND THEN
        PERFORM gateway.note_orphan(p_tenant, p_app, 'unknownMessage', v_message);
        RETURN 'unknown_message';
    END IF;
    v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node, false);
    IF v_outcome = 'orphan' THEN
        SELECT d.identity_id INTO v_owner FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
                AND d.state <> 'canceled';
        IF NOT FOUND THEN
            SELECT d.identity_id INTO v_owner
                FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                    AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled'
                ORDER BY d.identity_id LIMIT 1;
            IF NOT FOUND THEN
                PERFORM gateway.note_orphan(p_tenant, p_app, 'otherDevice', v_message);
                RETURN 'unknown_message';
            END IF;
        END IF;
        v_outcome := CASE WHEN cardinality(gateway.mark_deliveries(
            p_tenant, v_owner, ARRAY[v_message], ARRAY[v_day], p_kind, p_at, p_node)) > 0 THEN 'recorded' ELSE 'repeated' END;
    END IF;
    IF v_outcome = 'repeated' THEN PERFORM gateway.note_orphan(p_tenant, p_app, 'repeated', v_message); END IF;
    RETURN v_outcome;
END $$;

REVOKE ALL ON FUNCTION gateway.report_number FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.report_number TO gateway_call, gateway_engine;
