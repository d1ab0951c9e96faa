-- The calls that wait for an upstream, counted at most once in p_age over all nodes and up to p_limit. At p_limit the upstream is full: no calls are added
-- until a tenth of them is gone. `oldest` is the age of the oldest call in seconds.
CREATE OR REPLACE FUNCTION gateway.survey_outbox(p_tenant text, p_upstream text, p_limit bigint, p_age interval)
RETURNS TABLE (waiting bigint, oldest double precision, is_full boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_waiting bigint;
    v_was_full boolean;
    v_first timestamptz;
BEGIN
    SELECT u.is_full INTO v_was_full FROM gateway.outbox_upstream u
        WHERE u.tenant_id = p_tenant AND u.upstream = p_upstream AND u.counted_at <= now() - p_age FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        SELECT count(*) INTO v_waiting FROM (
            SELECT FROM gateway.outbox o WHERE o.tenant_id = p_tenant AND o.upstream = p_upstream LIMIT p_limit) AS x;
        UPDATE gateway.outbox_upstream SET waiting = v_waiting, counted_at = now(),
                is_full = v_waiting >= p_limit OR (v_was_full AND v_waiting >= p_limit - p_limit / 10)
            WHERE tenant_id = p_tenant AND upstream = p_upstream;
    END IF;
    SELECT o.called_at INTO v_first FROM gateway.outbox o
        WHERE o.tenant_id = p_tenant AND o.upstream = p_upstream ORDER BY o.called_at LIMIT 1;
    RETURN QUERY
        SELECT u.waiting, greatest(0, coalesce(extract(epoch FROM now() - v_first), 0))::double precision, u.is_full
        FROM gateway.outbox_upstream u WHERE u.tenant_id = p_tenant AND u.upstream = p_upstream;
END $$;

REVOKE ALL ON FUNCTION gateway.survey_outbox FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.survey_outbox TO gateway_engine;
