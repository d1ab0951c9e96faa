-- Leases up to p_limit due queues of an upstream to a node, those with receipts first, and returns the first call of each. A queue without calls is
-- deleted, as after an erasure; one whose first call waits for another queue is looked at again after a second.
CREATE OR REPLACE FUNCTION gateway.claim_forwards(p_tenant text, p_upstream text, p_node text, p_lease interval, p_limit bigint)
RETURNS TABLE (
    ordering_key bytea, app_id text, epoch bigint, attempts integer, no bigint, vendor text, kind text, call text, method text, path text,
    query text, content_type text, via text, body bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_urgent boolean;
    v_left bigint := p_limit;
    v_epoch bigint;
    v_attempts integer;
    q record;
    c record;
BEGIN
    FOREACH v_urgent IN ARRAY ARRAY[true, false] LOOP
        FOR q IN
            SELECT d.ordering_key, d.app_id FROM gateway.outbox_queue d
            WHERE d.tenant_id = p_tenant AND d.upstream = p_upstream AND d.is_urgent = v_urgent AND d.next_at <= now()
            ORDER BY d.next_at LIMIT v_left FOR UPDATE SKIP LOCKED
        LOOP
            SELECT * INTO c FROM gateway.next_forward(p_tenant, q.ordering_key, q.app_id, p_upstream);
            IF NOT FOUND THEN
                DELETE FROM gateway.outbox_queue
                    WHERE tenant_id = p_tenant AND ordering_key = q.ordering_key AND app_id = q.app_id AND upstream = p_upstream;
            ELSIF c.is_blocked THEN
                UPDATE gateway.outbox_queue SET next_at = now() + interval '1 second', owner = NULL
                    WHERE tenant_id = p_tenant AND ordering_key = q.ordering_key AND app_id = q.app_id AND upstream = p_upstream;
            ELSE
                UPDATE gateway.outbox_queue AS u SET owner = p_node, epoch = u.epoch + 1, next_at = now() + p_lease
                    WHERE u.tenant_id = p_tenant AND u.ordering_key = q.ordering_key AND u.app_id = q.app_id AND u.upstream = p_upstream
                    RETURNING u.epoch, u.attempts INTO v_epoch, v_attempts;
                v_left := v_left - 1;
                RETURN QUERY SELECT q.ordering_key, q.app_id, v_epoch, v_attempts, c.no, c.vendor, c.kind, c.call, c.method, c.path, c.query,
                    c.content_type, c.via, c.body;
            END IF;
        END LOOP;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.claim_forwards FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.claim_forwards TO gateway_engine;
