-- The first call of a queue, or no row. `is_blocked`: an earlier call about its device waits in another queue, because the device has changed its user since.
CREATE OR REPLACE FUNCTION gateway.next_forward(p_tenant text, p_key bytea, p_app text, p_upstream text)
RETURNS TABLE (
    no bigint, vendor text, kind text, call text, method text, path text, query text, content_type text, via text, body bytea, is_blocked boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT o.no, o.vendor, o.kind, o.call, o.method, o.path, o.query, o.content_type, o.via, o.body, EXISTS (
                SELECT FROM gateway.outbox e
                WHERE e.tenant_id = p_tenant AND e.device_key = o.device_key AND e.called_at < o.called_at AND e.app_id = p_app
                    AND e.upstream = p_upstream AND e.vendor = o.vendor AND e.ordering_key <> p_key)
        FROM gateway.outbox o
        WHERE o.tenant_id = p_tenant AND o.ordering_key = p_key AND o.app_id = p_app AND o.upstream = p_upstream
        ORDER BY o.no LIMIT 1;
END $$;

REVOKE ALL ON FUNCTION gateway.next_forward FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.next_forward TO gateway_engine;
