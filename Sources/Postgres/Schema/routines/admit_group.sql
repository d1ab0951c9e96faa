-- Ends the transaction with GW429 if an app has as many groups as its quota permits. New groups of an app are created one after the other.
CREATE OR REPLACE FUNCTION gateway.admit_group(p_tenant text, p_app text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_quota bigint := gateway.quota_of(p_tenant, p_app, 'groups');
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'groups', p_app);
    PERFORM FROM gateway.user_group g WHERE g.tenant_id = p_tenant AND g.app_id = p_app OFFSET greatest(v_quota, 1) - 1 LIMIT 1;
    IF FOUND OR v_quota < 1 THEN
        RAISE EXCEPTION 'a quota of the app is used up' USING ERRCODE = 'GW429', CONSTRAINT = 'groups';
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.admit_group FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.admit_group TO gateway_call, gateway_engine;
