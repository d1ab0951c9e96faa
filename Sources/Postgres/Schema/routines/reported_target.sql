-- The target of a message that belongs to the reporting identity: the identity itself, or the phone number registered for it.
CREATE OR REPLACE FUNCTION gateway.reported_target(
    p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_identity uuid, p_phone text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_target uuid;
BEGIN
    SELECT d.target_id INTO v_target FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message AND d.target_id = p_identity;
    -- Only messages to listed targets have addresses, and a list has at most 2000.
    IF v_target IS NULL AND p_phone IS NOT NULL AND p_recipients <= 2000 THEN
        SELECT d.target_id INTO v_target FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message
                AND d.address = 'phone:' || p_phone
            ORDER BY d.target_id LIMIT 1;
    END IF;
    RETURN v_target;
END $$;

REVOKE ALL ON FUNCTION gateway.reported_target FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.reported_target TO gateway_call, gateway_engine;
