-- Sets the time zone and window of a device; null leaves them unchanged, and a window of the whole day is stored as null. Returns the app, or null if the
-- device does not exist.
CREATE OR REPLACE FUNCTION gateway.set_clock(p_tenant text, p_device uuid, p_zone text, p_from integer, p_to integer)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_app text;
    v_is_whole boolean := (p_to - p_from + 1440) % 1440 = 1439;
BEGIN
    UPDATE gateway.device d SET time_zone = coalesce(p_zone, d.time_zone),
            window_from = CASE WHEN v_is_whole THEN NULL ELSE coalesce(p_from, d.window_from) END,
            window_to = CASE WHEN v_is_whole THEN NULL ELSE coalesce(p_to, d.window_to) END
        WHERE d.tenant_id = p_tenant AND d.device_id = p_device
        RETURNING d.app_id INTO v_app;
    IF NOT v_is_whole THEN
        UPDATE gateway.app SET uses_windows = true WHERE tenant_id = p_tenant AND app_id = v_app AND NOT uses_windows;
    END IF;
    RETURN v_app;
END $$;

REVOKE ALL ON FUNCTION gateway.set_clock FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_clock TO gateway_call, gateway_engine;
