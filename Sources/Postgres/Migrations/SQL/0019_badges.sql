-- Badges that the server counts, numbers that a vendor gives its messages and groups, users that come and go on a device, and pages for what a push cannot hold.

-- The number at an app's icon. A holder is who it is counted for: 'user:' and a user, or 'key:' and the key of a device without one.
CREATE TABLE gateway.badge (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    holder text NOT NULL,
    count integer NOT NULL CHECK (count >= 0),
    PRIMARY KEY (tenant_id, app_id, vendor, holder)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.badge');
ALTER TABLE gateway.badge ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

-- What a message has done to a holder's badge: counted once, with what its push carries in every attempt, and read once.
CREATE TABLE gateway.badge_mark (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    holder text NOT NULL,
    badge integer,
    is_read boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, message_id, holder)
) WITH (fillfactor = 75);
SELECT gateway.colocate('gateway.badge_mark');
ALTER TABLE gateway.badge_mark ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
-- For erasures.
CREATE INDEX badge_mark_holder ON gateway.badge_mark (tenant_id, holder);

-- The last number given out under a name: 'message', 'group'.
CREATE TABLE gateway.vendor_sequence (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    name text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, name)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.vendor_sequence');
ALTER TABLE gateway.vendor_sequence ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

-- What fills a template for one user: {"CNAME": "…", "VAR1": "…"}.
CREATE TABLE gateway.message_variable (
    tenant_id text NOT NULL,
    message_id uuid NOT NULL,
    user_id text NOT NULL,
    variables json NOT NULL,
    PRIMARY KEY (tenant_id, message_id, user_id)
);
SELECT gateway.colocate('gateway.message_variable');
ALTER TABLE gateway.message_variable ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX message_variable_user ON gateway.message_variable (tenant_id, user_id);

-- Text that a push only links to, under an id that nobody guesses.
CREATE TABLE gateway.page (
    tenant_id text NOT NULL,
    page_id text NOT NULL,
    message_id uuid NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, page_id)
);
SELECT gateway.colocate('gateway.page');
ALTER TABLE gateway.page ADD FOREIGN KEY (tenant_id, message_id) REFERENCES gateway.message ON DELETE CASCADE;
CREATE INDEX page_page ON gateway.page (page_id);

-- A user's last session (campaign '') and purchases.
CREATE TABLE gateway.campaign_mark (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    campaign text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, campaign)
);
SELECT gateway.colocate('gateway.campaign_mark');
ALTER TABLE gateway.campaign_mark ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

