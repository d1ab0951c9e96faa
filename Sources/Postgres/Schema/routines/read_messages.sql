-- The content of messages in the order of the arrays: `shown_messages`, and the values of their placeholders.
CREATE OR REPLACE FUNCTION gateway.read_messages(
    p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamptz[], p_read timestamptz[])
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz, variables text,
    was_sent boolean)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    s record;
    v_variables text;
BEGIN
    FOR s IN SELECT x.* FROM gateway.shown_messages(p_tenant, p_messages, p_users, p_received, p_read) x LOOP
        v_variables := NULL;
        SELECT v.variables::text INTO v_variables FROM gateway.message_variable v
            WHERE v.tenant_id = p_tenant AND v.message_id = s.message_id AND v.user_id = s.user_id;
        RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, s.received_at, s.read_at, v_variables,
            s.received_at IS NOT NULL OR s.read_at IS NOT NULL OR gateway.was_sent(p_tenant, p_app, s.user_id, s.message_id);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.read_messages FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.read_messages TO gateway_call, gateway_engine;
