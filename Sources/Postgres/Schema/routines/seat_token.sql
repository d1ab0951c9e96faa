-- Gives a token to the device that has it, or to p_device, or to a new device with the id p_new_device; replaces no identity (`replace_identities` does). The
-- caller has locked the name of the token. If the token is on another device than p_device, both are locked, in their order: the caller may take the token from
-- p_device (`drop_unused_tokens`).
CREATE OR REPLACE FUNCTION gateway.seat_token(
    p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamptz,
    OUT o_device uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_environment text := p_environment;
BEGIN
    SELECT d.device_id, d.environment INTO o_device, v_environment FROM gateway.device d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = p_platform AND d.token_digest = md5(p_token)
            AND d.token = p_token AND (p_environment IS NULL OR d.environment = p_environment)
        ORDER BY d.token_registered_at DESC LIMIT 1;
    IF o_device IS NOT NULL THEN
        IF o_device <> p_device THEN
            PERFORM FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id IN (o_device, p_device)
                ORDER BY d.device_id FOR NO KEY UPDATE;
        END IF;
        UPDATE gateway.device SET token_state = 'active', token_reason = NULL,
                token_registered_at = greatest(token_registered_at, p_at), seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = o_device AND token = p_token;
        -- The device may have lost the token before it was locked: its identity got another one, or left it.
        IF NOT FOUND THEN RAISE EXCEPTION 'the token has left its device meanwhile' USING ERRCODE = '40001'; END IF;
    ELSIF p_device IS NOT NULL THEN
        UPDATE gateway.device SET token = p_token, platform = p_platform, environment = coalesce(p_environment, environment),
                token_state = 'active', token_reason = NULL, token_registered_at = p_at, seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = p_device;
        -- Nobody has shown possession of the new token, and nobody has vouched for its user. A caller that does so sets the level of its own identity.
        UPDATE gateway.identity SET assurance = 0 WHERE tenant_id = p_tenant AND device_id = p_device AND assurance > 0;
        o_device := p_device;
    ELSE
        INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            VALUES (p_tenant, p_new_device, p_app, p_platform, coalesce(p_environment, 'production'), p_token, 'active', p_at, p_at, p_at);
        o_device := p_new_device;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.seat_token FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.seat_token TO gateway_call, gateway_engine;
