-- Ends the transaction with GW403 if the key belongs to another caller: its identity is active and has a user and a device whose token works, and the call names
-- neither this token nor this user. Takes the lock of registrations, so that no other registration or assignment of the key comes in between.
CREATE OR REPLACE FUNCTION gateway.expect_owner(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    PERFORM FROM gateway.identity i
        JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active'
            AND d.token_state = 'active' AND d.token IS NOT NULL AND d.token IS DISTINCT FROM p_token
            AND i.user_id IS NOT NULL AND i.user_id IS DISTINCT FROM p_user;
    IF FOUND THEN RAISE EXCEPTION 'the key belongs to another device' USING ERRCODE = 'GW403'; END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.expect_owner FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.expect_owner TO gateway_call, gateway_engine;