-- What people call a group whose name is a number.
ALTER TABLE gateway.user_group ADD COLUMN title text;
-- Throttling: after so many targets, so many seconds. Null: none.
ALTER TABLE gateway.message ADD COLUMN pace_count integer, ADD COLUMN pace_seconds integer;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['badge', 'badge_mark', 'vendor_sequence', 'message_variable', 'page', 'campaign_mark'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
    END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE ON gateway.vendor_sequence TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.badge, gateway.badge_mark, gateway.campaign_mark TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.message_variable TO gateway_call;
GRANT INSERT ON gateway.page TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.badge, gateway.badge_mark, gateway.vendor_sequence, gateway.message_variable, gateway.page,
    gateway.campaign_mark TO gateway_engine;

-- The next number under a name. Its row is locked until the commit.
CREATE FUNCTION gateway.next_number(p_tenant text, p_app text, p_vendor text, p_name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    INSERT INTO gateway.vendor_sequence AS s (tenant_id, app_id, vendor, name, last) VALUES (p_tenant, p_app, p_vendor, p_name, 1)
        ON CONFLICT (tenant_id, app_id, vendor, name) DO UPDATE SET last = s.last + 1
        RETURNING s.last INTO v_last;
    RETURN v_last;
END $$;

-- A message's number in its app, given once; null when there is no such message. After accept_message, which holds the tenant's event head to the commit
-- already: acceptances wait for each other no longer than they did.
CREATE FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_ref text;
BEGIN
    SELECT r.ref INTO v_ref FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message AND r.app_id = p_app AND r.vendor = p_vendor ORDER BY r.ref LIMIT 1;
    IF v_ref IS NOT NULL THEN RETURN v_ref; END IF;
    PERFORM FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN RETURN NULL; END IF;
    v_ref := gateway.next_number(p_tenant, p_app, p_vendor, 'message')::text;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id) VALUES (p_tenant, p_app, p_vendor, v_ref, p_message);
    RETURN v_ref;
END $$;

-- A group called by its number; null when there is no such app.
CREATE FUNCTION gateway.create_group(p_tenant text, p_app text, p_vendor text, p_title text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    v_name := gateway.next_number(p_tenant, p_app, p_vendor, 'group')::text;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name, title)
        VALUES (p_tenant, p_app, p_vendor, v_name, p_title) ON CONFLICT DO NOTHING;
    RETURN v_name;
END $$;

-- Whose an active identity is from now on: p_change set, clear or keep. No row when there is no such identity.
-- has_moved: the user is new on it and was on another of the app before. p_exclusive: others that the user is on lose it.
CREATE FUNCTION gateway.assign_user(
    p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean)
RETURNS TABLE (user_id text, has_moved boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i record;
    v_moved boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT x.identity_id, x.user_id, x.state INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND OR i.state <> 'active' THEN RETURN; END IF;
    IF p_change = 'set' THEN
        v_moved := i.user_id IS DISTINCT FROM p_user AND EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_user
                AND o.identity_id <> i.identity_id);
        IF p_exclusive THEN
            PERFORM gateway.lock_name(p_tenant, 'user', p_app || chr(31) || p_vendor || chr(31) || p_user);
            UPDATE gateway.identity SET user_id = NULL, name = NULL
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_user
                    AND identity_id <> i.identity_id AND state = 'active';
        END IF;
        UPDATE gateway.identity SET user_id = p_user, name = coalesce(p_name, CASE WHEN user_id = p_user THEN name END),
                phone = coalesce(p_phone, phone)
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        RETURN QUERY SELECT p_user, v_moved;
    ELSIF p_change = 'clear' THEN
        UPDATE gateway.identity SET user_id = NULL, name = NULL WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        RETURN QUERY SELECT NULL::text, false;
    ELSE
        RETURN QUERY SELECT i.user_id, false;
    END IF;
END $$;

-- Counts a message for the holders behind these targets, each once, and tells what their pushes carry; nobody who cannot be rung.
-- Whoever changes badges takes marks first, then badges, each in the order of holders: no two wait for each other in a ring.
CREATE FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[])
RETURNS TABLE (place bigint, badge integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_holders text[];
    v_new text[];
BEGIN
    SELECT x.app_id, x.vendor INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF NOT FOUND THEN RETURN; END IF;
    v_holders := ARRAY(
        SELECT DISTINCT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder FROM gateway.identity i
        JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (p_targets) AND i.vendor = m.vendor AND i.state = 'active'
            AND i.accepts_push AND d.token_state = 'active'
        ORDER BY holder);
    WITH r AS (
        INSERT INTO gateway.badge_mark (tenant_id, message_id, holder)
            SELECT p_tenant, p_message, h FROM unnest(v_holders) AS h ORDER BY h
            ON CONFLICT DO NOTHING RETURNING holder)
    SELECT array_agg(r.holder ORDER BY r.holder) INTO v_new FROM r;
    IF v_new IS NOT NULL THEN
        WITH r AS (
            -- A billion: the counter stays a number that clients can hold.
            INSERT INTO gateway.badge AS b (tenant_id, app_id, vendor, holder, count)
                SELECT p_tenant, m.app_id, m.vendor, h, p_step FROM unnest(v_new) AS h ORDER BY h
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = least(b.count + excluded.count, 1000000000)
                RETURNING b.holder, b.count)
        UPDATE gateway.badge_mark k SET badge = r.count FROM r
            WHERE k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = r.holder;
    END IF;
    RETURN QUERY SELECT t.place, k.badge FROM unnest(p_places, p_targets) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = t.target
        JOIN gateway.badge_mark k ON k.tenant_id = p_tenant AND k.message_id = p_message
            AND k.holder = coalesce('user:' || i.user_id, 'key:' || i.key)
        WHERE k.badge IS NOT NULL;
END $$;

-- The identities behind a token, a key or a user, whichever of them is known first; the newest fifty of a user.
CREATE FUNCTION gateway.reporting_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
BEGIN
    IF p_token IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.device d
            JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.app_id = p_app AND i.vendor = p_vendor
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform IN ('ios', 'android')
                AND d.token_digest = md5(p_token) AND d.token = p_token
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_key IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key);
    END IF;
    IF coalesce(cardinality(v_ids), 0) = 0 AND p_user IS NOT NULL THEN
        v_ids := ARRAY(
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = p_user
            ORDER BY i.state = 'active' DESC, i.registered_at DESC LIMIT 50);
    END IF;
    RETURN coalesce(v_ids, '{}');
