-- The upstreams that calls of a message have asked to reach users. Reads one row for each of them, because a message may have very many users.
CREATE OR REPLACE FUNCTION gateway.called_upstreams(p_tenant text, p_message uuid)
RETURNS TABLE (upstream text) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
    v_last text := '';
BEGIN
    LOOP
        SELECT u.upstream INTO v_last FROM gateway.upstream_user u
            WHERE u.tenant_id = p_tenant AND u.message_id = p_message AND u.upstream > v_last ORDER BY u.upstream LIMIT 1;
        EXIT WHEN v_last IS NULL;
        RETURN QUERY SELECT v_last;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.called_upstreams FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.called_upstreams TO gateway_engine;
