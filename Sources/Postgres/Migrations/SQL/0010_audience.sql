-- Who is meant without being listed: by tags, by groups, by users with many devices.

-- A tag of an identity, folded (`Tag`). The key is the walk along one tag; the index finds one identity's tags.
CREATE TABLE gateway.identity_tag (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    tag text NOT NULL,
    identity_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, tag, identity_id)
);
SELECT gateway.colocate('gateway.identity_tag');
-- An erased identity's tags go with it.
ALTER TABLE gateway.identity_tag ADD FOREIGN KEY (tenant_id, identity_id) REFERENCES gateway.identity ON DELETE CASCADE;
CREATE INDEX identity_tag_identity ON gateway.identity_tag (tenant_id, identity_id, tag);

-- A named set of users of one dialect. Users, not devices: a member who has no device yet is reached once there is one.
CREATE TABLE gateway.user_group (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL CHECK (group_name <> ''),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, app_id, vendor, group_name)
);
SELECT gateway.colocate('gateway.user_group');
ALTER TABLE gateway.user_group ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;

CREATE TABLE gateway.group_member (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    user_id text NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, group_name, user_id)
);
SELECT gateway.colocate('gateway.group_member');
ALTER TABLE gateway.group_member ADD FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group ON DELETE CASCADE;
CREATE INDEX group_member_user ON gateway.group_member (tenant_id, user_id);

-- How many users a group has, with a device or without. Sixteen rows, summed on read, as in `identity_count`.
CREATE TABLE gateway.group_count (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    group_name text NOT NULL,
    bucket smallint NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, group_name, bucket)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.group_count');
ALTER TABLE gateway.group_count ADD FOREIGN KEY (tenant_id, app_id, vendor, group_name) REFERENCES gateway.user_group ON DELETE CASCADE;

-- Whom the message is for, where nobody is listed and it is not everyone:
-- {"tags": […], "cares": […], "wants": […], "anchors": […]} (`AudienceCoding`), {"groups": […]} or {"users": […]}.
ALTER TABLE gateway.message ADD COLUMN audience json;
-- The cursor of an expansion by users: within `after_user`, behind (after_vendor, after). `after` null: that user is finished.
ALTER TABLE gateway.slice ADD COLUMN after_user text, ADD COLUMN after_vendor text;

