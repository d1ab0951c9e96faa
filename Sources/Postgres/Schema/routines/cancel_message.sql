-- Cancels the pushes that are not sent yet: the message's slices become due immediately, and the node that claims them writes them off.
CREATE OR REPLACE FUNCTION gateway.cancel_message(p_tenant text, p_app text, p_vendor text, p_message uuid)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.message SET state = 'canceled'
        WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app
            AND (vendor = p_vendor OR p_vendor = 'native') AND state IN ('scheduled', 'expanding', 'sending', 'paused');
    IF NOT FOUND THEN RETURN 0; END IF;
    UPDATE gateway.slice SET next_at = now()
        WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND next_at > now();
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.cancel_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.cancel_message TO gateway_call, gateway_engine;
