-- The number that an app may have of something: the app's setting, or the default.
CREATE OR REPLACE FUNCTION gateway.quota_of(p_tenant text, p_app text, p_name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce(
        (SELECT (a.defaults->'quotas'->>p_name)::bigint FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app),
        CASE p_name WHEN 'identities' THEN 20000000 WHEN 'registrationsPerDay' THEN 5000000 WHEN 'groups' THEN 100000 WHEN 'senders' THEN 1000 END);
END $$;

REVOKE ALL ON FUNCTION gateway.quota_of FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.quota_of TO gateway_call, gateway_engine;
