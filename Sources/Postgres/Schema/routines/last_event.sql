-- The last event position of a tenant; 0 before its first event.
CREATE OR REPLACE FUNCTION gateway.last_event(p_tenant text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_last bigint;
BEGIN
    SELECT p.last INTO v_last FROM gateway.event_position p WHERE p.tenant_id = p_tenant ORDER BY p.last DESC LIMIT 1;
    RETURN coalesce(v_last, 0);
END $$;

REVOKE ALL ON FUNCTION gateway.last_event FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.last_event TO gateway_call, gateway_engine;
