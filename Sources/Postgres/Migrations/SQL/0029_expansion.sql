-- Who is meant by tags, and everyone, page by page: faster.
--
-- Judged one by one, each identity cost an engine a look at its row, one at its device's others and one for each tag. They are judged by the page
-- now: along the indexes between its first and its last identity, where those have not many more entries than the page.

-- Whether any device of the app ever had two identities at once; a device is looked at only then. It is set once, and stays.
ALTER TABLE gateway.app ADD COLUMN shares_devices boolean NOT NULL DEFAULT false;
GRANT UPDATE (shares_devices) ON gateway.app TO gateway_call;
-- Of those that are here already nobody kept account.
UPDATE gateway.app a SET shares_devices = true
    WHERE EXISTS (SELECT FROM gateway.identity_count c WHERE c.tenant_id = a.tenant_id AND c.app_id = a.app_id);

-- Few among many: what a page has to leave out.
CREATE INDEX identity_gone ON gateway.identity (tenant_id, app_id, identity_id) WHERE state <> 'active';

-- Says of the app that p_device has another active identity than p_identity, if it has.
CREATE FUNCTION gateway.note_sharing(p_tenant text, p_app text, p_identity uuid, p_device uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = p_device AND o.state = 'active' AND o.identity_id <> p_identity)
    THEN
        UPDATE gateway.app SET shares_devices = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT shares_devices;
    END IF;
END $$;

-- As in 0028; new: it notes who shares a device.
CREATE OR REPLACE FUNCTION gateway.register_identity(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
    v_old_device uuid;
    v_device uuid;
    v_state text;
    v_phone text;
    v_replaced uuid[] := '{}';
    v_platform text := p_platform;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, i.state, i.phone INTO v_id, v_old_device, v_state, v_phone FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key;
    v_device := v_old_device;
    -- A replaced identity that comes back does not take its successor's device.
    IF v_state <> 'active' AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = v_old_device AND o.app_id = p_app AND o.vendor = p_vendor
            AND o.state = 'active')
    THEN
        v_device := NULL;
    END IF;

    IF p_token IS NOT NULL AND p_attributes->>'sharesDevice' = 'true' THEN
        -- With a new token it leaves those that it shared the old one with.
        IF EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.device_id = v_device AND o.app_id = p_app AND o.vendor = p_vendor
                AND o.state = 'active' AND o.identity_id <> v_id)
        THEN
            v_device := NULL;
        END IF;
        v_device := gateway.seat_token(p_tenant, p_app, v_device, p_device, p_platform, p_environment, p_token, p_at);
    ELSIF p_token IS NOT NULL THEN
        SELECT t.o_device, t.o_replaced INTO v_device, v_replaced
            FROM gateway.place_token(
                p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, p_device,
                p_platform, p_environment, p_token, p_at) t;
    ELSIF v_device IS NULL THEN
        INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, created_at, seen_at)
            VALUES (p_tenant, p_device, p_app, p_platform, coalesce(p_environment, 'production'), p_at, p_at);
        v_device := p_device;
    ELSE
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, p_at),
                -- Without a token nothing depends on them; with one they are that token's.
                platform = CASE WHEN d.token IS NULL THEN p_platform ELSE d.platform END,
                environment = CASE WHEN d.token IS NULL THEN coalesce(p_environment, d.environment) ELSE d.environment END
            WHERE d.tenant_id = p_tenant AND d.device_id = v_device
            RETURNING d.platform INTO v_platform;
    END IF;

    IF v_id IS NULL THEN
        v_id := p_identity;
        INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            VALUES (p_tenant, v_id, p_app, p_vendor, p_key, v_device, 'active', p_user, p_name, p_phone, p_raw_phone,
                coalesce(p_attributes, '{}'), p_at, p_at);
    ELSE
        UPDATE gateway.identity i SET device_id = v_device, state = 'active', user_id = coalesce(p_user, i.user_id),
                name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone),
                raw_phone = coalesce(p_raw_phone, i.raw_phone), attributes = coalesce(p_attributes, i.attributes),
                registered_at = p_at
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_id;
    END IF;
    IF v_state IS DISTINCT FROM 'active' THEN
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, ARRAY[p_key], 1);
    END IF;

    v_phone := coalesce(p_phone, v_phone);
    IF p_replaces_phone AND v_phone IS NOT NULL THEN
        PERFORM gateway.lock_name(p_tenant, 'phone', p_app || chr(31) || p_vendor || chr(31) || v_phone);
        v_replaced := v_replaced || gateway.replace_identities(p_tenant, p_app, p_vendor, v_id, NULL, v_phone);
    END IF;
    -- Only a token that was here before leads to a device with others.
    IF v_device IS DISTINCT FROM v_old_device AND v_device <> p_device THEN
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_device);
    END IF;
    IF v_old_device IS DISTINCT FROM v_device AND v_old_device IS NOT NULL THEN
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old_device]);
    END IF;
    RETURN QUERY SELECT v_id, v_device, v_platform, coalesce(v_state = 'active', false), v_replaced;
