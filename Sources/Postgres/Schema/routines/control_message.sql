-- Pauses, resumes, requeues or cancels a message. Returns 1 if that changed something. Slices that are being sent are not interrupted: they finish within
-- seconds, and `record_outcomes` parks what they return.
CREATE OR REPLACE FUNCTION gateway.control_message(p_tenant text, p_app text, p_vendor text, p_message uuid, p_action text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m gateway.message;
    v_count bigint;
    v_is_early boolean;
    v_expands boolean;
BEGIN
    SELECT * INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app AND (vendor = p_vendor OR p_vendor = 'native')
        FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;

    IF p_action = 'cancel' AND m.state IN ('scheduled', 'expanding', 'sending', 'paused', 'dead') THEN
        -- Its slices become due immediately, and the node that claims them writes them off.
        UPDATE gateway.message SET state = 'canceled' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = now()
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    ELSIF p_action = 'pause' AND m.state IN ('scheduled', 'expanding', 'sending') THEN
        UPDATE gateway.message SET state = 'paused' WHERE tenant_id = p_tenant AND message_id = p_message;
        UPDATE gateway.slice SET next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
    ELSIF p_action = 'resume' AND m.state = 'paused' THEN
        v_is_early := m.due_at > now();
        SELECT EXISTS (SELECT FROM gateway.slice
            WHERE tenant_id = p_tenant AND message_id = p_message AND kind = 'expand' AND state <> 'done') INTO v_expands;
        UPDATE gateway.slice SET next_at = greatest(m.due_at, now())
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NULL;
        UPDATE gateway.message SET
                state = CASE WHEN v_is_early THEN 'scheduled' WHEN v_expands THEN 'expanding' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF NOT v_is_early AND NOT v_expands THEN PERFORM gateway.settle_message(p_tenant, p_message); END IF;
    ELSIF p_action = 'requeue' AND m.dead_slices > 0 AND m.state <> 'canceled' THEN
        UPDATE gateway.slice SET dead_reason = NULL, attempts = 0, lapses = 0,
                next_at = greatest(now(), CASE WHEN m.state = 'paused' THEN m.expires_at END)
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND dead_reason IS NOT NULL;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        UPDATE gateway.message SET dead_slices = dead_slices - v_count,
                state = CASE WHEN state = 'dead' THEN 'sending' ELSE state END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        RETURN least(v_count, 1);
    ELSE
        RETURN 0;
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.control_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.control_message TO gateway_call, gateway_engine;
