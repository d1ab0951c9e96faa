-- Deletes a schedule and cancels its message. Returns 1, or 0 if the schedule does not exist or the message is already due.
CREATE OR REPLACE FUNCTION gateway.drop_schedule(p_tenant text, p_app text, p_vendor text, p_schedule uuid) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF gateway.cancel_scheduled(p_tenant, p_app, p_vendor, p_schedule) IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.schedule WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND schedule_id = p_schedule;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_schedule FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_schedule TO gateway_call, gateway_engine;
