-- Cancels the message of a schedule that is about to get another message. Raises GW409 if the schedule has changed since it was read, or its message is
-- already due.
CREATE OR REPLACE FUNCTION gateway.withdraw_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid, p_message uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS DISTINCT FROM p_message THEN
        RAISE EXCEPTION 'the schedule has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.withdraw_schedule FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.withdraw_schedule TO gateway_call, gateway_engine;
