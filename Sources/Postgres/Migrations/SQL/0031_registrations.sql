-- Registrations of several callers as one set: a million apps start in the minutes after a campaign, and each says who it is.
--
-- As a set go those that touch nobody else: of a new key with a new token, and of a known one whose token is its own or new. Whoever takes a token
-- from another device, comes back, or shares a device in one dialect is answered NULL and registers alone (`Fold`).

-- `register_noted` for many of one app and dialect, no key twice. Parallel arrays; a row each, in order.
--
-- Joins by nested loops alone: each row looks by the indexes, with statistics or without.
CREATE FUNCTION gateway.register_many(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_at timestamptz[])
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_new text[];
    v_count bigint;
BEGIN
    -- As in register_identity, all keys before all tokens, each in their order: so two of these never wait for each other.
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT p_app || chr(31) || p_vendor || chr(31) || u.key AS name FROM unnest(p_keys) AS u(key) ORDER BY 1) AS n;
    PERFORM gateway.lock_name(p_tenant, 'token', n.name) FROM (
        SELECT DISTINCT p_app || chr(31) || u.platform || chr(31) || u.token AS name FROM unnest(p_platforms, p_tokens) AS u(platform, token)
        WHERE u.token IS NOT NULL ORDER BY 1) AS n;

    -- `way`: new, kept, or null.
    SELECT array_agg(w.way ORDER BY w.o) AS ways, array_agg(w.identity ORDER BY w.o) AS identities, array_agg(w.device ORDER BY w.o) AS devices
        INTO v FROM (
        SELECT u.o, i.identity_id AS identity, i.device_id AS device,
            CASE
                WHEN u.token IS NULL OR count(*) OVER (PARTITION BY u.platform, u.token) > 1 THEN NULL
                WHEN i.identity_id IS NULL THEN CASE WHEN t.holders IS NULL THEN 'new' END
                WHEN i.state <> 'active' OR EXISTS (
                    SELECT FROM gateway.identity o
                    WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.app_id = p_app AND o.vendor = p_vendor
                        AND o.state = 'active' AND o.identity_id <> i.identity_id OFFSET 0) THEN NULL
                WHEN t.holders IS NULL OR t.holders = ARRAY[i.device_id] AND t.tokens = ARRAY[u.token] THEN 'kept'
            END AS way
        FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.device_id, x.state FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i ON true
        LEFT JOIN LATERAL (
            SELECT array_agg(y.device_id) AS holders, array_agg(y.token) AS tokens FROM gateway.device y
            WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = u.platform AND y.token_digest = md5(u.token)) AS t ON true) AS w;

    IF 'kept' = ANY (v.ways) THEN
        -- In one order, whoever else has devices of these in hand.
        PERFORM FROM gateway.device d
            WHERE d.tenant_id = p_tenant AND d.device_id IN (SELECT k.device FROM unnest(v.devices, v.ways) AS k(device, way) WHERE k.way = 'kept')
            ORDER BY d.device_id FOR UPDATE;
        WITH r AS (
            UPDATE gateway.device d SET token = u.token, platform = u.platform, environment = coalesce(u.environment, d.environment),
                    token_state = 'active', token_reason = NULL, seen_at = greatest(d.seen_at, u.at),
                    token_registered_at = CASE WHEN d.token = u.token THEN greatest(d.token_registered_at, u.at) ELSE u.at END
                FROM unnest(v.devices, v.ways, p_platforms, p_environments, p_tokens, p_at) AS u(device, way, platform, environment, token, at)
                WHERE u.way = 'kept' AND d.tenant_id = p_tenant AND d.device_id = u.device
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        WITH r AS (
            UPDATE gateway.identity i SET user_id = coalesce(u.user_id, i.user_id), name = coalesce(u.name, i.name),
                    phone = coalesce(u.phone, i.phone), raw_phone = coalesce(u.raw_phone, i.raw_phone),
                    attributes = coalesce(u.attributes::json, i.attributes), registered_at = u.at
                FROM unnest(v.identities, v.ways, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at)
                    AS u(identity, way, user_id, name, phone, raw_phone, attributes, at)
                WHERE u.way = 'kept' AND i.tenant_id = p_tenant AND i.identity_id = u.identity
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    END IF;

    v_new := ARRAY(SELECT u.key FROM unnest(p_keys, v.ways) AS u(key, way) WHERE u.way = 'new');
    IF cardinality(v_new) > 0 THEN
        -- RETURNING keeps Citus from making a COPY of it, which row-level security refuses.
        WITH r AS (
            INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            SELECT p_tenant, u.device, p_app, u.platform, coalesce(u.environment, 'production'), u.token, 'active', u.at, u.at, u.at
            FROM unnest(p_devices, v.ways, p_platforms, p_environments, p_tokens, p_at) AS u(device, way, platform, environment, token, at)
            WHERE u.way = 'new'
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        WITH r AS (
            INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            SELECT p_tenant, u.identity, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
                coalesce(u.attributes, '{}')::json, u.at, u.at
            FROM unnest(p_identities, v.ways, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at)
                AS u(identity, way, key, device, user_id, name, phone, raw_phone, attributes, at)
            WHERE u.way = 'new'
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        -- Last: others who count, and who tell, wait for the commit.
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1);
        PERFORM gateway.append_changes(
            p_tenant, array_agg('registered'::text), array_agg(p_app), array_agg(p_vendor), array_agg(u.identity ORDER BY u.o),
            array_agg(u.device ORDER BY u.o), NULL)
            FROM unnest(p_identities, p_devices, v.ways) WITH ORDINALITY AS u(identity, device, way, o) WHERE u.way = 'new';
    END IF;

    RETURN QUERY
        SELECT CASE u.way WHEN 'new' THEN u.identity ELSE u.old_identity END,
            CASE u.way WHEN 'new' THEN u.device WHEN 'kept' THEN u.old_device END,
            u.platform, u.way = 'kept', '{}'::uuid[]
        FROM unnest(v.ways, p_identities, p_devices, v.identities, v.devices, p_platforms) WITH ORDINALITY
            AS u(way, identity, device, old_identity, old_device, platform, o) ORDER BY u.o;
END $$;

-- `assign_user` for many of one app and dialect, no key twice; nobody is alone with a device then. A row each, in order.
CREATE FUNCTION gateway.assign_users(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[])
RETURNS TABLE (user_id text, ordinal bigint, has_moved boolean)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_count bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', n.name) FROM (
        SELECT p_app || chr(31) || p_vendor || chr(31) || u.key AS name FROM unnest(p_keys) AS u(key) ORDER BY 1) AS n;
    -- A user whom two of these bring has two devices then, whichever comes first.
    SELECT array_agg(i.identity_id ORDER BY u.o) AS ids,
            array_agg(CASE u.change WHEN 'set' THEN u.user_id WHEN 'keep' THEN i.user_id END ORDER BY u.o) AS users,
            array_agg(u.change = 'set' AND i.user_id IS DISTINCT FROM u.user_id AND (u.turn > 1 OR EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = u.user_id
                    AND o.identity_id <> i.identity_id OFFSET 0)) ORDER BY u.o) AS moved
        INTO v FROM (
            SELECT x.*, row_number() OVER (PARTITION BY x.change, x.user_id ORDER BY x.o) AS turn
            FROM unnest(p_keys, p_changes, p_users) WITH ORDINALITY AS x(key, change, user_id, o)) AS u
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.user_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active' OFFSET 0) AS i ON true;
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v.ids) ORDER BY i.identity_id FOR UPDATE;
    WITH r AS (
        UPDATE gateway.identity i SET user_id = u.user_id, phone = coalesce(u.phone, i.phone),
                name = CASE WHEN u.change = 'set' THEN coalesce(u.name, CASE WHEN i.user_id = u.user_id THEN i.name END) END
            FROM unnest(v.ids, p_changes, v.users, p_names, p_phones) AS u(id, change, user_id, name, phone)
            WHERE u.change <> 'keep' AND i.tenant_id = p_tenant AND i.identity_id = u.id
                AND (i.user_id IS DISTINCT FROM u.user_id OR u.change = 'clear' AND i.name IS NOT NULL
                    OR u.name IS NOT NULL AND u.name IS DISTINCT FROM i.name OR u.phone IS NOT NULL AND u.phone IS DISTINCT FROM i.phone)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    RETURN QUERY SELECT u.user_id, CASE WHEN u.id IS NOT NULL THEN u.o END, u.moved
        FROM unnest(v.ids, v.users, v.moved) WITH ORDINALITY AS u(id, user_id, moved, o) ORDER BY u.o;
END $$;

-- `set_preferences` for many of one app and dialect that say the same of pushes and nothing else; no key twice. A row each, in order.
CREATE FUNCTION gateway.set_many_preferences(p_tenant text, p_app text, p_vendor text, p_accepts boolean, p_keys text[])
RETURNS TABLE (count bigint, ordinal bigint)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];
    v_news uuid[];
    v_devices uuid[];
