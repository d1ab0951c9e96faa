-- Messages as a history shows them, in the order of the arrays; deleted messages, and those that await an approval, are left out.
CREATE OR REPLACE FUNCTION gateway.shown_messages(
    p_tenant text, p_messages uuid[], p_users text[], p_received timestamptz[], p_read timestamptz[])
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    -- `unnest((SELECT …))` and OFFSET 0: see `settle_receipts`.
    RETURN QUERY SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id, m.numbers, m.sender_id,
            u.user_id, u.received_at, u.read_at
        FROM unnest((SELECT p_messages), (SELECT p_users), (SELECT p_received), (SELECT p_read)) WITH ORDINALITY
            AS u(message, user_id, received_at, read_at, o)
        CROSS JOIN LATERAL (
            SELECT x.message_id, x.app_id, x.vendor, x.content, x.due_at, x.due_local, x.expires_at, x.collapse_id, x.sender_id,
                (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r
                    WHERE r.tenant_id = p_tenant AND r.message_id = x.message_id) AS numbers
            FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = u.message AND NOT x.awaits_approval OFFSET 0) AS m
        ORDER BY u.o;
END $$;

REVOKE ALL ON FUNCTION gateway.shown_messages FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.shown_messages TO gateway_call, gateway_engine;
