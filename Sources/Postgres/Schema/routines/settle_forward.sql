-- `settle_forwards` for one call. Programs of schema 88 and older call it.
CREATE OR REPLACE FUNCTION gateway.settle_forward(
    p_tenant text, p_key bytea, p_app text, p_upstream text, p_node text, p_epoch bigint, p_no bigint, p_lease interval)
RETURNS TABLE (
    state text, no bigint, vendor text, kind text, call text, method text, path text, query text, content_type text, via text, body bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT s.state, s.no, s.vendor, s.kind, s.call, s.method, s.path, s.query, s.content_type, s.via, s.body
        FROM gateway.settle_forwards(
            p_tenant, p_upstream, p_node, p_lease, ARRAY[p_key], ARRAY[p_app], ARRAY[p_epoch], ARRAY[p_no]) AS s;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_forward FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_forward TO gateway_engine;