BEGIN
    v_ids := ARRAY(
        SELECT i.identity_id FROM unnest(p_keys) WITH ORDINALITY AS u(key, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active' OFFSET 0) AS i ON true
        ORDER BY u.o);
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
        ORDER BY i.identity_id FOR UPDATE;
    IF FOUND THEN
        WITH r AS (
            UPDATE gateway.identity i SET accepts_push = p_accepts
                WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.accepts_push <> p_accepts
                RETURNING i.identity_id, i.device_id)
        SELECT array_agg(r.identity_id), array_agg(r.device_id) INTO v_news, v_devices FROM r;
        IF v_news IS NOT NULL THEN
            PERFORM gateway.append_changes(
                p_tenant, array_fill('preference_changed'::text, ARRAY[cardinality(v_news)]), array_fill(p_app, ARRAY[cardinality(v_news)]),
                array_fill(p_vendor, ARRAY[cardinality(v_news)]), v_news, v_devices,
                array_fill(json_build_object('acceptsPush', p_accepts), ARRAY[cardinality(v_news)]));
        END IF;
    END IF;
    RETURN QUERY SELECT (u.id IS NOT NULL)::integer::bigint, CASE WHEN u.id IS NOT NULL THEN u.o END
        FROM unnest(v_ids) WITH ORDINALITY AS u(id, o) ORDER BY u.o;
END $$;

-- As in 0018; new: what is as it should be is not written again.
CREATE OR REPLACE FUNCTION gateway.set_preferences(
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
    IF p_accepts <> v_old OR p_alias IS DISTINCT FROM i.alias AND p_alias IS NOT NULL THEN
        UPDATE gateway.identity SET accepts_push = coalesce(p_accepts, accepts_push), alias = coalesce(p_alias, alias)
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
    END IF;
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

REVOKE ALL ON FUNCTION gateway.register_many, gateway.assign_users, gateway.set_many_preferences FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.register_many, gateway.assign_users, gateway.set_many_preferences TO gateway_call;