END $$;

-- As in 0004; likewise.
CREATE OR REPLACE FUNCTION gateway.update_token(
    p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
    v_old uuid;
    v_new uuid;
    v_platform text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, d.platform INTO v_id, v_old, v_platform
        FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT t.o_device INTO v_new
        FROM gateway.place_token(p_tenant, p_app, p_vendor, v_id, v_old, v_old, v_platform, p_environment, p_token, p_at) t;
    IF v_new <> v_old THEN
        UPDATE gateway.identity SET device_id = v_new WHERE tenant_id = p_tenant AND identity_id = v_id;
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old]);
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_new);
    END IF;
    RETURN 1;
END $$;

-- Where the next identities end, p_limit at most: behind p_after, of several dialects, with one of several tags (null: with any or none). Each of
-- these walks gets its share, and the shortest of those that go on is the end; null when none does.
CREATE FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_walks integer := cardinality(p_vendors) * coalesce(cardinality(p_tags), 1);
    v_each integer := 1 + (p_limit - 1) / greatest(v_walks, 1);
BEGIN
    IF p_tags IS NULL THEN
        RETURN (
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after
                ORDER BY i.identity_id OFFSET v_each - 1 LIMIT 1) AS y
            ORDER BY y.id LIMIT 1);
    END IF;
    RETURN (
        SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_tags) AS n(tag) CROSS JOIN LATERAL (
            SELECT t.identity_id AS id FROM gateway.identity_tag t
            WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag AND t.identity_id > p_after
            ORDER BY t.identity_id OFFSET v_each - 1 LIMIT 1) AS y
        ORDER BY y.id LIMIT 1);
END $$;

-- The identities behind p_after up to p_end, in their order, whose tags agree with one pair (cares, wants) of the terms; each of p_tags is a bit.
-- p_anchors: at least one of them has whoever is meant; null: nobody need have any. A tag with more than p_most entries there is looked up for each
-- identity instead. Without terms all are meant that have an anchor, or that are there.
CREATE FUNCTION gateway.in_window(
    p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid,
    p_most integer)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_many text[];
    v_meant text;
    v_ids uuid[];
