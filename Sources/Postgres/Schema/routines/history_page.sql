-- A page of the caller's history. p_kind: device, or user (p_user must be the caller's user, or null). p_number: return only messages that are older than the
-- message with that number; an unknown number is compared as text. p_now: the first message id of the next moment, which hides messages that are due later.
-- Messages that were sent to the caller and are returned here count as received. p_whole: also messages to the user before the caller had it
-- (`visible_from`).
CREATE OR REPLACE FUNCTION gateway.history_page(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid,
    p_today integer, p_limit integer, p_at timestamptz, p_node text, p_whole boolean DEFAULT true)
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_before uuid := p_now;
    v_day integer := p_today;
    v_since integer;
    v_new uuid[];
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    IF p_kind = 'user' AND (i.user_id IS NULL OR p_user <> i.user_id) THEN RETURN; END IF;
    IF p_number IS NOT NULL THEN
        v_before := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
        IF v_before IS NULL THEN
            -- No message has this number: the page begins at the first message with a greater one.
            SELECT r.message_id INTO v_before FROM gateway.message_ref r
                WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref > p_number
                ORDER BY r.ref LIMIT 1;
        END IF;
        v_before := least(v_before, p_now);
        SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_before;
        v_day := coalesce(least(v_day, p_today), p_today);
    END IF;
    -- Nothing was sent before the device, or the app, existed.
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    SELECT array_agg(w.message_id) AS ids, array_agg(w.user_id) AS users, array_agg(w.received_at) AS received,
            array_agg(w.read_at) AS read, array_agg(w.message_id) FILTER (WHERE w.is_sent) AS fresh,
            array_agg(w.due_day) FILTER (WHERE w.is_sent) AS days
        INTO v FROM gateway.walk_history(
            p_tenant, p_app, p_vendor, i.identity_id, CASE p_kind WHEN 'user' THEN i.user_id END, v_since, v_day, v_before, p_limit,
            gateway.visible_from(i.assurance, i.user_since, i.created_at, p_whole),
            CASE WHEN NOT p_whole AND i.assurance < 2 THEN i.assurance END) w;
    IF v.fresh IS NOT NULL THEN
        v_new := gateway.mark_deliveries(p_tenant, i.identity_id, v.fresh, v.days, 'received', p_at, p_node);
    END IF;
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, CASE WHEN s.message_id = ANY (v_new) THEN least(s.received_at, p_at) ELSE s.received_at END,
            s.read_at
        FROM gateway.shown_messages(p_tenant, v.ids, v.users, v.received, v.read) s;
END $$;

REVOKE ALL ON FUNCTION gateway.history_page FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.history_page TO gateway_call, gateway_engine;
