-- Histories of devices and users, what devices have not received, preferences, and the numbers of messages.

-- The order of a history is that of message ids, and an id is of the moment its message is due: so the weeks of `delivery`, walked back from the one a
-- page begins in, hold the page in its order, and a page far back costs what the first one does. Rows of the version before, which made the ids of
-- reserved messages when they were accepted, stand at the end of their week.
CREATE INDEX delivery_user ON gateway.delivery (tenant_id, app_id, user_id, message_id DESC) WHERE user_id IS NOT NULL;

-- What a back end calls the identity's user, where that is not the user's own id.
ALTER TABLE gateway.identity ADD COLUMN alias text;
CREATE INDEX identity_alias ON gateway.identity (tenant_id, app_id, alias, vendor) WHERE alias IS NOT NULL;

-- Settled messages that a device of a dialect with an inbox has not received: what polling takes. Apart from `delivery`, none of whose indexes may know
-- a receipt; and not as long as the history.
CREATE TABLE gateway.inbox_open (
    tenant_id text NOT NULL,
    identity_id uuid NOT NULL,
    message_id uuid NOT NULL,
    due_day integer NOT NULL,
    PRIMARY KEY (tenant_id, identity_id, message_id)
);
SELECT gateway.colocate('gateway.inbox_open');
ALTER TABLE gateway.inbox_open ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
-- For retention.
CREATE INDEX inbox_open_day ON gateway.inbox_open (tenant_id, due_day);

-- The last number that was drawn: seconds since 1970 times 10,000, and the place in the second (`MessageNumber`).
CREATE TABLE gateway.message_number (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.message_number');
ALTER TABLE gateway.message_number ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['inbox_open', 'message_number'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.inbox_open TO gateway_call, gateway_engine;
GRANT SELECT, INSERT, UPDATE ON gateway.message_number TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.message_number TO gateway_engine;

-- The active identity that calls: by its key, else by its token. Nulls when there is none.
CREATE FUNCTION gateway.calling_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_token text)
RETURNS gateway.identity LANGUAGE plpgsql STABLE AS $$
DECLARE
    i gateway.identity;
BEGIN
    IF p_key IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.key = p_key AND x.vendor = p_vendor AND x.state = 'active';
        IF FOUND THEN RETURN i; END IF;
    END IF;
    IF p_token IS NOT NULL THEN
        SELECT x.* INTO i FROM gateway.device d
            JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = d.device_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
                AND x.app_id = p_app AND x.vendor = p_vendor AND x.state = 'active'
            ORDER BY x.registered_at DESC LIMIT 1;
    END IF;
    RETURN i;
END $$;

-- The message that has this number in a dialect; a message's own id finds it too.
CREATE FUNCTION gateway.numbered_message(p_tenant text, p_app text, p_vendor text, p_number text) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_id uuid;
BEGIN
    SELECT r.message_id INTO v_id FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_number;
    IF NOT FOUND AND p_number ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
        SELECT m.message_id INTO v_id FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.message_id = p_number::uuid AND m.app_id = p_app;
    END IF;
    RETURN v_id;
END $$;

-- A message's numbers by dialect.
CREATE FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message);
END $$;