BEGIN
    IF p_cares IS NULL AND p_anchors IS NULL THEN
        RETURN ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after AND i.identity_id <= p_end
                OFFSET 0) AS y
            ORDER BY y.id);
    ELSIF p_cares IS NULL THEN
        v_ids := ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_anchors) AS a(tag) CROSS JOIN LATERAL (
                SELECT t.identity_id AS id FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = a.tag
                    AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
            ORDER BY y.id);
        RETURN CASE WHEN cardinality(p_anchors) = 1 THEN v_ids ELSE ARRAY(SELECT DISTINCT unnest(v_ids) ORDER BY 1) END;
    END IF;
    v_many := ARRAY(
        SELECT n.tag FROM unnest(p_tags) AS n(tag)
        WHERE n.tag <> ALL (coalesce(p_anchors, '{}')) AND p_most < (
            SELECT count(*) FROM (
                SELECT FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
                LIMIT p_most + 1) AS x));
    -- A statement of its own for the terms: nothing but numbers gets into its text. OFFSET 0 keeps the planner from other kinds of joins.
    SELECT string_agg(format('bit_or(e.bit) & %s = %s', c.cares, c.wants), ' OR ') INTO v_meant
        FROM unnest(p_cares, p_wants) AS c(cares, wants);
    EXECUTE $q$
        SELECT ARRAY(
            SELECT e.id FROM (
                SELECT y.id, 0::bigint AS bit FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT i.identity_id AS id FROM gateway.identity i
                    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name AND i.identity_id > $7 AND i.identity_id <= $8 OFFSET 0) AS y
                WHERE $4 IS NULL
                UNION ALL
                SELECT y.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT t.identity_id AS id FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > $7 AND t.identity_id <= $8 OFFSET 0) AS y
                WHERE n.tag <> ALL ($6)
                UNION ALL
                SELECT c.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN LATERAL (
                    SELECT DISTINCT y.id FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                        SELECT i.identity_id AS id FROM gateway.identity i
                        WHERE $4 IS NULL AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name
                            AND i.identity_id > $7 AND i.identity_id <= $8
                        UNION ALL
                        SELECT t.identity_id FROM unnest($4) AS a(tag) CROSS JOIN LATERAL (
                            SELECT o.identity_id FROM gateway.identity_tag o
                            WHERE o.tenant_id = $1 AND o.app_id = $2 AND o.vendor = v.name AND o.tag = a.tag
                                AND o.identity_id > $7 AND o.identity_id <= $8 OFFSET 0) AS t
                        OFFSET 0) AS y
                    OFFSET 0) AS c
                CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = c.id AND t.tag = n.tag OFFSET 0) AS h
                WHERE n.tag = ANY ($6)) AS e
            GROUP BY e.id HAVING $q$ || coalesce(v_meant, 'false') || $q$ ORDER BY e.id)$q$
        INTO v_ids USING p_tenant, p_app, p_vendors, p_anchors, p_tags, v_many, p_after, p_end;
    RETURN v_ids;
END $$;

-- Those of p_ids, in their order, that are still active.
CREATE FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_most integer := 4 * cardinality(p_ids);
    v_gone uuid[];
BEGIN
    v_gone := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state <> 'active'
            AND i.identity_id >= p_ids[1] AND i.identity_id <= p_ids[cardinality(p_ids)] LIMIT v_most + 1);
    IF cardinality(v_gone) > v_most THEN
        v_gone := ARRAY(
            SELECT c.id FROM unnest(p_ids) AS c(id) CROSS JOIN LATERAL (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state <> 'active' OFFSET 0) AS y);
    END IF;
    IF cardinality(v_gone) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_gone) ORDER BY 1);
END $$;

-- Those of p_ids, in their order, before whom no other active identity of their device is meant: by the terms, or, where p_tags is null, at all.
CREATE FUNCTION gateway.first_of_devices(
    p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_later uuid[];
BEGIN
    -- Asked after p_ids was read: whoever can be seen there has said so before.
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND shares_devices;
    IF NOT FOUND THEN RETURN p_ids; END IF;
    v_later := ARRAY(
        SELECT c.id FROM unnest(p_ids) AS c(id)
        CROSS JOIN LATERAL (
            SELECT i.device_id FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = c.id OFFSET 0) AS i
        CROSS JOIN LATERAL (
            SELECT s.identity_id FROM gateway.identity s
            WHERE s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id < c.id AND s.state = 'active' OFFSET 0) AS o
        WHERE p_tags IS NULL OR EXISTS (
            SELECT FROM (
                SELECT coalesce(bit_or(1::bigint << (array_position(p_tags, t.tag) - 1)), 0) AS bits FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = o.identity_id AND t.tag = ANY (p_tags)) AS h
            CROSS JOIN unnest(p_cares, p_wants) AS w(cares, wants) WHERE h.bits & w.cares = w.wants));
    IF cardinality(v_later) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_later) ORDER BY 1);
