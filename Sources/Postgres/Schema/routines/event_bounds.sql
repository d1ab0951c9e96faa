-- The position before the oldest event that is kept, and the last position.
CREATE OR REPLACE FUNCTION gateway.event_bounds(p_tenant text) RETURNS TABLE (first bigint, head bigint) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_head bigint;
    v_first bigint;
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    SELECT min(e.position) - 1 INTO v_first FROM gateway.event e WHERE e.tenant_id = p_tenant;
    RETURN QUERY SELECT coalesce(v_first, v_head, 0), coalesce(v_head, 0);
END $$;

REVOKE ALL ON FUNCTION gateway.event_bounds FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.event_bounds TO gateway_call, gateway_engine;
