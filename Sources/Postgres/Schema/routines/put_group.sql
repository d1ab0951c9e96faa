-- Creates a group and returns whether it is new, or null if the app does not exist.
CREATE OR REPLACE FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name) VALUES (p_tenant, p_app, p_vendor, p_group)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

REVOKE ALL ON FUNCTION gateway.put_group FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_group TO gateway_call, gateway_engine;
