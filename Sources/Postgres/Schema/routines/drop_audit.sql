-- Deletes old rows of the audit log, for retention. Rows younger than 30 days stay whatever is requested, and so does the newest row, so that positions
-- are never used twice.
CREATE OR REPLACE FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM gateway.audit WHERE tenant_id = p_tenant AND at < now() - greatest(p_older, interval '30 days')
        AND position < (SELECT max(a.position) FROM gateway.audit a WHERE a.tenant_id = p_tenant)
        AND position IN (
            SELECT a.position FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position LIMIT p_limit);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_audit FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_audit TO gateway_engine;
