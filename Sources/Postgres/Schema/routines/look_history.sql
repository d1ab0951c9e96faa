-- Up to p_limit messages of a history, newest first, among the p_looks messages before p_before: the read ones (p_read true), the unread ones (false), or
-- all (null). Leaves out deleted messages, those that await an approval, those whose data says N under p_hidden, and those that only changed a Live Activity.
--
-- No index of deliveries may contain receipts, so a message that does not match costs a lookup; p_looks bounds the cost of a call. Without p_read, one walk
-- of p_limit steps suffices.
CREATE OR REPLACE FUNCTION gateway.look_history(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid,
    p_read boolean, p_hidden text, p_looks integer, p_limit integer, p_from uuid DEFAULT NULL, p_level smallint DEFAULT NULL)
RETURNS TABLE (message_id uuid, user_id text, received_at timestamptz, read_at timestamptz) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_before uuid := p_before;
    v_day integer := p_day;
    v_left integer := p_limit;
    v_looks integer := greatest(p_looks, p_limit);
    v_step integer := p_limit;
    v_seen integer;
    w record;
BEGIN
    WHILE v_left > 0 AND v_step > 0 LOOP
        v_seen := 0;
        FOR w IN
            SELECT x.message_id, x.due_day, x.user_id, x.received_at, x.read_at FROM gateway.walk_history(
                p_tenant, p_app, p_vendor, p_identity, p_user, p_since, v_day, v_before, v_step, p_from, p_level) x
        LOOP
            v_seen := v_seen + 1;
            v_before := w.message_id;
            v_day := w.due_day;
            CONTINUE WHEN (w.read_at IS NOT NULL) <> p_read;
            PERFORM FROM gateway.message m
                WHERE m.tenant_id = p_tenant AND m.message_id = w.message_id
                    AND NOT m.awaits_approval AND m.content ->> 'activity' IS NULL
                    AND (p_hidden IS NULL OR m.content -> 'data' ->> p_hidden IS DISTINCT FROM 'N');
            CONTINUE WHEN NOT FOUND;
            message_id := w.message_id;
            user_id := w.user_id;
            received_at := w.received_at;
            read_at := w.read_at;
            RETURN NEXT;
            v_left := v_left - 1;
            EXIT WHEN v_left = 0;
        END LOOP;
        EXIT WHEN v_seen < v_step;
        v_looks := v_looks - v_step;
        -- Few calls look far back: the first step is one page, each later one four times the previous.
        v_step := least(v_step * 4, v_looks);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.look_history FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.look_history TO gateway_call, gateway_engine;
