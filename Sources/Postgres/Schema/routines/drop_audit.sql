-- Deletes old rows of the audit log, for retention, and returns their number. Rows younger than 30 days stay whatever is requested, and so does the newest row, so
-- that positions are never used twice. Rows with a digest are deleted up to a checkpoint, where the verification of the others begins: the last one within
-- `p_limit` rows, or else the first one. Checkpoints before that one are deleted as well.
CREATE OR REPLACE FUNCTION gateway.drop_audit(p_tenant text, p_older interval, p_limit integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_before timestamptz := now() - greatest(p_older, interval '30 days');
    v_first bigint;
    v_newest bigint;
    v_until bigint;
    v_is_chained boolean;
    v_count bigint;
BEGIN
    SELECT a.position, a.hash IS NOT NULL INTO v_first, v_is_chained FROM gateway.audit a
        WHERE a.tenant_id = p_tenant ORDER BY a.position LIMIT 1;
    SELECT a.position INTO v_newest FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position DESC LIMIT 1;
    IF v_is_chained THEN
        SELECT c.position INTO v_until FROM gateway.audit_checkpoint c
            WHERE c.tenant_id = p_tenant AND c.position BETWEEN v_first AND least(v_first + p_limit, v_newest) - 1 AND c.last_at < v_before
            ORDER BY c.position DESC LIMIT 1;
        IF v_until IS NULL THEN
            SELECT c.position INTO v_until FROM gateway.audit_checkpoint c
                WHERE c.tenant_id = p_tenant AND c.position >= v_first ORDER BY c.position LIMIT 1;
            v_until := CASE WHEN v_until < v_newest AND EXISTS (
                SELECT FROM gateway.audit_checkpoint c
                    WHERE c.tenant_id = p_tenant AND c.position = v_until AND c.last_at < v_before) THEN v_until END;
        END IF;
        DELETE FROM gateway.audit WHERE tenant_id = p_tenant AND position BETWEEN v_first AND v_until;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        DELETE FROM gateway.audit_checkpoint WHERE tenant_id = p_tenant AND position < v_until;
    ELSE
        DELETE FROM gateway.audit WHERE tenant_id = p_tenant AND at < v_before AND position < v_newest AND hash IS NULL
            AND position IN (SELECT a.position FROM gateway.audit a WHERE a.tenant_id = p_tenant ORDER BY a.position LIMIT p_limit);
        GET DIAGNOSTICS v_count = ROW_COUNT;
    END IF;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_audit FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_audit TO gateway_engine;
