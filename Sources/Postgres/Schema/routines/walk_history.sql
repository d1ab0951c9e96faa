-- Up to p_limit messages of a device (p_user null), or of a user on any device, from p_before backwards, newest first. Leaves out canceled messages, and
-- messages that the device received through another of its identities, or did not get because of its level. Of a user, only messages from p_from on, and those
-- sent to identities up to p_level; null: all.
--
-- Walks from week to week, doubling each step, back to p_since: a device with one message a year reads a few dozen empty weeks in six steps, a device with a
-- hundred a day reads one week. The planner does not know the limit and would rather read and sort a whole week.
CREATE OR REPLACE FUNCTION gateway.walk_history(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid,
    p_limit integer, p_from uuid DEFAULT NULL, p_level smallint DEFAULT NULL)
RETURNS TABLE (message_id uuid, due_day integer, user_id text, is_sent boolean, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE SET enable_sort = off SET enable_bitmapscan = off SET enable_hashagg = off SET enable_hashjoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_to integer := (p_day / 7 + 1) * 7;
    v_from integer;
    v_span integer := 7;
    v_left integer := p_limit;
    v_count integer;
    v_least uuid := coalesce(p_from, '00000000-0000-0000-0000-000000000000');
BEGIN
    WHILE v_left > 0 AND v_to > p_since LOOP
        v_from := v_to - v_span;
        IF p_user IS NULL THEN
            RETURN QUERY SELECT d.message_id, d.due_day, d.user_id, d.state = 'sent', d.received_at, d.read_at
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.identity_id = p_identity AND d.due_day >= v_from AND d.due_day < v_to
                    AND d.message_id < p_before AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate'
                    AND d.reason IS DISTINCT FROM 'assurance'
                ORDER BY d.message_id DESC LIMIT v_left;
        ELSE
            -- A user's message on several devices is one entry, received and read when the first of them received and read it.
            RETURN QUERY SELECT d.message_id, d.due_day, p_user, bool_or(d.state = 'sent' AND d.identity_id = p_identity),
                    min(d.received_at), min(d.read_at)
                FROM gateway.delivery d JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = d.identity_id
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND i.vendor = p_vendor
                    AND d.due_day >= v_from AND d.due_day < v_to AND d.message_id < p_before AND d.state <> 'canceled'
                    AND d.reason IS DISTINCT FROM 'duplicate' AND d.reason IS DISTINCT FROM 'assurance'
                    AND d.message_id >= v_least AND (p_level IS NULL OR i.assurance <= p_level)
                GROUP BY d.message_id, d.due_day ORDER BY d.message_id DESC LIMIT v_left;
        END IF;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_left := v_left - v_count;
        v_to := v_from;
        v_span := least(v_span * 2, 448);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.walk_history FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.walk_history TO gateway_call, gateway_engine;
