-- Whether a message was sent to one of the user's devices.
CREATE OR REPLACE FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_day integer;
BEGIN
    -- A separate query, so that the planner sees one week, in which the user's index is the narrowest.
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    RETURN EXISTS (
        SELECT FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND d.message_id = p_message AND d.due_day = v_day
            AND d.state IN ('sent', 'received', 'read'));
END $$;

REVOKE ALL ON FUNCTION gateway.was_sent FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.was_sent TO gateway_call, gateway_engine;
