-- The message with the same text that a device, or an identity without one, was sent before p_message, through another entry point; null: there was none. Reads the last
-- 100 deliveries of the device before the message.
--
-- An upstream that was asked to push to all devices of a user has one delivery as sent, and the others as `sameUser`.
CREATE OR REPLACE FUNCTION gateway.sent_before(p_tenant text, p_message uuid, p_device uuid, p_identity uuid)
RETURNS uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    m record;
    v_from uuid;
    v_below uuid;
    v_first_day integer;
    v_last_day integer;
    v_found uuid;
BEGIN
    SELECT x.fingerprint, x.entry_point, x.compared_at, x.due_at, x.duplicate_window INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.duplicate_window IS NULL THEN RETURN NULL; END IF;
    v_from := gateway.first_message_id(m.due_at - m.duplicate_window);
    v_below := gateway.first_message_id(m.due_at + interval '5 seconds');
    v_first_day := floor(extract(epoch FROM m.due_at - m.duplicate_window) / 86400)::integer;
    v_last_day := floor(extract(epoch FROM m.due_at + interval '5 seconds') / 86400)::integer;
    IF p_device IS NOT NULL THEN
        SELECT e.message_id INTO v_found FROM (
                SELECT d.message_id, d.state, d.reason FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.device_id = p_device AND d.message_id >= v_from AND d.message_id < v_below
                    AND d.due_day >= v_first_day AND d.due_day <= v_last_day
                ORDER BY d.message_id DESC LIMIT 100) AS d
            JOIN gateway.message e ON e.tenant_id = p_tenant AND e.message_id = d.message_id
            WHERE (d.state IN ('sent', 'received', 'read') OR d.reason = 'sameUser') AND e.fingerprint = m.fingerprint
                AND e.entry_point <> m.entry_point AND e.compared_at < m.compared_at
            LIMIT 1;
    ELSE
        SELECT e.message_id INTO v_found FROM (
                SELECT d.message_id, d.state, d.reason FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.identity_id = p_identity AND d.message_id >= v_from AND d.message_id < v_below
                    AND d.due_day >= v_first_day AND d.due_day <= v_last_day
                ORDER BY d.message_id DESC LIMIT 100) AS d
            JOIN gateway.message e ON e.tenant_id = p_tenant AND e.message_id = d.message_id
            WHERE (d.state IN ('sent', 'received', 'read') OR d.reason = 'sameUser') AND e.fingerprint = m.fingerprint
                AND e.entry_point <> m.entry_point AND e.compared_at < m.compared_at
            LIMIT 1;
    END IF;
    RETURN v_found;
END $$;

REVOKE ALL ON FUNCTION gateway.sent_before FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.sent_before TO gateway_call, gateway_engine;
