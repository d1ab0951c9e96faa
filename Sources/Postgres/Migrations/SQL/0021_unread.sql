-- Histories that are only read: pages of what is read or not, one message of a user, and how many are unread.

-- What shows that a history may be read: the active identity of a key or a token; without both any of the user's, which only an app's own setting asks for.
CREATE FUNCTION gateway.reading_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text)
RETURNS gateway.identity LANGUAGE plpgsql STABLE AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL OR p_token IS NOT NULL THEN
        i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    ELSE
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.user_id = p_reader AND x.vendor = p_vendor AND x.state = 'active'
            LIMIT 1;
    END IF;
    RETURN i;
END $$;

-- Up to p_limit messages of a history, newest first, out of the p_looks that stand before p_before: the read ones (p_read true), the others (false), or all
-- (null). Not those whose data says N under p_hidden, nor those that are gone.
--
-- No index of deliveries may know a receipt, so that one that does not match costs a look; p_looks bounds what a call costs. A call without p_read takes
-- one walk of p_limit steps.
CREATE FUNCTION gateway.look_history(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid,
    p_read boolean, p_hidden text, p_looks integer, p_limit integer)
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
                p_tenant, p_app, p_vendor, p_identity, p_user, p_since, v_day, v_before, v_step) x
        LOOP
            v_seen := v_seen + 1;
            v_before := w.message_id;
            v_day := w.due_day;
            CONTINUE WHEN (w.read_at IS NOT NULL) <> p_read;
            PERFORM FROM gateway.message m
                WHERE m.tenant_id = p_tenant AND m.message_id = w.message_id
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
        -- Few look far: the first step is a page, the next ones four.
        v_step := least(v_step * 4, v_looks);
    END LOOP;
END $$;

-- What look_history finds for the caller. p_kind: device, user (p_user must be the caller's, or null). p_number: only what is older than that message; a number
-- that was not given out yet is newer than all, any other that nobody knows is older. p_now: the first id of the next moment.
CREATE FUNCTION gateway.find_history(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_kind text, p_user text, p_number text,
    p_now uuid, p_today integer, p_read boolean, p_hidden text, p_looks integer, p_limit integer)
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
    -- Nothing was sent before there was the device, or the app.
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    RETURN QUERY SELECT l.message_id, l.user_id, l.received_at, l.read_at FROM gateway.look_history(
        p_tenant, p_app, p_vendor, i.identity_id, CASE p_kind WHEN 'user' THEN i.user_id END, v_since, v_day, v_before, p_read,
        p_hidden, p_looks, p_limit) l;
END $$;

-- One message of the caller's user, who must be p_user: what came for somebody else on the same device is not his.
CREATE FUNCTION gateway.find_message(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_reader text, p_user text, p_number text, p_hidden text)
RETURNS TABLE (message_id uuid, user_id text, received_at timestamptz, read_at timestamptz) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m record;
    v record;
BEGIN
    i := gateway.reading_identity(p_tenant, p_app, p_vendor, p_key, p_token, p_reader);
    IF i.identity_id IS NULL OR i.user_id IS DISTINCT FROM p_user THEN RETURN; END IF;
    SELECT x.message_id, x.due_day INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = gateway.numbered_message(p_tenant, p_app, p_vendor, p_number)
            AND (p_hidden IS NULL OR x.content -> 'data' ->> p_hidden IS DISTINCT FROM 'N');
    IF NOT FOUND THEN RETURN; END IF;
    SELECT min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
        FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND o.vendor = p_vendor
            AND d.due_day = m.due_day AND d.message_id = m.message_id AND d.state <> 'canceled'
            AND d.reason IS DISTINCT FROM 'duplicate';
    IF v.rows = 0 THEN RETURN; END IF;
    RETURN QUERY SELECT m.message_id, p_user, v.received, v.read;
END $$;

-- Whether a message left for one of the user's devices.
CREATE FUNCTION gateway.was_sent(p_tenant text, p_app text, p_user text, p_message uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_day integer;
BEGIN
    -- Apart, so that the planner sees one week, and the user's index is the narrowest there.
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    RETURN EXISTS (
        SELECT FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND d.message_id = p_message AND d.due_day = v_day
            AND d.state IN ('sent', 'received', 'read'));
END $$;

-- Found messages with what they say, in the order of the arrays: as shown_messages, and what fills their placeholders.
CREATE FUNCTION gateway.read_messages(
    p_tenant text, p_app text, p_messages uuid[], p_users text[], p_received timestamptz[], p_read timestamptz[])
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz, variables text,
    was_sent boolean)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, s.received_at, s.read_at,
            (SELECT v.variables::text FROM gateway.message_variable v
                WHERE v.tenant_id = p_tenant AND v.message_id = s.message_id AND v.user_id = s.user_id),
            s.received_at IS NOT NULL OR s.read_at IS NOT NULL OR gateway.was_sent(p_tenant, p_app, s.user_id, s.message_id)
        FROM gateway.shown_messages(p_tenant, p_messages, p_users, p_received, p_read) s;
END $$;

REVOKE ALL ON FUNCTION
    gateway.reading_identity, gateway.look_history, gateway.find_history, gateway.find_message, gateway.was_sent,
    gateway.read_messages FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.reading_identity, gateway.look_history, gateway.find_history, gateway.find_message, gateway.was_sent,
    gateway.read_messages TO gateway_call, gateway_engine;
