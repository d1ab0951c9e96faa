-- Pages of a history without side effects (`look_history`), for an authenticated caller. p_kind: device, or user (p_user must be the caller's user, or null).
-- p_number: return only messages that are older than the message with that number; a number that was not given out yet is newer than all messages, any other
-- unknown number is older. p_now: the first message id of the next moment. p_whole: also messages to the user before the caller had it (`visible_from`).
CREATE OR REPLACE FUNCTION gateway.find_history(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text,
    p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer,
    p_whole boolean DEFAULT true)
RETURNS TABLE (message_id uuid, user_id text, received_at timestamptz, read_at timestamptz) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_before uuid := p_now;
    v_day integer := p_today;
    v_since integer;
    v_last bigint;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    IF p_kind = 'user' AND (i.user_id IS NULL OR p_user <> i.user_id) THEN RETURN; END IF;
    IF p_number IS NOT NULL THEN
        v_before := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
        IF v_before IS NULL THEN
            SELECT s.last INTO v_last FROM gateway.vendor_sequence s
                WHERE s.tenant_id = p_tenant AND s.app_id = p_app AND s.vendor = p_vendor AND s.name = 'message';
            -- 18 digits always fit a bigint.
            IF p_number !~ '^[0-9]{1,18}$' OR p_number::bigint <= coalesce(v_last, 0) THEN RETURN; END IF;
        END IF;
        v_before := least(v_before, p_now);
        SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_before;
        v_day := coalesce(least(v_day, p_today), p_today);
    END IF;
    -- Nothing was sent before the device, or the app, existed.
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    RETURN QUERY SELECT l.message_id, l.user_id, l.received_at, l.read_at FROM gateway.look_history(
        p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_identity => i.identity_id,
        p_user => CASE p_kind WHEN 'user' THEN i.user_id END, p_since => v_since, p_day => v_day, p_before => v_before,
        p_read => p_read, p_hidden => p_hidden, p_looks => p_looks, p_limit => p_limit,
        p_from => gateway.visible_from(i.assurance, i.user_since, i.created_at, p_whole),
        p_level => CASE WHEN NOT p_whole AND i.assurance < 2 THEN i.assurance END) l;
END $$;

REVOKE ALL ON FUNCTION gateway.find_history FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_history TO gateway_call, gateway_engine;
