-- Writes the event of a control command (`message_canceled` and so on) if `control_message` reported a change.
CREATE OR REPLACE FUNCTION gateway.note_controlled(p_tenant text, p_message uuid, p_action text, p_count bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    m record;
BEGIN
    IF p_count = 0 THEN RETURN; END IF;
    SELECT app_id, vendor, due_day INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.append_events(
        p_tenant, m.app_id, m.vendor, NULL, p_message, m.due_day,
        ARRAY[CASE p_action WHEN 'cancel' THEN 'message_canceled' WHEN 'pause' THEN 'message_paused'
            WHEN 'resume' THEN 'message_resumed' WHEN 'approve' THEN 'message_approved' ELSE 'message_requeued' END], ARRAY[NULL]::uuid[]);
END $$;

REVOKE ALL ON FUNCTION gateway.note_controlled FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.note_controlled TO gateway_call, gateway_engine;