END $$;

-- The next page of everyone, or of those whom tags mean. The native dialect speaks to all dialects, to each device once: to the first
-- of its identities that are meant.
--
-- Along the tags of p_audience's anchors, at least one of which everybody meant has: so a rare tag costs what it has and not what the app has.
-- Without anchors (`!a`, and everyone) along all identities.
CREATE FUNCTION gateway.identity_page(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_vendors text[] := ARRAY[p_vendor];
    v_anchors text[];
    v_tags text[];
    v_cares bigint[];
    v_wants bigint[];
    v_judges boolean := false;
    -- Looked at, and looked at most: the slice's and the message's rows are locked meanwhile.
    v_seen integer := 0;
    v_most integer := least(20 * p_page, 20000);
    v_end uuid;
    v_ids uuid[];
BEGIN
    IF p_vendor = 'native' THEN
        v_vendors := ARRAY(
            SELECT DISTINCT c.vendor FROM gateway.identity_count c WHERE c.tenant_id = p_tenant AND c.app_id = p_app);
    END IF;
    IF p_audience IS NOT NULL THEN
        v_tags := ARRAY(SELECT json_array_elements_text(p_audience->'tags'));
        v_cares := ARRAY(SELECT json_array_elements_text(p_audience->'cares')::bigint);
        v_wants := ARRAY(SELECT json_array_elements_text(p_audience->'wants')::bigint);
        IF json_typeof(p_audience->'anchors') = 'array' THEN
            v_anchors := ARRAY(SELECT json_array_elements_text(p_audience->'anchors'));
        END IF;
        -- Where each term is one tag that is wanted, those are the anchors, and whoever has one is meant.
        v_judges := v_anchors IS NULL OR EXISTS (
            SELECT FROM unnest(v_cares, v_wants) AS c(cares, wants) WHERE c.cares <> c.wants OR c.cares & (c.cares - 1) <> 0);
    END IF;
    io_after := coalesce(io_after, '00000000-0000-0000-0000-000000000000');
    o_ids := '{}';
    LOOP
        v_end := gateway.window_end(p_tenant, p_app, v_vendors, v_anchors, io_after, p_page - cardinality(o_ids));
        o_ended := v_end IS NULL;
        v_end := coalesce(v_end, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
        v_ids := gateway.in_window(
            p_tenant, p_app, v_vendors, v_anchors, v_tags, CASE WHEN v_judges THEN v_cares END, v_wants, io_after, v_end, 4 * p_page);
        v_seen := v_seen + p_page - cardinality(o_ids);
        io_after := CASE WHEN o_ended THEN coalesce(v_ids[cardinality(v_ids)], io_after) ELSE v_end END;
        v_ids := gateway.without_gone(p_tenant, p_app, v_ids);
        IF p_vendor = 'native' THEN v_ids := gateway.first_of_devices(p_tenant, p_app, v_tags, v_cares, v_wants, v_ids); END IF;
        o_ids := o_ids || v_ids;
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page OR v_seen >= v_most;
    END LOOP;
END $$;

-- As in 0010, and no more for tags: the next p_limit identities of users or of groups' members, and where the walk stands then.
-- User by user in the order of their ids, so that who is in two groups comes once; within a user by (dialect, identity).
CREATE OR REPLACE FUNCTION gateway.next_candidates(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_zero uuid := '00000000-0000-0000-0000-000000000000';
    v_names text[];
    v_users text[];
    v_user text;
    v_found uuid[];
    v_dialects text[];
BEGIN
    o_ids := '{}';
    -- p_limit users at most: who has no device costs a look too.
    IF p_audience->'groups' IS NOT NULL THEN
        v_names := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
        SELECT array_agg(w.user_id ORDER BY w.user_id) INTO v_users FROM (
            SELECT DISTINCT x.user_id FROM unnest(v_names) AS g(name)
            CROSS JOIN LATERAL (
                SELECT n.user_id FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = g.name
                    AND n.user_id > coalesce(io_user, '')
                ORDER BY n.user_id LIMIT p_limit) AS x
            ORDER BY x.user_id LIMIT p_limit) AS w;
    ELSE
        SELECT array_agg(w.name ORDER BY w.name) INTO v_users FROM (
            SELECT DISTINCT u.name FROM json_array_elements_text(p_audience->'users') AS u(name)
            WHERE u.name > coalesce(io_user, '') ORDER BY u.name LIMIT p_limit) AS w;
    END IF;
    o_ended := coalesce(cardinality(v_users), 0) < p_limit;
    IF io_after IS NOT NULL THEN v_users := array_prepend(io_user, v_users); END IF;
    FOREACH v_user IN ARRAY coalesce(v_users, '{}') LOOP
        IF io_user IS DISTINCT FROM v_user OR io_after IS NULL THEN
            io_dialect := '';
            io_after := v_zero;
        END IF;
        io_user := v_user;
        SELECT array_agg(x.identity_id ORDER BY x.vendor, x.identity_id), array_agg(x.vendor ORDER BY x.vendor, x.identity_id)
            INTO v_found, v_dialects FROM (
            SELECT i.vendor, i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.user_id = v_user AND p_vendor IN ('native', i.vendor)
                AND (i.vendor, i.identity_id) > (io_dialect, io_after)
            ORDER BY i.vendor, i.identity_id LIMIT p_limit - cardinality(o_ids)) AS x;
        o_ids := o_ids || v_found;
        IF cardinality(o_ids) >= p_limit THEN
            io_dialect := v_dialects[cardinality(v_dialects)];
            io_after := v_found[cardinality(v_found)];
            o_ended := false;
            RETURN;
        END IF;
        io_dialect := NULL;
        io_after := NULL;
    END LOOP;
END $$;

-- As in 0010, and no more for tags: those of p_ids whom users or groups mean. The native dialect speaks to all dialects, to each device once.
CREATE OR REPLACE FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_groups text[];
    v_users text[];
    v_ids uuid[];
BEGIN
    IF p_audience->'groups' IS NOT NULL THEN
        v_groups := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
    ELSE
        v_users := ARRAY(SELECT json_array_elements_text(p_audience->'users'));
    END IF;
    -- Subqueries, an aggregate and OFFSET 0 where joins, LIMIT and less would do: while the table has no statistics the planner takes the index
    -- that matches most columns, and must see none but those of one candidate's key and of its device's.
    SELECT array_agg(c.id ORDER BY c.place) INTO v_ids FROM unnest(p_ids) WITH ORDINALITY AS c(id, place)
    WHERE c.id = (
        SELECT (array_agg(o.identity_id ORDER BY o.identity_id))[1] FROM (
            SELECT i.identity_id, i.user_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state = 'active'
            UNION ALL
            SELECT s.identity_id, s.user_id FROM gateway.identity i
            JOIN gateway.identity s ON s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id <> i.identity_id
            WHERE p_vendor = 'native' AND i.tenant_id = p_tenant AND i.identity_id = c.id AND s.state = 'active'
            OFFSET 0) AS o
        WHERE (v_users IS NULL OR o.user_id = ANY (v_users))
            AND (v_groups IS NULL OR EXISTS (
                SELECT FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = ANY (v_groups)
                    AND n.user_id = o.user_id)));
    RETURN coalesce(v_ids, '{}');
END $$;

-- The next page of an audience: at least half of p_page unless it ends, or few are meant. Twenty looks of up to p_page candidates each are
-- the most that one call takes, for the slice's and the message's rows are locked meanwhile; then it says how far it came.
CREATE OR REPLACE FUNCTION gateway.audience_page(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean)
LANGUAGE plpgsql AS $$
DECLARE
    n record;
BEGIN
    IF p_audience IS NULL OR p_audience->'tags' IS NOT NULL THEN
        SELECT * INTO n FROM gateway.identity_page(p_tenant, p_app, p_vendor, p_audience, p_page, io_after);
        io_after := n.io_after;
        o_ids := n.o_ids;
        o_ended := n.o_ended;
        RETURN;
    END IF;
    -- Users are looked at one by one.
    p_page := least(p_page, 500);
    o_ids := '{}';
    FOR k IN 1 .. 20 LOOP
        SELECT * INTO n FROM gateway.next_candidates(
            p_tenant, p_app, p_vendor, p_audience, p_page - cardinality(o_ids), io_user, io_dialect, io_after);
        io_user := n.io_user;
        io_dialect := n.io_dialect;
        io_after := n.io_after;
        o_ended := n.o_ended;
        o_ids := o_ids || gateway.meant(p_tenant, p_app, p_vendor, p_audience, n.o_ids);
        EXIT WHEN o_ended OR cardinality(o_ids) * 2 >= p_page;
    END LOOP;
END $$;

-- As in 0014; new: everyone is a page like the others.
CREATE OR REPLACE FUNCTION gateway.expand_slice(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    s gateway.slice;
    m gateway.message;
    v_ids uuid[];
    v_count integer;
    v_first integer;
    v_slices integer;
    v_ended boolean := true;
    v_is_timed boolean := false;
    p record;
    v_app record;
    v_group record;
BEGIN
    SELECT * INTO s FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND owner = p_owner
            AND state = 'leased' FOR UPDATE;
    IF NOT FOUND THEN RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid; RETURN; END IF;
    SELECT * INTO m FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;

    IF m.state = 'paused' THEN
        UPDATE gateway.slice SET state = 'ready', owner = NULL, epoch = epoch + 1, next_at = m.expires_at
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        RETURN;
    END IF;
    IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
        SELECT x.defaults, x.uses_windows INTO v_app FROM gateway.app x WHERE x.tenant_id = p_tenant AND x.app_id = m.app_id;
        v_is_timed := m.due_local IS NOT NULL OR v_app.defaults->'quiet'->'lanes' @> to_jsonb(m.lane)
            OR v_app.uses_windows AND gateway.heeds_windows(v_app.defaults, m.lane);
        IF v_is_timed AND m.audience IS NULL THEN p_page := greatest(p_page, least(p_page * 10, 5000)); END IF;
        SELECT * INTO p FROM gateway.audience_page(
            p_tenant, m.app_id, m.vendor, m.audience, p_page, s.after_user, s.after_vendor, s.after);
        v_ids := p.o_ids;
        v_ended := p.o_ended;
        s.after_user := p.io_user;
        s.after_vendor := p.io_dialect;
        s.after := p.io_after;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);

    IF v_count = 0 AND v_ended THEN
        UPDATE gateway.slice SET state = 'done', owner = NULL
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
        UPDATE gateway.message SET open_slices = open_slices - 1, recipients = expanded,
                dead_slices = dead_slices - (s.dead_reason IS NOT NULL)::integer,
                state = CASE WHEN state NOT IN ('scheduled', 'expanding', 'sending', 'dead') THEN state
                    WHEN open_slices <= 1 THEN 'done'
                    WHEN dead_slices - (s.dead_reason IS NOT NULL)::integer >= open_slices - 1 THEN 'dead' ELSE 'sending' END
            WHERE tenant_id = p_tenant AND message_id = p_message;
        IF m.state IN ('scheduled', 'expanding', 'sending', 'dead') THEN
            RETURN QUERY SELECT 'finished', m.expanded, NULL::uuid;
        ELSE
            RETURN QUERY SELECT 'fenced', 0::bigint, NULL::uuid;
        END IF;
        RETURN;
    END IF;

    UPDATE gateway.slice SET after_user = s.after_user, after_vendor = s.after_vendor, after = s.after
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no;
    IF v_count = 0 THEN
        -- Nobody among those looked at: the cursor moves on, the transaction stays short.
        UPDATE gateway.message SET state = 'expanding' WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'scheduled';
        RETURN QUERY SELECT 'page', 0::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
        RETURN;
    END IF;

    SELECT max(x.no) + 1 INTO v_first FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    v_slices := 0;
    IF v_is_timed THEN
        FOR v_group IN
            SELECT x.due, x.ids FROM gateway.group_by_due(
                p_tenant, m.lane, m.due_at, m.due_local, m.expires_at, v_app.defaults, v_ids) AS x
        LOOP
            FOR k IN 0 .. (cardinality(v_group.ids) - 1) / p_slice_size LOOP
                INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
                    VALUES (p_tenant, p_message, v_first + v_slices, m.lane, 'deliver', m.due_day,
                        v_group.ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', v_group.due);
                v_slices := v_slices + 1;
            END LOOP;
        END LOOP;
    ELSE
        v_slices := (v_count + p_slice_size - 1) / p_slice_size;
        FOR k IN 0 .. v_slices - 1 LOOP
            INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
                VALUES (p_tenant, p_message, v_first + k, m.lane, 'deliver', m.due_day,
                    v_ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', greatest(m.due_at, now()));
        END LOOP;
    END IF;
    UPDATE gateway.message SET expanded = expanded + v_count, open_slices = open_slices + v_slices, state = 'expanding'
        WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_count, 0, 0, 0, 0, 0, 0, 0);
    -- Between two users the walk stands at no identity.
    RETURN QUERY SELECT 'page', v_count::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
END $$;

-- As in 0026; new: its pages stay small, for each of their slices is worked over.
CREATE OR REPLACE FUNCTION gateway.expand_variants(
    p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_owner text, p_page integer, p_slice_size integer)
RETURNS TABLE (outcome text, targets bigint, after uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_last integer;
    e record;
    s record;
    v_targets uuid[];
    v_more integer := 0;
    v_empty integer := 0;
BEGIN
    SELECT (x.content->'variants')::jsonb AS choice, x.app_id, x.vendor, x.due_at INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    IF m.choice IS NULL THEN
        RETURN QUERY SELECT x.outcome, x.targets, x.after
            FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, p_page, p_slice_size) x;
        RETURN;
    END IF;
    SELECT max(x.no) INTO v_last FROM gateway.slice x WHERE x.tenant_id = p_tenant AND x.message_id = p_message;
    SELECT x.outcome, x.targets, x.after INTO e
        FROM gateway.expand_paced(p_tenant, p_message, p_no, p_epoch, p_owner, least(p_page, 500), greatest(1, p_slice_size / 20)) x;
    FOR s IN
        SELECT x.no, x.targets FROM gateway.slice x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.no > v_last ORDER BY x.no
    LOOP
        v_targets := gateway.fan_out(p_tenant, s.targets, m.choice);
        v_more := v_more + cardinality(v_targets) - cardinality(s.targets);
        v_empty := v_empty + (cardinality(v_targets) = 0)::integer;
        UPDATE gateway.slice SET targets = v_targets, state = CASE WHEN cardinality(v_targets) = 0 THEN 'done' ELSE 'ready' END
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = s.no;
    END LOOP;
    IF v_more <> 0 OR v_empty <> 0 THEN
        UPDATE gateway.message SET expanded = expanded + v_more, open_slices = open_slices - v_empty
            WHERE tenant_id = p_tenant AND message_id = p_message;
        PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_more, 0, 0, 0, 0, 0, 0, 0);
    END IF;
    RETURN QUERY SELECT e.outcome, e.targets, e.after;
END $$;

REVOKE ALL ON FUNCTION
    gateway.note_sharing, gateway.window_end, gateway.in_window, gateway.without_gone, gateway.first_of_devices,
    gateway.identity_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.note_sharing TO gateway_call;
GRANT EXECUTE ON FUNCTION
    gateway.note_sharing, gateway.window_end, gateway.in_window, gateway.without_gone, gateway.first_of_devices,
    gateway.identity_page TO gateway_engine;
