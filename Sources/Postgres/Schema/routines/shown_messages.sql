-- Messages as a history shows them, in the order of the arrays; deleted messages, and those that await an approval, are left out.
CREATE OR REPLACE FUNCTION gateway.shown_messages(
    p_tenant text, p_messages uuid[], p_users text[], p_received timestamptz[], p_read timestamptz[])
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    k integer;
BEGIN
    FOR k IN 1 .. coalesce(cardinality(p_messages), 0) LOOP
        RETURN QUERY SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id,
                (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r
                    WHERE r.tenant_id = p_tenant AND r.message_id = m.message_id),
                m.sender_id, p_users[k], p_received[k], p_read[k]
            FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_messages[k] AND NOT m.awaits_approval;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.shown_messages FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.shown_messages TO gateway_call, gateway_engine;
