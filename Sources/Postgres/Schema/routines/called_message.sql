-- A message that the gateway has sent through an upstream of a vendor, by the name that the upstream gave it when it answered. is_paid: its fallback,
-- perhaps a paid one, is sent by the upstream to a device that does not report it. No row: none has this name.
CREATE OR REPLACE FUNCTION gateway.called_message(p_tenant text, p_app text, p_vendor text, p_ref text)
RETURNS TABLE (message_id uuid, upstream text, is_paid boolean) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT c.message_id, c.upstream, m.fallback IS NOT NULL FROM gateway.credential k
        JOIN gateway.upstream_call c ON c.tenant_id = p_tenant AND c.upstream = k.credential_id AND c.reference = p_ref
        JOIN gateway.message m ON m.tenant_id = p_tenant AND m.message_id = c.message_id AND m.app_id = p_app
        WHERE k.tenant_id = p_tenant AND k.kind = 'upstream-' || p_vendor
        ORDER BY c.called_at DESC, c.message_id LIMIT 1;
END $$;

REVOKE ALL ON FUNCTION gateway.called_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.called_message TO gateway_call, gateway_engine;
