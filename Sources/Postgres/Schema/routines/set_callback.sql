-- Sets the callback URL of a sender, or removes it. A first URL receives the events from now on.
CREATE OR REPLACE FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_head bigint := gateway.last_event(p_tenant);
    v_count bigint;
BEGIN
    UPDATE gateway.sender SET callback_url = p_url,
            cursor = CASE WHEN callback_url IS NULL THEN v_head ELSE cursor END,
            attempts = 0, failing_since = NULL, failure = NULL, next_at = now(), owner = NULL, epoch = epoch + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND sender_id = p_sender;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.set_callback FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_callback TO gateway_call, gateway_engine;
