-- Sends all events after p_from to a webhook again. outcome: moved, unknown, or outside (p_from is not between the first and the last position). A node that
-- is calling the webhook loses its lease, so that its bookkeeping does not undo the change.
CREATE OR REPLACE FUNCTION gateway.replay_webhook(p_tenant text, p_id uuid, p_from bigint)
RETURNS TABLE (outcome text, first bigint, head bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_first bigint;
    v_head bigint;
BEGIN
    SELECT b.first, b.head INTO v_first, v_head FROM gateway.event_bounds(p_tenant) b;
    IF p_from < v_first OR p_from > v_head THEN
        RETURN QUERY SELECT 'outside', v_first, v_head;
        RETURN;
    END IF;
    UPDATE gateway.webhook SET cursor = p_from, attempts = 0, failing_since = NULL, failure = NULL, owner = NULL,
            epoch = epoch + 1, next_at = now()
        WHERE tenant_id = p_tenant AND webhook_id = p_id;
    RETURN QUERY SELECT CASE WHEN FOUND THEN 'moved' ELSE 'unknown' END, v_first, v_head;
END $$;

REVOKE ALL ON FUNCTION gateway.replay_webhook FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.replay_webhook TO gateway_call, gateway_engine;
