-- One target of `find_queued_targets`: one row if it is queued.
CREATE OR REPLACE FUNCTION gateway.find_queued(p_tenant text, p_message uuid, p_target uuid) RETURNS TABLE (no integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT q.no FROM gateway.find_queued_targets(p_tenant, p_message, ARRAY[p_target]) q;
END $$;

REVOKE ALL ON FUNCTION gateway.find_queued FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_queued TO gateway_call, gateway_engine;
