-- Cancels the message of a schedule before it is due. Returns its id, or null if the schedule does not exist or the message is already due. A message that awaits an approval can be
-- canceled at any time.
CREATE OR REPLACE FUNCTION gateway.cancel_scheduled(p_tenant text, p_app text, p_vendor text, p_schedule uuid)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_message uuid;
    v_state text;
    v_count bigint;
BEGIN
    SELECT s.message_id INTO v_message FROM gateway.schedule s
        WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.schedule_id = p_schedule FOR UPDATE;
    SELECT CASE WHEN m.state = 'paused' AND m.awaits_approval THEN 'scheduled' ELSE m.state END INTO v_state FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message FOR UPDATE;
    IF v_state IS DISTINCT FROM 'scheduled' THEN RETURN NULL; END IF;
    v_count := gateway.control_message(p_tenant, p_app, p_vendor, v_message, 'cancel');
    PERFORM gateway.note_controlled(p_tenant, v_message, 'cancel', v_count);
    RETURN v_message;
END $$;

REVOKE ALL ON FUNCTION gateway.cancel_scheduled FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.cancel_scheduled TO gateway_call, gateway_engine;
