-- Returns the messages that the caller has not received, oldest first, and marks them received. Of two concurrent polls, the second returns the messages
-- after those of the first.
CREATE OR REPLACE FUNCTION gateway.poll_inbox(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamptz, p_node text)
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_marked uuid[] := '{}';
    v_before text[] := '{}';
    v_transports text[] := '{}';
    v_devices text[] := '{}';
    v_received boolean[] := '{}';
    v_read boolean[] := '{}';
    v_last uuid := '00000000-0000-0000-0000-000000000000';
    v_day integer := 0;
    v record;
    t record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    -- Deliveries are locked before their rows in the inbox, as by receipts. Rows whose delivery was deleted, or received in another way or by a concurrent
    -- poll, cost a step and are removed. A step begins behind the last one: an older message that arrives meanwhile, or one of an
    -- earlier day, is for the next poll, because another transaction may have locked it before those that this one has locked.
    FOR step IN 1 .. 20 LOOP
        SELECT array_agg(o.message_id ORDER BY o.message_id) AS ids, array_agg(o.due_day ORDER BY o.message_id) AS days INTO v FROM (
            SELECT x.message_id, x.due_day FROM gateway.inbox_open x
            WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id AND x.message_id > v_last AND x.message_id < p_now
            ORDER BY x.message_id LIMIT p_limit - cardinality(v_marked)) o;
        EXIT WHEN v.ids IS NULL OR (SELECT min(d) FROM unnest(v.days) AS d) < v_day;
        v_last := v.ids[cardinality(v.ids)];
        v_day := (SELECT max(d) FROM unnest(v.days) AS d);
        SELECT * INTO t FROM gateway.touch_deliveries(p_tenant, i.identity_id, v.ids, v.days, 'received', p_at);
        v_marked := v_marked || t.o_messages;
        v_before := v_before || t.o_before;
        v_transports := v_transports || t.o_transports;
        v_devices := v_devices || t.o_devices;
        v_received := v_received || t.o_received;
        v_read := v_read || t.o_read;
        EXIT WHEN cardinality(v_marked) >= p_limit;
    END LOOP;
    PERFORM gateway.note_touched(p_tenant, i.identity_id, v_marked, v_before, v_transports, v_devices, v_received, v_read, 'received');
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, i.user_id, p_at, NULL::timestamptz
        FROM gateway.shown_messages(p_tenant, v_marked, NULL, NULL, NULL) s;
END $$;

REVOKE ALL ON FUNCTION gateway.poll_inbox FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.poll_inbox TO gateway_call, gateway_engine;
