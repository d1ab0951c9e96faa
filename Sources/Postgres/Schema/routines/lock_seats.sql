-- Locks what a registration will write, for registrations that write more than the device of their token and the identity of their key: the device of the identity
-- and the one that has the token, then, if a phone is given, the identities of these devices and of the phone. Each in the order of their ids.
CREATE OR REPLACE FUNCTION gateway.lock_seats(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_platform text, p_environment text, p_token text,
    p_phone text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[] := ARRAY[p_device];
    v_ids uuid[];
BEGIN
    IF p_token IS NOT NULL THEN
        -- The one that `seat_token` finds.
        v_devices := v_devices || (
            SELECT d.device_id FROM gateway.device d
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = p_platform AND d.token_digest = md5(p_token)
                AND d.token = p_token AND (p_environment IS NULL OR d.environment = p_environment)
            ORDER BY d.token_registered_at DESC LIMIT 1);
    END IF;
    PERFORM FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id = ANY (v_devices)
        ORDER BY d.device_id FOR NO KEY UPDATE;
    IF p_phone IS NULL THEN RETURN; END IF;
    v_ids := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.device_id = ANY (v_devices))
        || ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.phone = p_phone AND i.state = 'active')
        || p_identity;
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids)
        ORDER BY i.identity_id FOR NO KEY UPDATE;
END $$;

REVOKE ALL ON FUNCTION gateway.lock_seats FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.lock_seats TO gateway_call, gateway_engine;
