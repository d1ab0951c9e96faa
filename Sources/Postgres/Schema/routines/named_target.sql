-- The target of a message of an upstream that had no identity here, and whose address the reporter has now. For messages to at most 2000 named targets.
CREATE OR REPLACE FUNCTION gateway.named_target(
    p_tenant text, p_message uuid, p_due_day integer, p_recipients bigint, p_key text, p_user text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_target uuid;
BEGIN
    IF p_recipients <= 2000 THEN
        -- An address of null, that of a device without a user, equals none. The device precedes its user.
        SELECT d.target_id INTO v_target FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_due_day AND d.message_id = p_message AND d.identity_id IS NULL
                AND d.address IN ('key:' || p_key, 'user:' || p_user)
            ORDER BY d.address LIMIT 1;
    END IF;
    RETURN v_target;
END $$;

REVOKE ALL ON FUNCTION gateway.named_target FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.named_target TO gateway_call, gateway_engine;