END $$;

-- Sets a holder's badge, or reads it (p_count null). Null: nobody there to count for.
CREATE FUNCTION gateway.set_badge(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_holder text;
    v_count integer;
BEGIN
    SELECT coalesce('user:' || i.user_id, 'key:' || i.key) INTO v_holder FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = v_ids[1];
    IF v_holder IS NULL THEN RETURN NULL; END IF;
    IF p_count IS NULL THEN
        SELECT b.count INTO v_count FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        RETURN coalesce(v_count, 0);
    END IF;
    INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_count)
        ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
    RETURN p_count;
END $$;

-- A receipt by a message's number (or id), from whoever has the token, the key or the user, and what it does to the badge: p_badge -1 takes one off at the
-- first read of the message by that holder, 0 and more sets it, null leaves it. The first of the reporter's identities that was sent the message counts.
CREATE FUNCTION gateway.acknowledge(
    p_tenant text, p_app text, p_vendor text, p_ref text, p_message uuid, p_key text, p_token text, p_user text, p_kind text,
    p_badge integer, p_at timestamptz, p_node text)
RETURNS TABLE (outcome text, badge integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_message uuid := p_message;
    v_day integer;
    d record;
    i record;
    v_target uuid;
    v_holder text;
    v_first boolean := true;
    v_badge integer;
    v_outcome text := 'orphan';
BEGIN
    IF v_message IS NULL THEN
        SELECT r.message_id INTO v_message FROM gateway.message_ref r
            WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_ref;
    END IF;
    SELECT x.due_day INTO v_day FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = v_message AND x.app_id = p_app;
    IF v_day IS NOT NULL AND cardinality(v_ids) > 0 THEN
        SELECT x.target_id, x.read_at INTO d FROM gateway.delivery x
            WHERE x.tenant_id = p_tenant AND x.due_day = v_day AND x.message_id = v_message AND x.target_id = ANY (v_ids)
                AND (x.state IN ('sent', 'received', 'read') OR x.state IN ('failed', 'expired') AND x.transport IS NOT NULL)
            ORDER BY array_position(v_ids, x.target_id) LIMIT 1;
        v_target := d.target_id;
        v_first := d.read_at IS NULL;
        IF v_target IS NULL THEN
            -- On its way, and not yet written.
            SELECT u.target INTO v_target FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets) AS u(target)
                WHERE s.tenant_id = p_tenant AND s.message_id = v_message AND s.state = 'leased' AND u.target = ANY (v_ids)
                ORDER BY array_position(v_ids, u.target) LIMIT 1;
        END IF;
    END IF;
    SELECT x.key, coalesce('user:' || x.user_id, 'key:' || x.key) AS holder INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = coalesce(v_target, v_ids[1]);
    v_holder := i.holder;

    IF v_holder IS NOT NULL AND p_badge IS NOT NULL THEN
        IF v_target IS NOT NULL THEN
            INSERT INTO gateway.badge_mark AS k (tenant_id, message_id, holder, is_read) VALUES (p_tenant, v_message, v_holder, true)
                ON CONFLICT (tenant_id, message_id, holder) DO UPDATE SET is_read = true WHERE NOT k.is_read;
            v_first := FOUND AND v_first;
        ELSE
            v_first := false;
        END IF;
        IF p_badge >= 0 THEN
            INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_badge)
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
        ELSIF v_first THEN
            UPDATE gateway.badge b SET count = greatest(b.count - 1, 0)
                WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        END IF;
    END IF;
    IF v_holder IS NOT NULL THEN
        SELECT b.count INTO v_badge FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
    END IF;
    IF v_target IS NOT NULL THEN
        v_outcome := gateway.record_receipt(p_tenant, p_app, p_vendor, v_message, i.key, p_kind, p_at, p_node);
    END IF;
    RETURN QUERY SELECT v_outcome, coalesce(v_badge, 0);
