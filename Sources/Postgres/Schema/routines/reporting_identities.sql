-- The identities of a token, a key or a user; the first of these that is found is used. For a user, the newest fifty identities.
CREATE OR REPLACE FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
BEGIN
    IF p_token IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.device d
            JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.app_id = p_app AND i.vendor = p_vendor
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_key IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_user IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = p_user
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    RETURN coalesce(v_ids, '{}');
END $$;

REVOKE ALL ON FUNCTION gateway.reporting_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.reporting_identities TO gateway_call, gateway_engine;
