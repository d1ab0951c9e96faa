-- The tenant and app of a vendor's key, for programs without rules. A binding for this host has precedence over one for every host.
CREATE OR REPLACE FUNCTION gateway.resolve_binding(p_vendor text, p_kind text, p_value text, p_host text)
RETURNS TABLE (tenant_id text, app_id text, settings json)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT b.tenant_id, b.app_id, b.settings FROM gateway.binding b
        WHERE b.vendor = p_vendor AND b.kind = p_kind AND b.value = p_value AND b.host IN ('', coalesce(p_host, ''))
        ORDER BY b.host DESC LIMIT 1;
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_binding FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_binding TO gateway_call, gateway_engine;