-- The walk along one user's identities, which may be many: an app may call everybody "guest".
DROP INDEX gateway.identity_user;
CREATE INDEX identity_user ON gateway.identity (tenant_id, app_id, user_id, vendor, identity_id) WHERE user_id IS NOT NULL;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['identity_tag', 'user_group', 'group_member', 'group_count'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
    END LOOP;
END $$;

-- UPDATE of a group: a row lock asks for that right.
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.user_group TO gateway_call;
GRANT SELECT, INSERT, DELETE ON gateway.identity_tag, gateway.group_member TO gateway_call;
GRANT SELECT, INSERT, UPDATE ON gateway.group_count TO gateway_call;
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.identity_tag, gateway.user_group, gateway.group_member, gateway.group_count
    TO gateway_engine;

-- Makes p_tags all the tags of an active identity. Its row is locked first: an erasure waits, and then takes these along.
CREATE FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    i record;
BEGIN
    SELECT app_id, vendor INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND state = 'active' FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    DELETE FROM gateway.identity_tag
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND NOT tag = ANY (p_tags);
    INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
        SELECT p_tenant, i.app_id, i.vendor, t, p_identity FROM unnest(p_tags) AS t
        ON CONFLICT DO NOTHING;
END $$;

-- A registration that brings tags.
CREATE FUNCTION gateway.register_tagged(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_tags text[])
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT * INTO r FROM gateway.register_identity(
        p_tenant, p_app, p_vendor, p_key, p_identity, p_device, p_platform, p_environment, p_token, p_user, p_name, p_phone,
        p_raw_phone, p_replaces_phone, p_attributes, p_at);
    PERFORM gateway.set_tags(p_tenant, r.identity_id, p_tags);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

-- The tags of every active identity on a device; returns how many those are.
CREATE FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_id uuid;
BEGIN
    SELECT array_agg(identity_id ORDER BY identity_id) INTO v_ids FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active';
    FOREACH v_id IN ARRAY coalesce(v_ids, '{}') LOOP
        PERFORM gateway.set_tags(p_tenant, v_id, p_tags);
    END LOOP;
    RETURN coalesce(cardinality(v_ids), 0);
END $$;

-- Whether the group is new; null when there is no such app.
CREATE FUNCTION gateway.put_group(p_tenant text, p_app text, p_vendor text, p_group text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND retired_at IS NULL;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO gateway.user_group (tenant_id, app_id, vendor, group_name) VALUES (p_tenant, p_app, p_vendor, p_group)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END $$;

-- Takes users out of a group, then others in; no row when there is no such group. Whoever changes members holds the group's row, so that
-- its deletion waits for the counts. User by user in their order, then the buckets in theirs: changes at once wait for each other and never in
-- a ring. As two sets, one DELETE and one INSERT, they did.
CREATE FUNCTION gateway.change_members(
    p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[])
RETURNS TABLE (added bigint, removed bigint) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    v_added text[] := '{}';
    v_removed text[] := '{}';
BEGIN
    PERFORM FROM gateway.user_group
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group FOR KEY SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    FOR r IN
        SELECT x.name, bool_or(x.leaves) AS leaves, bool_or(NOT x.leaves) AS enters
        FROM (SELECT unnest(p_remove) AS name, true AS leaves UNION ALL SELECT unnest(p_add), false) AS x
        GROUP BY x.name ORDER BY x.name
    LOOP
        IF r.leaves THEN
            DELETE FROM gateway.group_member
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group AND user_id = r.name;
            IF FOUND THEN v_removed := v_removed || r.name; END IF;
        END IF;
        IF r.enters THEN
            INSERT INTO gateway.group_member (tenant_id, app_id, vendor, group_name, user_id)
                VALUES (p_tenant, p_app, p_vendor, p_group, r.name) ON CONFLICT DO NOTHING;
            IF FOUND THEN v_added := v_added || r.name; END IF;
        END IF;
    END LOOP;
    INSERT INTO gateway.group_count AS c (tenant_id, app_id, vendor, group_name, bucket, members)
        SELECT p_tenant, p_app, p_vendor, p_group, (hashtext(d.user_id) & 15)::smallint, sum(d.delta)
        FROM (SELECT unnest(v_added) AS user_id, 1 AS delta UNION ALL SELECT unnest(v_removed), -1) AS d GROUP BY 5 ORDER BY 5
        ON CONFLICT (tenant_id, app_id, vendor, group_name, bucket) DO UPDATE SET members = c.members + excluded.members;
    RETURN QUERY SELECT cardinality(v_added)::bigint, cardinality(v_removed)::bigint;
END $$;

-- The next p_limit identities that an audience may mean, in the order of its walk, and where the walk stands then.
--
-- Tags: along the tags of p_audience's anchors, at least one of which everybody meant has. So a rare tag costs what it has and not what the
-- app has. Without anchors (`!a`) along all identities. Both in the order of identities, merged over the dialects.
-- Groups and users: user by user in the order of their ids, so that who is in two groups comes once; within a user by (dialect, identity).
CREATE FUNCTION gateway.next_candidates(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_zero uuid := '00000000-0000-0000-0000-000000000000';
    v_from uuid := coalesce(io_after, v_zero);
    v_vendors text[] := ARRAY[p_vendor];
    v_anchors text[];
    v_names text[];
    v_users text[];
    v_user text;
    v_found uuid[];
    v_dialects text[];
BEGIN
    o_ids := '{}';
    IF p_audience->'tags' IS NOT NULL THEN
        IF p_vendor = 'native' THEN
            SELECT array_agg(DISTINCT c.vendor) INTO v_vendors FROM gateway.identity_count c
                WHERE c.tenant_id = p_tenant AND c.app_id = p_app;
        END IF;
        IF json_typeof(p_audience->'anchors') = 'array' THEN
            v_anchors := ARRAY(SELECT json_array_elements_text(p_audience->'anchors'));
            SELECT array_agg(w.identity_id ORDER BY w.identity_id) INTO v_found FROM (
                SELECT DISTINCT x.identity_id FROM unnest(v_vendors) AS v(name) CROSS JOIN unnest(v_anchors) AS a(name)
                CROSS JOIN LATERAL (
                    SELECT t.identity_id FROM gateway.identity_tag t
                    WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = a.name
                        AND t.identity_id > v_from
                    ORDER BY t.identity_id LIMIT p_limit) AS x
                ORDER BY x.identity_id LIMIT p_limit) AS w;
        ELSE
            SELECT array_agg(w.identity_id ORDER BY w.identity_id) INTO v_found FROM (
                SELECT x.identity_id FROM unnest(v_vendors) AS v(name)
                CROSS JOIN LATERAL (
                    SELECT i.identity_id FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > v_from
                    ORDER BY i.identity_id LIMIT p_limit) AS x
                ORDER BY x.identity_id LIMIT p_limit) AS w;
        END IF;
        o_ids := coalesce(v_found, '{}');
        o_ended := cardinality(o_ids) < p_limit;
        io_after := coalesce(o_ids[cardinality(o_ids)], io_after);
        RETURN;
    END IF;

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

-- Those of p_ids, of the message's dialect, whom an audience means: active, and with what it asks for. The native dialect speaks to all
-- dialects, to each device once: to the first of its identities that are meant.
--
-- An expression comes as bits: each of its tags is one, and one pair (cares, wants) of the terms must agree with the bits an identity has.
CREATE FUNCTION gateway.meant(p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_tags text[];
    v_cares bigint[];
    v_wants bigint[];
    v_groups text[];
    v_users text[];
    v_ids uuid[];
BEGIN
    IF p_audience->'tags' IS NOT NULL THEN
        v_tags := ARRAY(SELECT json_array_elements_text(p_audience->'tags'));
        v_cares := ARRAY(SELECT json_array_elements_text(p_audience->'cares')::bigint);
        v_wants := ARRAY(SELECT json_array_elements_text(p_audience->'wants')::bigint);
    ELSIF p_audience->'groups' IS NOT NULL THEN
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
                    AND n.user_id = o.user_id))
            AND (v_tags IS NULL OR EXISTS (
                SELECT FROM (
                    SELECT coalesce(bit_or(1::bigint << (array_position(v_tags, t.tag) - 1)), 0) AS bits
                    FROM gateway.identity_tag t
                    WHERE t.tenant_id = p_tenant AND t.identity_id = o.identity_id AND t.tag = ANY (v_tags)) AS h
                CROSS JOIN unnest(v_cares, v_wants) AS w(cares, wants) WHERE h.bits & w.cares = w.wants)));
    RETURN coalesce(v_ids, '{}');
END $$;

-- The next page of an audience: at least half of p_page unless it ends, or few are meant. Twenty looks of up to p_page candidates each are
-- the most that one call takes, for the slice's and the message's rows are locked meanwhile; then it says how far it came.
CREATE FUNCTION gateway.audience_page(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_page integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean)
LANGUAGE plpgsql AS $$
DECLARE
    n record;
BEGIN
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

-- As before, and with an audience. Nodes of the version before call it without.
DROP FUNCTION gateway.accept_message;
CREATE FUNCTION gateway.accept_message(
    p_tenant text, p_app text, p_vendor text, p_id uuid, p_sender text, p_content json, p_collapse text, p_lane smallint,
    p_accepted timestamptz, p_due timestamptz, p_due_day integer, p_expires timestamptz, p_fallback json, p_recipients bigint,
    p_media_id text, p_media_hash text, p_key text, p_body_hash text,
    p_slice_numbers integer[], p_slice_kinds text[], p_slice_ends integer[], p_targets uuid[], p_addresses text[],
    p_holder text, p_lease interval, p_node text,
    p_sup_targets uuid[], p_sup_identities uuid[], p_sup_devices uuid[], p_sup_addresses text[], p_sup_reasons text[],
    p_audience json DEFAULT NULL)
RETURNS TABLE (outcome text, message_id uuid, recipients bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_old gateway.idempotency;
    v_slices integer := cardinality(p_slice_numbers);
    v_suppressed integer := cardinality(p_sup_targets);
    v_from integer := 1;
BEGIN
    IF p_key IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, message_id, recipients, created_at)
            VALUES (p_tenant, p_app, p_vendor, p_key, p_body_hash, p_id, p_recipients, now())
            ON CONFLICT (tenant_id, app_id, vendor, key) DO NOTHING;
        IF NOT FOUND THEN
            SELECT * INTO v_old FROM gateway.idempotency y
                WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.vendor = p_vendor AND y.key = p_key;
            IF v_old.body_hash = p_body_hash THEN
                RETURN QUERY SELECT 'repeated', v_old.message_id, v_old.recipients;
            ELSE
                RETURN QUERY SELECT 'mismatch', NULL::uuid, NULL::bigint;
            END IF;
            RETURN;
        END IF;
    END IF;

    INSERT INTO gateway.message
            (tenant_id, message_id, app_id, vendor, sender_id, state, lane, content, collapse_id, fallback, accepted_at,
            due_at, due_day, expires_at, recipients, open_slices, audience)
        VALUES (p_tenant, p_id, p_app, p_vendor, p_sender,
            CASE WHEN v_slices = 0 THEN 'done' WHEN p_due > p_accepted AND p_holder IS NULL THEN 'scheduled'
                WHEN 'expand' = ANY (p_slice_kinds) THEN 'expanding' ELSE 'sending' END,
            p_lane, p_content, p_collapse, p_fallback, p_accepted, p_due, p_due_day, p_expires, p_recipients, v_slices,
            p_audience);
    IF p_media_id IS NOT NULL THEN
        INSERT INTO gateway.message_media (tenant_id, message_id, media_id, hash)
            VALUES (p_tenant, p_id, p_media_id, p_media_hash);
    END IF;
    FOR k IN 1 .. v_slices LOOP
        INSERT INTO gateway.slice
                (tenant_id, message_id, no, lane, kind, due_day, targets, addresses, state, next_at, owner, epoch)
            VALUES (p_tenant, p_id, p_slice_numbers[k], p_lane, p_slice_kinds[k], p_due_day,
                p_targets[v_from:p_slice_ends[k]], p_addresses[v_from:p_slice_ends[k]],
                CASE WHEN p_holder IS NULL THEN 'ready' ELSE 'leased' END, greatest(p_due, now() + p_lease), p_holder,
                CASE WHEN p_holder IS NULL THEN 0 ELSE 1 END);
        v_from := p_slice_ends[k] + 1;
    END LOOP;
    IF v_slices > 0 THEN
        INSERT INTO gateway.lane (tenant_id, lane) VALUES (p_tenant, p_lane) ON CONFLICT DO NOTHING;
    END IF;
    IF v_suppressed > 0 THEN
        INSERT INTO gateway.delivery
                (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id, address, state, reason, sent_at)
            SELECT p_tenant, p_due_day, p_id, s.target, p_app, p_vendor, s.identity, s.device, s.address, 'suppressed',
                s.reason, p_accepted
            FROM unnest(p_sup_targets, p_sup_identities, p_sup_devices, p_sup_addresses, p_sup_reasons)
                AS s(target, identity, device, address, reason)
            ON CONFLICT DO NOTHING;
    END IF;
    -- Who is reached by expanding is counted by the pages; a count that the answer names before is an estimate.
    PERFORM gateway.add_counts(
        p_tenant, p_app, p_vendor, p_due, p_node,
        CASE WHEN 'expand' = ANY (p_slice_kinds) THEN 0 ELSE coalesce(p_recipients, 0) END, 0, 0, 0, 0, v_suppressed, 0, 0);
    -- The message's own event has no target.
    PERFORM gateway.append_events(
        p_tenant, p_app, p_vendor, p_sender, p_id, p_due_day,
        'accepted'::text || array_fill('suppressed'::text, ARRAY[v_suppressed]), NULL::uuid || p_sup_targets);
    RETURN QUERY SELECT 'inserted', p_id, p_recipients;
END $$;

-- The next page of an audience as new slices. outcome: page, finished, fenced.
-- The native dialect speaks to all dialects, to each device once.
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
    p record;
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
        IF m.audience IS NOT NULL THEN
            SELECT * INTO p FROM gateway.audience_page(
                p_tenant, m.app_id, m.vendor, m.audience, p_page, s.after_user, s.after_vendor, s.after);
            v_ids := p.o_ids;
            v_ended := p.o_ended;
            s.after_user := p.io_user;
            s.after_vendor := p.io_dialect;
            s.after := p.io_after;
        ELSIF m.vendor = 'native' THEN
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                -- A scalar subquery, not an anti-join: on a table without statistics yet the planner joined all identities with all.
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                    AND (i.device_id IS NULL OR i.identity_id = (
                        SELECT (array_agg(o.identity_id ORDER BY o.identity_id))[1] FROM gateway.identity o
                        WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.state = 'active'))
                ORDER BY i.identity_id LIMIT p_page) a;
        ELSE
            SELECT array_agg(a.identity_id ORDER BY a.identity_id) INTO v_ids FROM (
                SELECT i.identity_id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = m.app_id AND i.vendor = m.vendor AND i.state = 'active'
                    AND i.identity_id > coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid)
                ORDER BY i.identity_id LIMIT p_page) a;
        END IF;
    END IF;
    v_count := coalesce(cardinality(v_ids), 0);
    IF m.audience IS NULL AND v_count > 0 THEN s.after := v_ids[v_count]; END IF;

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
    v_slices := (v_count + p_slice_size - 1) / p_slice_size;
    FOR k IN 0 .. v_slices - 1 LOOP
        INSERT INTO gateway.slice (tenant_id, message_id, no, lane, kind, due_day, targets, state, next_at)
            VALUES (p_tenant, p_message, v_first + k, m.lane, 'deliver', m.due_day,
                v_ids[k * p_slice_size + 1 : (k + 1) * p_slice_size], 'ready', greatest(m.due_at, now()));
    END LOOP;
    UPDATE gateway.message SET expanded = expanded + v_count, open_slices = open_slices + v_slices, state = 'expanding'
        WHERE tenant_id = p_tenant AND message_id = p_message;
    PERFORM gateway.add_counts(p_tenant, m.app_id, m.vendor, m.due_at, p_owner, v_count, 0, 0, 0, 0, 0, 0, 0);
    -- Between two users the walk stands at no identity.
    RETURN QUERY SELECT 'page', v_count::bigint, coalesce(s.after, '00000000-0000-0000-0000-000000000000'::uuid);
