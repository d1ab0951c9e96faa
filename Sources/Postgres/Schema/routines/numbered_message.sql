-- The message with this number in a vendor's API: the gateway's or an upstream's name of it. Also finds a message by its own id.
CREATE OR REPLACE FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_id uuid;
BEGIN
    SELECT r.message_id INTO v_id FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_number;
    IF FOUND THEN RETURN v_id; END IF;
    SELECT c.message_id INTO v_id FROM gateway.called_message(p_tenant, p_app, p_vendor, p_number) AS c;
    IF NOT FOUND AND p_number ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
        SELECT m.message_id INTO v_id FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.message_id = p_number::uuid AND m.app_id = p_app;
    END IF;
    RETURN v_id;
END $$;

REVOKE ALL ON FUNCTION gateway.numbered_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.numbered_message TO gateway_call, gateway_engine;
