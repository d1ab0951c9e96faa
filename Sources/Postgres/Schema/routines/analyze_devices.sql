-- Updates the planner's statistics of devices, identities and tags immediately, after an import: without statistics the planner reads a whole app for one
-- key. Runs as the owner, because only the owner may analyze.
CREATE OR REPLACE FUNCTION gateway.analyze_devices() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    ANALYZE gateway.device;
    ANALYZE gateway.identity;
    ANALYZE gateway.identity_tag;
END $$;

REVOKE ALL ON FUNCTION gateway.analyze_devices FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.analyze_devices TO gateway_engine;
