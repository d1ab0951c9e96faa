-- The identity that proves a caller's right to read a history: the active identity of a key or a token; without both, any identity of the user, which only
-- an app's own setting allows.
CREATE OR REPLACE FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text)
RETURNS gateway.identity LANGUAGE plpgsql STABLE AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL OR p_token IS NOT NULL THEN
        i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    ELSE
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.user_id = p_reader AND x.vendor = p_vendor AND x.state = 'active'
            LIMIT 1;
    END IF;
    RETURN i;
END $$;

REVOKE ALL ON FUNCTION gateway.reading_identity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.reading_identity TO gateway_call, gateway_engine;
