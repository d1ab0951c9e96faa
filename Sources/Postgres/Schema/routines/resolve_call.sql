-- The tenant and app of a vendor's key, the version of the app's rules (null: none), and whether calls look for first keys of its identities. A binding for
-- this host has precedence over one for every host.
CREATE OR REPLACE FUNCTION gateway.resolve_call(p_vendor text, p_kind text, p_value text, p_host text)
RETURNS TABLE (tenant_id text, app_id text, settings json, route_version integer, has_first_keys boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_tenant text;
    v_app text;
    v_settings json;
    v_version integer;
    v_has_first_keys boolean;
BEGIN
    SELECT b.tenant_id, b.app_id, b.settings INTO v_tenant, v_app, v_settings FROM gateway.binding b
        WHERE b.vendor = p_vendor AND b.kind = p_kind AND b.value = p_value AND b.host IN ('', coalesce(p_host, ''))
        ORDER BY b.host DESC LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    -- A statement of its own: the table is distributed, and this one serves one tenant.
    SELECT a.route_version, a.has_first_keys INTO v_version, v_has_first_keys FROM gateway.app a
        WHERE a.tenant_id = v_tenant AND a.app_id = v_app AND a.retired_at IS NULL;
    RETURN QUERY SELECT v_tenant, v_app, v_settings, v_version, coalesce(v_has_first_keys, false);
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_call FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_call TO gateway_call, gateway_engine;
