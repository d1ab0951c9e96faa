-- The preferences of the calling device, as `reading_identity` finds it; no row if it is not registered.
CREATE OR REPLACE FUNCTION gateway.find_preferences(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text)
RETURNS TABLE (accepts_push boolean, user_id text, alias text, time_zone text, window_from smallint, window_to smallint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    d record;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    SELECT x.time_zone, x.window_from, x.window_to INTO d FROM gateway.device x WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id;
    RETURN QUERY SELECT i.accepts_push, i.user_id, i.alias, d.time_zone, d.window_from, d.window_to;
END $$;

REVOKE ALL ON FUNCTION gateway.find_preferences FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_preferences TO gateway_call, gateway_engine;
