-- Changes the caller's preferences; null leaves them unchanged, and equal values are not written again. Returns 0 if the device does not exist. Another alias
-- is a claim, because back ends address users by it.
CREATE OR REPLACE FUNCTION gateway.set_preferences(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer,
    p_to integer, p_alias text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    v_old boolean;
    d record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 0; END IF;
    IF p_from IS NOT NULL OR p_to IS NOT NULL THEN
        SELECT x.window_from, x.window_to INTO d FROM gateway.device x
            WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id FOR UPDATE;
        PERFORM gateway.set_clock(
            p_tenant, i.device_id, p_zone, coalesce(p_from, d.window_from, 0), coalesce(p_to, d.window_to, 1439));
    END IF;
    SELECT x.accepts_push INTO v_old FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id FOR UPDATE;
    IF p_accepts <> v_old OR p_alias IS DISTINCT FROM i.alias AND p_alias IS NOT NULL THEN
        UPDATE gateway.identity SET accepts_push = coalesce(p_accepts, accepts_push), alias = coalesce(p_alias, alias),
                assurance = CASE WHEN p_alias IS DISTINCT FROM i.alias AND p_alias IS NOT NULL THEN least(assurance, 0) ELSE assurance END
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
    END IF;
    IF p_accepts <> v_old THEN
        PERFORM gateway.append_changes(
            p_tenant, ARRAY['preference_changed'], ARRAY[p_app], ARRAY[p_vendor], ARRAY[i.identity_id], ARRAY[i.device_id],
            ARRAY[json_build_object('acceptsPush', p_accepts)]);
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.set_preferences FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_preferences TO gateway_call, gateway_engine;
