-- Marks deliveries of a device as received or read, given as parallel arrays of messages and their due days, and returns the messages that changed. The
-- state changes only from `sent` on: a suppressed message that the device polls stays suppressed and counts as received.
CREATE OR REPLACE FUNCTION gateway.mark_deliveries(
    p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamptz, p_node text)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_marked uuid[] := '{}';
    v_first boolean[] := '{}';
    v_old record;
    m record;
BEGIN
    FOR k IN 1 .. cardinality(p_messages) LOOP
        SELECT d.state, d.received_at, d.read_at INTO v_old FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = p_days[k] AND d.message_id = p_messages[k] AND d.target_id = p_identity
            FOR UPDATE;
        CONTINUE WHEN NOT FOUND OR v_old.read_at IS NOT NULL OR v_old.received_at IS NOT NULL AND p_kind = 'received';
        UPDATE gateway.delivery SET received_at = coalesce(received_at, p_at),
                read_at = CASE WHEN p_kind = 'read' THEN p_at ELSE read_at END,
                state = CASE WHEN state IN ('sent', 'received') THEN p_kind ELSE state END
            WHERE tenant_id = p_tenant AND due_day = p_days[k] AND message_id = p_messages[k] AND target_id = p_identity;
        v_marked := v_marked || p_messages[k];
        v_first := v_first || (v_old.received_at IS NULL);
    END LOOP;
    DELETE FROM gateway.inbox_open
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND message_id = ANY (p_messages);
    -- Counters, then events, come last: all calls share these rows, and `record_slice` takes them in this order too.
    FOR m IN
        SELECT x.app_id, x.vendor, min(x.due_at) AS due_at, count(*) AS messages,
            count(*) FILTER (WHERE u.is_first) AS received
        FROM unnest(v_marked, v_first) AS u(message, is_first)
        JOIN gateway.message x ON x.tenant_id = p_tenant AND x.message_id = u.message
        GROUP BY x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 3600) ORDER BY x.app_id, x.vendor, 3
    LOOP
        PERFORM gateway.add_counts(
            p_tenant, m.app_id, m.vendor, m.due_at, p_node, 0, 0, m.received, CASE WHEN p_kind = 'read' THEN m.messages ELSE 0 END,
            0, 0, 0, 0);
    END LOOP;
    FOR k IN 1 .. cardinality(v_marked) LOOP
        SELECT x.app_id, x.vendor, x.sender_id, x.due_day INTO m FROM gateway.message x
            WHERE x.tenant_id = p_tenant AND x.message_id = v_marked[k];
        CONTINUE WHEN NOT FOUND;
        PERFORM gateway.append_events(
            p_tenant, m.app_id, m.vendor, m.sender_id, v_marked[k], m.due_day, ARRAY[p_kind], ARRAY[p_identity]);
    END LOOP;
    RETURN v_marked;
END $$;

REVOKE ALL ON FUNCTION gateway.mark_deliveries FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.mark_deliveries TO gateway_call, gateway_engine;