-- Up to p_limit messages of a device (p_user null), or of a user on any device, from before p_before on, newest first. What was canceled, or came to
-- the device by another of its identities, is nobody's history.
--
-- From week to week, each step twice as long, back to p_since: a device that gets a message a year looks at a few dozen empty weeks in six steps, one
-- that gets a hundred a day at one week. The planner cannot know the limit, and would rather read and sort a whole week.
CREATE FUNCTION gateway.walk_history(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_user text, p_since integer, p_day integer, p_before uuid,
    p_limit integer)
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
BEGIN
    WHILE v_left > 0 AND v_to > p_since LOOP
        v_from := v_to - v_span;
        IF p_user IS NULL THEN
            RETURN QUERY SELECT d.message_id, d.due_day, d.user_id, d.state = 'sent', d.received_at, d.read_at
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.identity_id = p_identity AND d.due_day >= v_from AND d.due_day < v_to
                    AND d.message_id < p_before AND d.state <> 'canceled' AND d.reason IS DISTINCT FROM 'duplicate'
                ORDER BY d.message_id DESC LIMIT v_left;
        ELSE
            -- A user's message on several devices is one, received and read by the first of them.
            RETURN QUERY SELECT d.message_id, d.due_day, p_user, bool_or(d.state = 'sent' AND d.identity_id = p_identity),
                    min(d.received_at), min(d.read_at)
                FROM gateway.delivery d JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = d.identity_id
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = p_user AND i.vendor = p_vendor
                    AND d.due_day >= v_from AND d.due_day < v_to AND d.message_id < p_before AND d.state <> 'canceled'
                    AND d.reason IS DISTINCT FROM 'duplicate'
                GROUP BY d.message_id, d.due_day ORDER BY d.message_id DESC LIMIT v_left;
        END IF;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_left := v_left - v_count;
        v_to := v_from;
        v_span := least(v_span * 2, 448);
    END LOOP;
END $$;

-- Marks the deliveries of a device as received, or read: parallel arrays of messages and their due days. The push's own state moves only from `sent` on:
-- what was suppressed and is polled stays suppressed, and counts as received. Returns the messages that were changed.
CREATE FUNCTION gateway.mark_deliveries(
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
    -- Counters, then events, last: their rows are everybody's, and a flush of outcomes takes them in this order too.
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

-- Messages as a history shows them, in the order of the arrays; one whose message is gone is left out.
CREATE FUNCTION gateway.shown_messages(
    p_tenant text, p_messages uuid[], p_users text[], p_received timestamptz[], p_read timestamptz[])
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    k integer;
BEGIN
    FOR k IN 1 .. coalesce(cardinality(p_messages), 0) LOOP
        RETURN QUERY SELECT m.message_id, m.app_id, m.vendor, m.content, m.due_at, m.due_local, m.expires_at, m.collapse_id,
                gateway.message_numbers(p_tenant, m.message_id), m.sender_id, p_users[k], p_received[k], p_read[k]
            FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_messages[k];
    END LOOP;
END $$;

-- A page of the caller's history. p_kind: device, user (p_user must be the caller's, or null). p_number: only what is older than that message; one that
-- nobody knows is compared as text. p_now: the first id of the next moment, so that what is due later does not show. What was sent to the caller and is
-- shown here counts as received.
CREATE FUNCTION gateway.history_page(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_kind text, p_user text, p_number text, p_now uuid,
    p_today integer, p_limit integer, p_at timestamptz, p_node text)
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
            -- The first of the later messages is where the page begins; the number itself is nobody's.
            SELECT r.message_id INTO v_before FROM gateway.message_ref r
                WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref > p_number
                ORDER BY r.ref LIMIT 1;
        END IF;
        v_before := least(v_before, p_now);
        SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_before;
        v_day := coalesce(least(v_day, p_today), p_today);
    END IF;
    -- Nothing was sent before there was the device, or the app.
    SELECT floor(extract(epoch FROM CASE p_kind WHEN 'user' THEN a.created_at ELSE i.created_at END) / 86400)::integer - 1 INTO v_since
        FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    SELECT array_agg(w.message_id) AS ids, array_agg(w.user_id) AS users, array_agg(w.received_at) AS received,
            array_agg(w.read_at) AS read, array_agg(w.message_id) FILTER (WHERE w.is_sent) AS fresh,
            array_agg(w.due_day) FILTER (WHERE w.is_sent) AS days
        INTO v FROM gateway.walk_history(
            p_tenant, p_app, p_vendor, i.identity_id, CASE p_kind WHEN 'user' THEN i.user_id END, v_since, v_day, v_before, p_limit) w;
    IF v.fresh IS NOT NULL THEN
        v_new := gateway.mark_deliveries(p_tenant, i.identity_id, v.fresh, v.days, 'received', p_at, p_node);
    END IF;
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, s.user_id, CASE WHEN s.message_id = ANY (v_new) THEN least(s.received_at, p_at) ELSE s.received_at END,
            s.read_at
        FROM gateway.shown_messages(p_tenant, v.ids, v.users, v.received, v.read) s;
