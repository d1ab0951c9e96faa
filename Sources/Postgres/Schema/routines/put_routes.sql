-- Stores the next version of an app's rules and puts it in force, if the version in force is p_expected (null: none). Returns the new version; null: another
-- version is in force, or the app is retired or unknown. The versions of an app only increase, also when it was retired in between.
CREATE OR REPLACE FUNCTION gateway.put_routes(
    p_tenant text, p_app text, p_expected integer, p_format integer, p_base json, p_overlay json, p_upstreams json, p_origin text,
    p_actor text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_current integer;
    v_version integer;
BEGIN
    SELECT a.route_version INTO v_current FROM gateway.app a
        WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL FOR NO KEY UPDATE;
    IF NOT FOUND OR v_current IS DISTINCT FROM p_expected THEN RETURN NULL; END IF;
    SELECT r.version INTO v_version FROM gateway.route_set r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app ORDER BY r.version DESC LIMIT 1;
    v_version := coalesce(v_version, 0) + 1;
    INSERT INTO gateway.route_set (tenant_id, app_id, version, format, base, overlay, upstreams, origin, actor)
        VALUES (p_tenant, p_app, v_version, p_format, p_base, p_overlay, p_upstreams, p_origin, p_actor);
    UPDATE gateway.app a SET route_version = v_version WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    RETURN v_version;
END $$;

REVOKE ALL ON FUNCTION gateway.put_routes FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_routes TO gateway_engine;
