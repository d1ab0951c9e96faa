-- Counts the receipts that `touch_deliveries` stored and writes their events, as the last step of the transaction.
CREATE OR REPLACE FUNCTION gateway.note_touched(
    p_tenant text, p_identity uuid, p_messages uuid[], p_before text[], p_transports text[], p_devices text[], p_received boolean[], p_read boolean[], p_kind text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    m record;
BEGIN
    FOR m IN
        SELECT x.app_id, x.vendor, min(x.due_at) AS due_at, CASE WHEN x.is_counted THEN x.message_id END AS message, u.transport, u.device,
            count(*) FILTER (WHERE u.received) AS received, count(*) FILTER (WHERE u.read) AS read
        FROM unnest(p_messages, p_transports, p_devices, p_received, p_read) AS u(message, transport, device, received, read)
        JOIN gateway.message x ON x.tenant_id = p_tenant AND x.message_id = u.message
        WHERE u.received OR u.read
        GROUP BY x.app_id, x.vendor, floor(extract(epoch FROM x.due_at) / 900), 4, u.transport, u.device
    LOOP
        PERFORM gateway.append_counts(
            p_tenant, m.app_id, m.vendor, m.due_at, m.message, p_device => m.device, p_transport => m.transport, p_received => m.received,
            p_read => m.read);
    END LOOP;
    FOR m IN
        SELECT x.app_id, x.vendor, x.sender_id, array_agg(x.message_id ORDER BY u.o) AS messages, array_agg(x.due_day ORDER BY u.o) AS days,
            array_agg(u.before ORDER BY u.o) AS before
        FROM unnest(p_messages, p_before) WITH ORDINALITY AS u(message, before, o)
        JOIN gateway.message x ON x.tenant_id = p_tenant AND x.message_id = u.message
        GROUP BY x.app_id, x.vendor, x.sender_id ORDER BY min(u.o)
    LOOP
        PERFORM gateway.log_events(
            p_tenant, m.app_id, m.vendor, m.sender_id, ARRAY[p_kind], m.messages, m.days,
            array_fill(p_identity, ARRAY[cardinality(m.messages)]), m.before);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.note_touched FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.note_touched TO gateway_call, gateway_engine;