END $$;

-- One message of the caller, or of its user.
CREATE FUNCTION gateway.history_message(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text)
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT d.user_id AS name, d.received_at AS received, d.read_at AS read INTO v FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
            AND d.state <> 'canceled';
    IF NOT FOUND THEN
        SELECT i.user_id AS name, min(d.received_at) AS received, min(d.read_at) AS read, count(*) AS rows INTO v
            FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled';
        IF v.rows = 0 THEN RETURN; END IF;
    END IF;
    RETURN QUERY SELECT s.* FROM gateway.shown_messages(
        p_tenant, ARRAY[v_message], ARRAY[v.name], ARRAY[v.received], ARRAY[v.read]) s;
END $$;

-- What the caller has not received, oldest first; then it has. Of two polls at once the second gets what comes after.
CREATE FUNCTION gateway.poll_inbox(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_now uuid, p_limit integer, p_at timestamptz, p_node text)
RETURNS TABLE (
    message_id uuid, app_id text, vendor text, content json, due_at timestamptz, due_local bigint, expires_at timestamptz,
    collapse_id text, numbers text, sender_id text, user_id text, received_at timestamptz, read_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    v_marked uuid[] := '{}';
    v record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN; END IF;
    -- Rows of deliveries that are gone, or were received by another way, cost a step and vanish.
    FOR step IN 1 .. 20 LOOP
        SELECT array_agg(o.message_id ORDER BY o.message_id) AS ids, array_agg(o.due_day ORDER BY o.message_id) AS days INTO v FROM (
            SELECT x.message_id, x.due_day FROM gateway.inbox_open x
            WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id AND x.message_id < p_now
            ORDER BY x.message_id LIMIT p_limit - cardinality(v_marked) FOR UPDATE) o;
        EXIT WHEN v.ids IS NULL;
        v_marked := v_marked || gateway.mark_deliveries(p_tenant, i.identity_id, v.ids, v.days, 'received', p_at, p_node);
        EXIT WHEN cardinality(v_marked) >= p_limit;
    END LOOP;
    RETURN QUERY SELECT s.message_id, s.app_id, s.vendor, s.content, s.due_at, s.due_local, s.expires_at, s.collapse_id, s.numbers,
            s.sender_id, i.user_id, p_at, NULL::timestamptz
        FROM gateway.shown_messages(p_tenant, v_marked, NULL, NULL, NULL) s;
END $$;

-- A receipt by a message's number: recorded, repeated, unknown_device, unknown_message. What was not pushed may be read; a message that only another
-- device of the user got is read there.
CREATE FUNCTION gateway.report_number(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_number text, p_kind text, p_at timestamptz, p_node text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    v_message uuid;
    v_day integer;
    v_outcome text;
    v_owner uuid;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 'unknown_device'; END IF;
    v_message := gateway.numbered_message(p_tenant, p_app, p_vendor, p_number);
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = v_message;
    IF NOT FOUND THEN RETURN 'unknown_message'; END IF;
    v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node);
    IF v_outcome <> 'orphan' THEN
        DELETE FROM gateway.inbox_open
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id AND message_id = v_message;
        RETURN v_outcome;
    END IF;
    SELECT d.identity_id INTO v_owner FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = v_message AND d.target_id = i.identity_id
            AND d.state <> 'canceled';
    IF NOT FOUND THEN
        SELECT d.identity_id INTO v_owner
            FROM gateway.delivery d JOIN gateway.identity o ON o.tenant_id = p_tenant AND o.identity_id = d.identity_id
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.user_id = i.user_id AND o.vendor = p_vendor
                AND d.due_day = v_day AND d.message_id = v_message AND d.state <> 'canceled'
            ORDER BY d.identity_id LIMIT 1;
        IF NOT FOUND THEN RETURN 'unknown_message'; END IF;
    END IF;
    RETURN CASE WHEN cardinality(gateway.mark_deliveries(
        p_tenant, v_owner, ARRAY[v_message], ARRAY[v_day], p_kind, p_at, p_node)) > 0 THEN 'recorded' ELSE 'repeated' END;
END $$;

-- Changes the caller's preferences; null stays. 0: there is no such device.
CREATE FUNCTION gateway.set_preferences(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_accepts boolean, p_zone text, p_from integer,
    p_to integer, p_alias text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    i gateway.identity;
    v_old boolean;
    d record;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 0; END IF;
    SELECT x.accepts_push INTO v_old FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = i.identity_id FOR UPDATE;
    UPDATE gateway.identity SET accepts_push = coalesce(p_accepts, accepts_push), alias = coalesce(p_alias, alias)
        WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
    IF p_from IS NOT NULL OR p_to IS NOT NULL THEN
        SELECT x.window_from, x.window_to INTO d FROM gateway.device x
            WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id FOR UPDATE;
        PERFORM gateway.set_clock(
            p_tenant, i.device_id, p_zone, coalesce(p_from, d.window_from, 0), coalesce(p_to, d.window_to, 1439));
    END IF;
    IF p_accepts <> v_old THEN
        PERFORM gateway.append_changes(
            p_tenant, ARRAY['preference_changed'], ARRAY[p_app], ARRAY[p_vendor], ARRAY[i.identity_id], ARRAY[i.device_id],
            ARRAY[json_build_object('acceptsPush', p_accepts)]);
    END IF;
    RETURN 1;
END $$;

-- Opens settled deliveries in the inboxes of the identities that keep one. Of those that somebody else recorded nothing is opened twice.
CREATE FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_day integer;
    v_count bigint;
BEGIN
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day)
        SELECT p_tenant, x.identity_id, p_message, v_day FROM unnest(p_targets) AS u(target)
        -- OFFSET 0: by the key, also while the table has no statistics.
        CROSS JOIN LATERAL (
            SELECT d.identity_id FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_message AND d.target_id = u.target
                AND d.identity_id IS NOT NULL AND d.received_at IS NULL AND d.state <> 'canceled'
                AND d.reason IS DISTINCT FROM 'duplicate' OFFSET 0) AS x
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- What follows the acceptance of a message that has numbers, in its transaction: the numbers, and the inboxes of those that were settled at once. 0: the
-- message was not stored, because its call is a repeat.
CREATE FUNCTION gateway.number_message(
    p_tenant text, p_message uuid, p_vendors text[], p_numbers text[], p_targets uuid[], p_inboxes text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    v_targets uuid[];
BEGIN
    SELECT x.app_id, x.due_day INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN 0; END IF;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id)
        SELECT p_tenant, m.app_id, u.vendor, u.number, p_message FROM unnest(p_vendors, p_numbers) AS u(vendor, number)
        ON CONFLICT DO NOTHING;
    IF cardinality(p_targets) > 0 THEN
        WITH r AS (
            UPDATE gateway.delivery d SET user_id = i.user_id FROM gateway.identity i
            WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = ANY (p_targets)
                AND i.tenant_id = p_tenant AND i.identity_id = d.identity_id AND i.vendor = ANY (p_inboxes)
            RETURNING d.target_id)
        SELECT array_agg(r.target_id) INTO v_targets FROM r;
        IF v_targets IS NOT NULL THEN PERFORM gateway.open_inbox(p_tenant, p_message, v_targets); END IF;
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION
    gateway.calling_identity, gateway.numbered_message, gateway.message_numbers, gateway.walk_history, gateway.mark_deliveries,
    gateway.shown_messages, gateway.history_page, gateway.history_message, gateway.poll_inbox, gateway.report_number,
    gateway.set_preferences, gateway.open_inbox, gateway.number_message FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.calling_identity, gateway.numbered_message, gateway.message_numbers, gateway.walk_history, gateway.mark_deliveries,
    gateway.shown_messages, gateway.history_page, gateway.history_message, gateway.poll_inbox, gateway.report_number,
    gateway.set_preferences, gateway.open_inbox, gateway.number_message TO gateway_call, gateway_engine;
