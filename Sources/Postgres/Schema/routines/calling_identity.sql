-- The active identity that a caller proves with its key, otherwise with its token; nulls if there is none.
CREATE OR REPLACE FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text)
RETURNS gateway.identity LANGUAGE plpgsql STABLE AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.key = p_key AND x.vendor = p_vendor AND x.state = 'active';
        IF FOUND THEN RETURN i; END IF;
    END IF;
    IF p_token IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.device d
            JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = d.device_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
                AND x.app_id = p_app AND x.vendor = p_vendor AND x.state = 'active'
            ORDER BY x.registered_at DESC LIMIT 1;
    END IF;
    RETURN i;
END $$;

REVOKE ALL ON FUNCTION gateway.calling_identity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.calling_identity TO gateway_call, gateway_engine;
