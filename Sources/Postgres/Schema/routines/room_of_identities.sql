-- How many more identities the quotas of an app permit, as committed now. p_registers: the new ones count as registrations of this UTC day.
CREATE OR REPLACE FUNCTION gateway.room_of_identities(
    p_tenant text, p_app text, p_registers boolean, OUT room bigint, OUT quota text) LANGUAGE plpgsql AS $$
DECLARE
    v_identities bigint := gateway.quota_of(p_tenant, p_app, 'identities');
    v_registrations bigint := gateway.quota_of(p_tenant, p_app, 'registrationsPerDay');
BEGIN
    SELECT v_identities - coalesce(sum(c.active), 0),
            v_registrations - coalesce(sum(c.registered) FILTER (WHERE c.day = (now() AT TIME ZONE 'UTC')::date), 0)
        INTO v_identities, v_registrations
        FROM gateway.identity_count c WHERE c.tenant_id = p_tenant AND c.app_id = p_app;
    quota := CASE WHEN p_registers AND v_registrations < v_identities THEN 'registrationsPerDay' ELSE 'identities' END;
    room := CASE WHEN p_registers THEN least(v_identities, v_registrations) ELSE v_identities END;
END $$;

REVOKE ALL ON FUNCTION gateway.room_of_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.room_of_identities TO gateway_call, gateway_engine;
