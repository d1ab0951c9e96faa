-- One message of the caller's user, which must be p_user: another user's message on the same device is not returned. p_whole: also a message before the
-- caller had the user (`visible_from`).
CREATE OR REPLACE FUNCTION gateway.find_message(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text,
    p_whole boolean DEFAULT true)
RETURNS TABLE (message_id uuid, user_id text, received_at timestamptz, read_at timestamptz) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m record;
    v record;
    v_id uuid;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL OR i.user_id IS DISTINCT FROM p_user THEN RETURN; END IF;
    v_id := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT x.message_id, x.due_day INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = v_id
            AND NOT x.awaits_approval AND (p_hidden IS NULL OR x.content -> 'data' ->> p_hidden IS DISTINCT FROM 'N');
    IF NOT FOUND OR m.message_id < gateway.visible_from(i.assurance, i.user_since, i.created_at, p_whole) THEN RETURN; END IF;
    SELECT min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
        FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND o.vendor = p_vendor
            AND d.due_day = m.due_day AND d.message_id = m.message_id AND d.state <> 'canceled'
            AND d.reason IS DISTINCT FROM 'duplicate' AND d.reason IS DISTINCT FROM 'assurance'
            AND (p_whole OR i.assurance >= 2 OR o.assurance <= i.assurance);
    IF v.rows = 0 THEN RETURN; END IF;
    RETURN QUERY SELECT m.message_id, p_user, v.received, v.read;
END $$;

REVOKE ALL ON FUNCTION gateway.find_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_message TO gateway_call, gateway_engine;
