-- Whether another active identity of the app, which is none of p_except, has the user or the phone. Null values are had by none. Identities of other vendors on
-- the same device (p_device) do not count: one device may use several dialects.
CREATE OR REPLACE FUNCTION gateway.is_taken(p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_user text, p_phone text,
    p_except uuid[] DEFAULT '{}')
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_user IS NOT NULL AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.user_id = p_user
            AND (o.vendor = p_vendor OR o.device_id IS DISTINCT FROM p_device)
            AND o.state = 'active' AND o.assurance >= 0 AND o.identity_id <> p_identity AND o.identity_id <> ALL (p_except))
    OR p_phone IS NOT NULL AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.phone = p_phone
            AND (o.vendor = p_vendor OR o.device_id IS DISTINCT FROM p_device)
            AND o.state = 'active' AND o.assurance >= 0 AND o.identity_id <> p_identity AND o.identity_id <> ALL (p_except));
END $$;

REVOKE ALL ON FUNCTION gateway.is_taken FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.is_taken TO gateway_call, gateway_engine;
