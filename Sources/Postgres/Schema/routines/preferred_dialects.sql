-- The dialects that the rules in force of an app prefer for messages of a lane (`dialects_of_version`). p_lane: the name of the lane, as rules spell it;
-- null: none is asked for.
CREATE OR REPLACE FUNCTION gateway.preferred_dialects(p_tenant text, p_app text, p_lane text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_version integer;
BEGIN
    IF p_lane IS NULL THEN RETURN '{}'; END IF;
    SELECT a.route_version INTO v_version FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    IF v_version IS NULL THEN RETURN '{}'; END IF;
    RETURN gateway.dialects_of_version(p_tenant, p_app, v_version, p_lane);
END $$;

REVOKE ALL ON FUNCTION gateway.preferred_dialects FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.preferred_dialects TO gateway_call, gateway_engine;
