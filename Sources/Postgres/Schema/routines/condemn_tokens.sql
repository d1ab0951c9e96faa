-- Records the push service's reports about invalid tokens, given as parallel arrays. p_since null: the report has no time. An invalid token of a Live
-- Activity is removed: the app reports another one.
CREATE OR REPLACE FUNCTION gateway.condemn_tokens(
    p_tenant text, p_devices uuid[], p_tokens text[], p_states text[], p_reasons text[], p_since timestamptz[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    DELETE FROM gateway.activity_token a USING unnest(p_devices, p_tokens, p_states, p_since) AS v(device, token, state, since)
        WHERE a.tenant_id = p_tenant AND a.device_id = v.device AND a.token = v.token AND v.state = 'invalid'
            AND (v.since IS NULL OR a.registered_at <= v.since);
    WITH r AS (
        UPDATE gateway.device d SET token_state = v.state, token_reason = v.reason
        FROM unnest(p_devices, p_tokens, p_states, p_reasons, p_since) AS v(device, token, state, reason, since)
        WHERE d.tenant_id = p_tenant AND d.device_id = v.device AND d.token = v.token
            AND (v.since IS NULL OR d.token_registered_at IS NULL OR d.token_registered_at <= v.since)
            AND (d.token_state = 'active' OR (d.token_state = 'quarantined' AND v.state = 'invalid'))
        RETURNING d.device_id, d.app_id, d.token_state, d.token_reason)
    SELECT array_agg(CASE WHEN r.token_state = 'invalid' THEN 'token_invalidated' ELSE 'token_quarantined' END) AS kinds,
            array_agg(r.app_id) AS apps, array_agg(r.device_id) AS devices,
            array_agg(json_build_object('reason', r.token_reason)) AS data
        INTO c FROM r;
    IF c.devices IS NULL THEN RETURN 0; END IF;
    PERFORM gateway.append_changes(p_tenant, c.kinds, c.apps, NULL, NULL, c.devices, c.data);
    RETURN cardinality(c.devices);
END $$;

REVOKE ALL ON FUNCTION gateway.condemn_tokens FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.condemn_tokens TO gateway_engine;
