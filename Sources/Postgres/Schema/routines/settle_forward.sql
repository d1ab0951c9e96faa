-- Removes a call that its upstream has answered, renews the lease of the queue and returns its next call. One row, with the state: next (with the call),
-- ended (the queue is deleted, or was given back because its next call waits for another queue), or lost (another node has the queue, and nothing has
-- changed).
CREATE OR REPLACE FUNCTION gateway.settle_forward(
    p_tenant text, p_key bytea, p_app text, p_upstream text, p_node text, p_epoch bigint, p_no bigint, p_lease interval)
RETURNS TABLE (
    state text, no bigint, vendor text, kind text, call text, method text, path text, query text, content_type text, via text, body bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    c record;
BEGIN
    PERFORM FROM gateway.outbox_queue q
        WHERE q.tenant_id = p_tenant AND q.ordering_key = p_key AND q.app_id = p_app AND q.upstream = p_upstream
            AND q.owner = p_node AND q.epoch = p_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'lost', NULL::bigint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea;
        RETURN;
    END IF;
    DELETE FROM gateway.outbox
        WHERE tenant_id = p_tenant AND ordering_key = p_key AND app_id = p_app AND upstream = p_upstream AND no = p_no;
    SELECT * INTO c FROM gateway.next_forward(p_tenant, p_key, p_app, p_upstream);
    IF NOT FOUND THEN
        DELETE FROM gateway.outbox_queue
            WHERE tenant_id = p_tenant AND ordering_key = p_key AND app_id = p_app AND upstream = p_upstream;
        RETURN QUERY SELECT 'ended', NULL::bigint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea;
    ELSIF c.is_blocked THEN
        UPDATE gateway.outbox_queue SET next_at = now() + interval '1 second', owner = NULL, attempts = 0, failing_since = NULL, failure = NULL
            WHERE tenant_id = p_tenant AND ordering_key = p_key AND app_id = p_app AND upstream = p_upstream;
        RETURN QUERY SELECT 'ended', NULL::bigint, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bytea;
    ELSE
        UPDATE gateway.outbox_queue SET next_at = now() + p_lease, attempts = 0, failing_since = NULL, failure = NULL
            WHERE tenant_id = p_tenant AND ordering_key = p_key AND app_id = p_app AND upstream = p_upstream;
        RETURN QUERY SELECT 'next', c.no, c.vendor, c.kind, c.call, c.method, c.path, c.query, c.content_type, c.via, c.body;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_forward FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_forward TO gateway_engine;
