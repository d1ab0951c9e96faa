-- Look-ups that read far more than a row, and tables that grow in a minute.
--
-- Row-level security lets nothing into an index that might leak: no function of another row's column, and no COALESCE at all. What is to be looked up
-- is computed before, in a subquery or a variable.

-- As in 0032; new: users are locked one by one, along the whole key, and written by one statement: an index by user, whatever the planner knows.
CREATE OR REPLACE FUNCTION gateway.put_users(
    p_tenant text, p_app text, p_vendor text, p_repeat text,
    p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[],
    p_labels text[], p_names text[], p_named text[],
    p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamptz[], p_data text[],
    p_from text[], p_to text[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_user text;
    v_said record;
    v_count bigint;
BEGIN
    IF p_repeat IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, created_at)
            VALUES (p_tenant, p_app, p_vendor, 'users' || chr(31) || p_repeat, p_repeat, now()) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN RETURN true; END IF;
    END IF;
    -- In one order, so that two batches never wait for each other.
    FOR v_user IN SELECT DISTINCT u.user_id FROM unnest(p_users || p_actors || p_from || p_to) AS u(user_id) ORDER BY 1 LOOP
        PERFORM FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_user FOR UPDATE;
    END LOOP;
    -- Who was erased meanwhile is not made again, and who came meanwhile is not overwritten.
    INSERT INTO gateway.user_profile AS p
            (tenant_id, app_id, vendor, user_id, is_anonymous, accepts_push, attributes, revision, created_at, updated_at)
        SELECT p_tenant, p_app, p_vendor, u.user_id, u.is_anonymous, u.accepts, u.attributes::json, u.revision + 1, now(), now()
        FROM unnest(p_users, p_anonymous, p_accepts, p_attributes, p_revisions) AS u(user_id, is_anonymous, accepts, attributes, revision)
        LEFT JOIN LATERAL (
            SELECT x.revision FROM gateway.user_profile x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.user_id = u.user_id OFFSET 0) AS o ON true
        WHERE u.revision = o.revision OR o.revision IS NULL AND u.revision = 0 ORDER BY u.user_id
        ON CONFLICT (tenant_id, app_id, vendor, user_id) DO UPDATE SET attributes = excluded.attributes,
            accepts_push = excluded.accepts_push, is_anonymous = excluded.is_anonymous, revision = excluded.revision,
            updated_at = excluded.updated_at
            WHERE p.revision = excluded.revision - 1;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(p_users) THEN
        RAISE EXCEPTION 'a user changed meanwhile' USING ERRCODE = '40001';
    END IF;
    FOR v_said IN
        SELECT a.user_id, a.accepts FROM unnest(p_users, p_accepts) AS a(user_id, accepts) WHERE a.accepts IS NOT NULL ORDER BY a.user_id
    LOOP
        UPDATE gateway.identity i SET accepts_push = v_said.accepts
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = v_said.user_id
                AND i.accepts_push <> v_said.accepts;
    END LOOP;
    INSERT INTO gateway.user_alias (tenant_id, app_id, vendor, label, name, user_id)
        SELECT p_tenant, p_app, p_vendor, u.label, u.name, u.user_id
        FROM unnest(p_labels, p_names, p_named) AS u(label, name, user_id) ORDER BY u.label, u.name
        ON CONFLICT DO NOTHING;
    IF cardinality(p_from) > 0 THEN
        PERFORM gateway.move_user(p_tenant, p_app, p_vendor, u.a, u.b) FROM unnest(p_from, p_to) AS u(a, b);
    END IF;
    WITH fresh AS (
        INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
            SELECT p_tenant, p_app, p_vendor, u.user_id, u.digest::uuid, u.kind, u.name, u.at, u.data::json, now()
            FROM unnest(p_actors, p_digests, p_kinds, p_acts, p_ats, p_data) AS u(user_id, digest, kind, name, at, data)
            CROSS JOIN LATERAL (
                SELECT FROM gateway.user_profile p
                WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = u.user_id OFFSET 0) AS p
            ORDER BY u.user_id, u.digest
            ON CONFLICT DO NOTHING
            RETURNING user_id, kind, name, at)
    INSERT INTO gateway.user_tally AS t (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
        SELECT p_tenant, p_app, p_vendor, f.user_id, f.kind, f.name, count(*), min(f.at), max(f.at), now()
        FROM fresh f GROUP BY f.user_id, f.kind, f.name ORDER BY f.user_id, f.kind, f.name
        ON CONFLICT (tenant_id, app_id, vendor, user_id, kind, name) DO UPDATE SET count = t.count + excluded.count,
            first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
            noted_at = excluded.noted_at;
    RETURN false;
END $$;

-- As in 0019.
CREATE OR REPLACE FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[])
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
        CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
        JOIN gateway.badge_mark k ON k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = h.holder
        WHERE k.badge IS NOT NULL;
END $$;

-- As in 0019.
CREATE OR REPLACE FUNCTION gateway.acknowledge(
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
    v_reporter uuid;
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
    v_reporter := coalesce(v_target, v_ids[1]);
    SELECT x.key, coalesce('user:' || x.user_id, 'key:' || x.key) AS holder INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = v_reporter;
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

-- Has the planner look at tables that have grown tenfold since it looked last, ten at most; returns how many. By itself it looks a minute later, and until
-- then reads all of a tenant where it should look up one row: it believes that there is none. One that somebody else looks at is passed over.
CREATE FUNCTION gateway.analyze_grown() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_name text;
    v_count bigint := 0;
BEGIN
    FOR v_name IN
        SELECT c.relname FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
        WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'r'
            -- Below 500 rows it hardly matters how they are read.
            AND s.n_live_tup >= 500 AND s.n_live_tup >= 10 * greatest(c.reltuples, 0)
        ORDER BY s.n_live_tup DESC LIMIT 10
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) gateway.%I', v_name);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
REVOKE ALL ON FUNCTION gateway.analyze_grown FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.analyze_grown TO gateway_engine;

-- As in 0030; new: whose badges go is asked of an index. Row-level security lets no function of another row's column into one.
CREATE OR REPLACE FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_identities uuid[];
    v_phones text[];
    v_messages uuid[];
    g record;
BEGIN
    SELECT coalesce(array_agg(i.identity_id), '{}'), coalesce(array_agg(i.phone) FILTER (WHERE i.phone IS NOT NULL), '{}')
        INTO v_identities, v_phones FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (p_devices) OR i.identity_id = ANY (p_identities));
    FOR g IN
        SELECT app_id, vendor, array_agg(key) AS keys FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities) AND state = 'active'
        GROUP BY app_id, vendor ORDER BY app_id, vendor
    LOOP
        PERFORM gateway.count_identities(p_tenant, g.app_id, g.vendor, g.keys, -1);
    END LOOP;
    WITH d AS (
        UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND (device_id = ANY (p_devices) OR identity_id = ANY (v_identities))
        RETURNING message_id)
    SELECT coalesce(array_agg(DISTINCT d.message_id), '{}') INTO v_messages FROM d;
    -- No index knows a target: of messages without a row for it, only those that are still being sent are looked through.
    UPDATE gateway.slice s SET addresses = (
            SELECT array_agg(CASE WHEN u.target = ANY (v_identities) THEN '' ELSE u.address END ORDER BY u.o)
            FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, o))
        WHERE s.tenant_id = p_tenant AND (s.message_id = ANY (v_messages) OR s.state IN ('ready', 'leased'))
            AND cardinality(s.addresses) > 0 AND s.targets && v_identities;
    DELETE FROM gateway.verification WHERE tenant_id = p_tenant AND phone = ANY (v_phones);
    -- Marks before counters, as everybody takes them.
    FOR g IN
        SELECT i.app_id, i.vendor, array_agg('key:' || i.key ORDER BY i.key) AS holders FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) GROUP BY i.app_id, i.vendor ORDER BY i.app_id, i.vendor
    LOOP
        DELETE FROM gateway.badge_mark k USING gateway.message m
            WHERE k.tenant_id = p_tenant AND k.holder = ANY (g.holders)
                AND m.tenant_id = p_tenant AND m.message_id = k.message_id AND m.app_id = g.app_id AND m.vendor = g.vendor;
        DELETE FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = g.app_id AND b.vendor = g.vendor AND b.holder = ANY (g.holders);
    END LOOP;
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
