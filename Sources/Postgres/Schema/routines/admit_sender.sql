-- Ends the transaction with GW429 if the sender is new and its app has as many senders as its quota permits. New senders of an app are created one after the
-- other.
CREATE OR REPLACE FUNCTION gateway.admit_sender(p_tenant text, p_app text, p_vendor text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_quota bigint := gateway.quota_of(p_tenant, p_app, 'senders');
BEGIN
    PERFORM FROM gateway.sender s WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.name = p_name;
    IF FOUND THEN RETURN; END IF;
    PERFORM gateway.lock_name(p_tenant, 'senders', p_app);
    PERFORM FROM gateway.sender s WHERE s.tenant_id = p_tenant AND s.app_id = p_app OFFSET greatest(v_quota, 1) - 1 LIMIT 1;
    IF FOUND OR v_quota < 1 THEN
        RAISE EXCEPTION 'a quota of the app is used up' USING ERRCODE = 'GW429', CONSTRAINT = 'senders';
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.admit_sender FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.admit_sender TO gateway_call, gateway_engine;
