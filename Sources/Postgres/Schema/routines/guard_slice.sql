-- What is known about the earlier message of a leased slice whose message is a duplicate, and for how many milliseconds the slice has known of it. The first lease sets the time.
-- outcome: none (no earlier message is left), open (it may still be sent), done, unknown (an upstream sent it to an audience, whose devices are not known), or
-- fenced (another node holds the slice).
CREATE OR REPLACE FUNCTION gateway.guard_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text)
RETURNS TABLE (outcome text, earlier uuid, due_day integer, waited bigint) LANGUAGE plpgsql AS $$
DECLARE
    s record;
    m record;
    v_since timestamptz;
BEGIN
    SELECT x.epoch, x.owner, x.state, x.guarded_at INTO s FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no FOR UPDATE;
    IF s.epoch IS DISTINCT FROM p_epoch OR s.owner IS DISTINCT FROM p_owner OR s.state IS DISTINCT FROM 'leased' THEN
        RETURN QUERY SELECT 'fenced', NULL::uuid, NULL::integer, NULL::bigint;
        RETURN;
    END IF;
    v_since := s.guarded_at;
    IF v_since IS NULL THEN
        v_since := now();
        UPDATE gateway.slice x SET guarded_at = v_since
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no = p_no;
    END IF;
    SELECT e.message_id, e.due_day, e.state, e.observed_from, e.recipients INTO m FROM gateway.message d
        JOIN gateway.message e ON e.tenant_id = p_tenant AND e.message_id = d.duplicate_of
        WHERE d.tenant_id = p_tenant AND d.message_id = p_message;
    RETURN QUERY SELECT
        CASE WHEN m.message_id IS NULL THEN 'none' WHEN m.observed_from IS NOT NULL AND m.recipients IS NULL THEN 'unknown'
            WHEN m.state IN ('scheduled', 'expanding', 'sending', 'paused') THEN 'open' ELSE 'done' END,
        m.message_id, m.due_day, floor(extract(epoch FROM now() - v_since) * 1000)::bigint;
END $$;

REVOKE ALL ON FUNCTION gateway.guard_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.guard_slice TO gateway_engine;
