-- Creates a group and returns whether it is new, or null if the app does not exist. Ends the transaction with GW429 if it is new and the app has as many as its
-- quota permits.
CREATE OR REPLACE FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM FROM gateway.user_group g
        WHERE g.tenant_id = p_tenant AND g.app_id = p_app AND g.vendor = p_vendor AND g.group_name = p_group;
    IF FOUND THEN RETURN false; END IF;
    PERFORM gateway.admit_group(p_tenant, p_app);
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name) VALUES (p_tenant, p_app, p_vendor, p_group)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

REVOKE ALL ON FUNCTION gateway.put_group FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_group TO gateway_call, gateway_engine;
