-- Whether the tenant's back end expects a registration of this user, with this token where it named one. The expectation is used up. A phone must be named by
-- both or neither: an expectation of the user alone does not confirm a phone that the device claims. p_token null: the token of the device.
CREATE OR REPLACE FUNCTION gateway.meet_expectation(p_tenant text, p_app text, p_user text, p_phone text, p_token text, p_device uuid)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.expected_user e
        WHERE e.tenant_id = p_tenant AND e.app_id = p_app AND e.user_id = p_user AND e.ends_at > now() AND e.phone IS NOT DISTINCT FROM p_phone
            AND (e.token_digest IS NULL OR e.token_digest = sha256(convert_to(coalesce(p_token, (
                SELECT d.token FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id = p_device)), 'UTF8')));
    RETURN FOUND;
END $$;

REVOKE ALL ON FUNCTION gateway.meet_expectation FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.meet_expectation TO gateway_call, gateway_engine;
