-- Makes up to 1,000 queues of an upstream due that wait because their calls failed, after a call has succeeded again. Returns how many.
CREATE OR REPLACE FUNCTION gateway.resume_forwards(p_tenant text, p_upstream text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_urgent boolean;
    v_count bigint := 0;
    q record;
BEGIN
    FOREACH v_urgent IN ARRAY ARRAY[true, false] LOOP
        FOR q IN
            SELECT d.ordering_key, d.app_id FROM gateway.outbox_queue d
            WHERE d.tenant_id = p_tenant AND d.upstream = p_upstream AND d.is_urgent = v_urgent AND d.next_at > now() AND d.owner IS NULL
            ORDER BY d.next_at LIMIT 1000 FOR UPDATE SKIP LOCKED
        LOOP
            UPDATE gateway.outbox_queue SET next_at = now()
                WHERE tenant_id = p_tenant AND ordering_key = q.ordering_key AND app_id = q.app_id AND upstream = p_upstream;
            v_count := v_count + 1;
        END LOOP;
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.resume_forwards FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resume_forwards TO gateway_engine;
