-- Stores a receipt in deliveries of a device, given as parallel arrays of messages and their due days, and removes them from its inbox. Returns the messages
-- that changed, in the order of their keys, with what `note_touched` needs: the state before, and whether the receipt counts as received and as read.
--
-- The state changes only from `sent` on, and only such deliveries count. A suppressed or failed message that the device polls stays so: that it was fetched
-- does not mean that its push arrived. Locks deliveries in the order of their keys, then the inbox.
CREATE OR REPLACE FUNCTION gateway.touch_deliveries(
    p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamptz,
    OUT o_messages uuid[], OUT o_before text[], OUT o_transports text[], OUT o_devices text[], OUT o_received boolean[], OUT o_read boolean[])
LANGUAGE plpgsql AS $$
DECLARE
    u record;
    d record;
    v_counts boolean;
BEGIN
    o_messages := '{}';
    o_before := '{}';
    o_transports := '{}';
    o_devices := '{}';
    o_received := '{}';
    o_read := '{}';
    FOR u IN SELECT x.message, x.day FROM unnest(p_messages, p_days) AS x(message, day) ORDER BY x.day, x.message LOOP
        SELECT x.state, x.transport, x.device_vendor, x.sent_at, x.received_at, x.read_at INTO d FROM gateway.delivery x
            WHERE x.tenant_id = p_tenant AND x.due_day = u.day AND x.message_id = u.message AND x.target_id = p_identity FOR UPDATE;
        CONTINUE WHEN NOT FOUND OR d.read_at IS NOT NULL OR d.received_at IS NOT NULL AND p_kind = 'received';
        UPDATE gateway.delivery SET received_at = coalesce(received_at, p_at),
                read_at = CASE WHEN p_kind = 'read' THEN p_at ELSE read_at END,
                state = CASE WHEN state IN ('sent', 'received') THEN p_kind ELSE state END
            WHERE tenant_id = p_tenant AND due_day = u.day AND message_id = u.message AND target_id = p_identity;
        -- A row without an outcome is counted when its outcome is written.
        v_counts := d.sent_at IS NOT NULL AND d.state IN ('sent', 'received');
        o_messages := o_messages || u.message;
        o_before := o_before || d.state;
        o_transports := o_transports || d.transport;
        o_devices := o_devices || d.device_vendor;
        o_received := o_received || (v_counts AND d.received_at IS NULL);
        o_read := o_read || (v_counts AND p_kind = 'read');
    END LOOP;
    DELETE FROM gateway.inbox_open o USING (
        SELECT x.message_id FROM gateway.inbox_open x
        WHERE x.tenant_id = p_tenant AND x.identity_id = p_identity AND x.message_id = ANY (p_messages)
        ORDER BY x.message_id FOR UPDATE) AS y
        WHERE o.tenant_id = p_tenant AND o.identity_id = p_identity AND o.message_id = y.message_id;
END $$;

REVOKE ALL ON FUNCTION gateway.touch_deliveries FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.touch_deliveries TO gateway_call, gateway_engine;
