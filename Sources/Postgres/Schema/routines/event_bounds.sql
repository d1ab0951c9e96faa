-- The position before the oldest event that is kept, and the last position.
CREATE OR REPLACE FUNCTION gateway.event_bounds(p_tenant text) RETURNS TABLE (first bigint, head bigint) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_head bigint := gateway.last_event(p_tenant);
    v_first bigint;
BEGIN
    SELECT s.position - 1 INTO v_first FROM gateway.event_single s WHERE s.tenant_id = p_tenant ORDER BY s.position LIMIT 1;
    IF NOT FOUND THEN
        SELECT b.last - b.count INTO v_first FROM gateway.event_batch b WHERE b.tenant_id = p_tenant ORDER BY b.last LIMIT 1;
    END IF;
    RETURN QUERY SELECT coalesce(v_first, v_head), v_head;
END $$;

REVOKE ALL ON FUNCTION gateway.event_bounds FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.event_bounds TO gateway_call, gateway_engine;
