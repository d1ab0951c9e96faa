-- One message from the history of the caller, or of its user. p_whole: also a message to the user before the caller had it (`visible_from`).
CREATE OR REPLACE FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text,
    p_whole boolean DEFAULT true)
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message AND NOT m.awaits_approval;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT d.user_id AS name, d.received_at AS received, d.read_at AS read INTO v FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
            AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'assurance';
    IF NOT FOUND THEN
        IF v_message < gateway.visible_from(i.assurance, i.user_since, i.created_at, p_whole) THEN RETURN; END IF;
        SELECT i.user_id AS name, min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
            FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'assurance'
                AND (p_whole OR i.assurance >= 2 OR o.assurance <= i.assurance);
        IF v.rows = 0 THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT s.* FROM gateway.shown_messages(
        p_tenant, ARRAY[v_message], ARRAY[v.name], ARRAY[v.received], ARRAY[v.read]) s;
END $$;

REVOKE ALL ON FUNCTION gateway.history_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.history_message TO gateway_call, gateway_engine;
