-- Removes the token from devices without an active identity.
CREATE OR REPLACE FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.device d SET token = NULL, token_state = 'none', token_reason = NULL
        WHERE d.tenant_id = p_tenant AND d.device_id = ANY (p_devices) AND d.token IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.state = 'active');
END $$;

REVOKE ALL ON FUNCTION gateway.drop_unused_tokens FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_unused_tokens TO gateway_call, gateway_engine;
