-- Creates a group whose name is its number; returns null if the app does not exist. Ends the transaction with GW429 if the app has as many as its quota permits.
CREATE OR REPLACE FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM gateway.admit_group(p_tenant, p_app);
    v_name := gateway.next_number(p_tenant, p_app, p_vendor, 'group')::text;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name, title)
        VALUES (p_tenant, p_app, p_vendor, v_name, p_title) ON CONFLICT DO NOTHING;
    RETURN v_name;
END $$;

REVOKE ALL ON FUNCTION gateway.create_group FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.create_group TO gateway_call, gateway_engine;