END $$;

-- As before, and tags go with whoever goes.
CREATE OR REPLACE FUNCTION gateway.replace_identities(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_keys text[];
BEGIN
    IF p_device IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND device_id = p_device AND app_id = p_app AND vendor = p_vendor
                AND state = 'active' AND identity_id <> p_identity
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone
                AND state = 'active' AND identity_id <> p_identity
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    END IF;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    RETURN v_ids;
END $$;

CREATE OR REPLACE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_devices uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    END IF;
    IF v_keys IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    PERFORM gateway.drop_unused_tokens(p_tenant, v_devices);
    RETURN cardinality(v_keys);
END $$;

-- As before, and the user leaves every group.
CREATE OR REPLACE FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[];
    v_count bigint;
    v_groups bigint := 0;
    g record;
BEGIN
    SELECT array_agg(DISTINCT device_id), count(*) INTO v_devices, v_count FROM gateway.identity
        WHERE tenant_id = p_tenant AND user_id = p_user;
    FOR g IN
        SELECT app_id, vendor, group_name FROM gateway.group_member
        WHERE tenant_id = p_tenant AND user_id = p_user ORDER BY app_id, vendor, group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, g.app_id, g.vendor, g.group_name, '{}', ARRAY[p_user]);
        v_groups := v_groups + 1;
    END LOOP;
    IF v_count > 0 THEN
        PERFORM gateway.erase_devices(p_tenant, array_remove(v_devices, NULL), p_actor, 'user ' || p_user);
    ELSIF v_groups > 0 THEN
        INSERT INTO gateway.audit (tenant_id, actor, action, subject) VALUES (p_tenant, p_actor, 'erase', 'user ' || p_user);
    END IF;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION
    gateway.set_tags, gateway.register_tagged, gateway.tag_device, gateway.put_group, gateway.change_members,
    gateway.next_candidates, gateway.meant, gateway.audience_page, gateway.accept_message
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    gateway.set_tags, gateway.register_tagged, gateway.tag_device, gateway.put_group, gateway.change_members,
    gateway.accept_message
    TO gateway_call;
GRANT EXECUTE ON FUNCTION
    gateway.set_tags, gateway.register_tagged, gateway.tag_device, gateway.put_group, gateway.change_members,
    gateway.next_candidates, gateway.meant, gateway.audience_page, gateway.accept_message
    TO gateway_engine;