END $$;

-- The next page of an audience, as expand_slice gives it; of a message with a pace its new slices are short enough and due one after the other.
CREATE FUNCTION gateway.expand_paced(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
BEGIN
    SELECT x.pace_count, x.pace_seconds, x.expanded, x.due_at, x.expires_at INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.pace_count IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_slice(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size) x;
        RETURN;
    END IF;
    SELECT max(s.no) INTO v_last FROM gateway.slice s WHERE s.tenant_id = p_tenant AND s.message_id = p_message;
    SELECT * INTO e FROM gateway.expand_slice(
        p_tenant, p_message, p_no, p_epoch, p_owner, p_page, least(p_slice_size, m.pace_count)) x;
    UPDATE gateway.slice s
        SET next_at = least(m.expires_at, greatest(
            s.next_at, m.due_at + m.pace_seconds * div(m.expanded + n.before, m.pace_count)::bigint * interval '1 second'))
        FROM (
            SELECT x.no, sum(cardinality(x.targets)) OVER (ORDER BY x.no) - cardinality(x.targets) AS before FROM gateway.slice x
            WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last) AS n
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.no = n.no AND s.state = 'ready';
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

-- A page by its id, whosever it is: the id is the capability. Not one whose time is over.
CREATE FUNCTION gateway.resolve_page(p_id text) RETURNS TABLE (name text, body text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT p.name, p.body FROM gateway.page p WHERE p.page_id = p_id AND p.expires_at > now() LIMIT 1;
END $$;

-- What is kept of a user beside devices. After erase_user.
CREATE FUNCTION gateway.forget_user(p_tenant text, p_user text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.badge_mark WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.campaign_mark WHERE tenant_id = p_tenant AND user_id = p_user;
END $$;

REVOKE ALL ON FUNCTION
    gateway.next_number, gateway.sequence_message, gateway.create_group, gateway.assign_user, gateway.take_badges,
    gateway.reporting_identities, gateway.set_badge, gateway.acknowledge, gateway.expand_paced, gateway.resolve_page,
    gateway.forget_user FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.next_number, gateway.sequence_message, gateway.create_group, gateway.assign_user, gateway.reporting_identities,
    gateway.set_badge, gateway.acknowledge, gateway.resolve_page, gateway.forget_user TO gateway_call;
GRANT EXECUTE ON FUNCTION
    gateway.next_number, gateway.sequence_message, gateway.create_group, gateway.assign_user, gateway.take_badges,
    gateway.reporting_identities, gateway.set_badge, gateway.acknowledge, gateway.expand_paced, gateway.resolve_page,
    gateway.forget_user TO gateway_engine;
