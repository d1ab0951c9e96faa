-- `register_noted` for several identities of one app and vendor, without repeated keys, as parallel arrays. Returns one row per key, in order.
--
-- Handles registrations that affect no other identity: a new key with a new token, and a known key whose token is its own or new. A registration that takes a
-- token from another device, returns to it, shares a device within a vendor, or whose user is expected, gets a row without a device; the caller then registers it
-- alone, and `forward_calls` leaves it out too, if it is in the same transaction. So an imported identity whose key is `token-…` takes an app's key in
-- `register_identity` only. With p_keeps_owner, a known key with a new token and another user also registers alone, because `expect_owner` must check it.
-- p_moves is allow or notify: with notify, an event reports each user and phone that another identity has.
--
-- Only nested loops are allowed: each row is looked up by the indexes, with or without statistics.
CREATE OR REPLACE FUNCTION gateway.register_many(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_at timestamptz[], p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow', p_clients text[] DEFAULT NULL,
    p_keeps_owner boolean DEFAULT false)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_names text[];
    -- Whether two rows bring one token.
    v_repeats boolean;
    v_new text[];
    v_kinds text[] := '{}';
    v_whos uuid[] := '{}';
    v_wheres uuid[] := '{}';
    v_data json[] := '{}';
    v_earlier uuid[] := '{}';
    v_users text[] := '{}';
    v_phones text[] := '{}';
    m record;
    v_clients jsonb[];
    v_expects boolean;
    v_numbers bigint[];
    -- The facts whose number is looked up, and their numbers.
    v_facts jsonb[];
    v_known bigint[];
    v_count bigint;
BEGIN
    -- All keys before all tokens, as in register_identity, each in their order, so that two calls cannot deadlock.
    PERFORM gateway.lock_names(p_tenant, 'key', ARRAY(SELECT p_app || chr(31) || p_vendor || chr(31) || u.key FROM unnest(p_keys) AS u(key)));
    v_names := ARRAY(
        SELECT p_app || chr(31) || u.platform || chr(31) || u.token FROM unnest(p_platforms, p_tokens) AS u(platform, token)
        WHERE u.token IS NOT NULL);
    v_repeats := gateway.lock_names(p_tenant, 'token', v_names) < cardinality(v_names);

    v_expects := p_assurance < 2
        AND coalesce((SELECT true FROM gateway.expected_user e WHERE e.tenant_id = p_tenant AND e.app_id = p_app LIMIT 1), false);

    -- `way` is new, kept, or null (must register alone). `has_user` and `has_phone`: whether any identity has the new user or phone; `is_taken` then decides.
    -- `holders`: the devices that have the token, or one with its digest; `own`: whether the identity's device is one.
    SELECT array_agg(w.way) AS ways, array_agg(w.identity) AS identities, array_agg(w.device) AS devices, array_agg(w.is_new_token) AS new_tokens,
            array_agg(w.user_id) AS users, array_agg(w.phone) AS phones, array_agg(w.client) AS clients, array_agg(w.number) AS numbers,
            array_agg(w.has_user) AS has_users, array_agg(w.has_phone) AS has_phones
        INTO v FROM (
        SELECT i.identity_id AS identity, i.device_id AS device, i.user_id, i.phone, i.client,
            i.client_number AS number, t.holders = 0 AS is_new_token,
            p_moves <> 'allow' AND u.user_id IS DISTINCT FROM i.user_id AND EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.user_id = u.user_id OFFSET 0) AS has_user,
            p_moves <> 'allow' AND u.phone IS DISTINCT FROM i.phone AND EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.phone = u.phone OFFSET 0) AS has_phone,
            CASE
                WHEN u.token IS NULL OR v_repeats AND (
                    SELECT count(*) FROM unnest(p_platforms, p_tokens) AS s(platform, token)
                    WHERE s.platform = u.platform AND s.token = u.token) > 1 THEN NULL
                WHEN v_expects AND EXISTS (
                    SELECT FROM gateway.expected_user e
                    WHERE e.tenant_id = p_tenant AND e.app_id = p_app AND e.user_id = u.user_id AND e.ends_at > now() OFFSET 0) THEN NULL
                WHEN i.identity_id IS NULL THEN CASE WHEN t.holders = 0 THEN 'new' END
                WHEN p_keeps_owner AND t.holders = 0 AND i.user_id <> coalesce(u.user_id, '') THEN NULL
                -- The flag is committed with the second identity of a device, and this statement sees both or neither.
                WHEN i.state <> 'active'
                    OR (SELECT a.shares_devices FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app)
                    AND EXISTS (
                        SELECT FROM gateway.identity o
                        WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.app_id = p_app AND o.vendor = p_vendor
                            AND o.state = 'active' AND o.identity_id <> i.identity_id OFFSET 0) THEN NULL
                WHEN t.holders = 0 OR t.holders = 1 AND t.own = 1 THEN 'kept'
            END AS way
        FROM unnest(p_keys, p_platforms, p_tokens, p_users, p_phones) WITH ORDINALITY AS u(key, platform, token, user_id, phone, o)
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.device_id, x.state, x.user_id, x.phone, x.client, x.client_number FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i ON true
        LEFT JOIN LATERAL (
            SELECT count(*) AS holders, count(*) FILTER (WHERE y.device_id = i.device_id AND y.token = u.token) AS own FROM gateway.device y
            WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = u.platform AND y.token_digest = md5(u.token)) AS t ON true
        ORDER BY u.o) AS w;

    -- The places of the calls that are left out, for `forward_calls`.
    IF array_position(v.ways, NULL) IS NOT NULL THEN
        PERFORM pg_catalog.set_config(
            'gateway.left_out',
            (coalesce(nullif(current_setting('gateway.left_out', true), ''), '{}')::bigint[]
                || ARRAY(SELECT u.o FROM unnest(v.ways) WITH ORDINALITY AS u(way, o) WHERE u.way IS NULL))::text,
            true);
    END IF;

    -- As in `register_identity`: a back end may bring the first key of a device from an export.
    IF EXISTS (SELECT FROM unnest(v.ways, p_attributes) AS u(way, attributes) WHERE u.way = 'new' AND u.attributes LIKE '%$rolloutKey%') THEN
        UPDATE gateway.app SET has_first_keys = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT has_first_keys;
    END IF;

    v_clients := v.clients;
    v_numbers := v.numbers;
    IF cardinality(array_remove(p_clients, NULL)) > 0 OR 0 = ANY (v.numbers) THEN
        v_clients := ARRAY(
            SELECT CASE WHEN u.client IS NULL OR u.old IS NOT NULL AND u.old || u.client::jsonb = u.old THEN u.old
                ELSE gateway.client_after(u.old, u.client::jsonb) END
            FROM unnest(v.clients, p_clients) WITH ORDINALITY AS u(old, client, o) ORDER BY u.o);
        -- Rows of a set often have the same facts.
        v_facts := ARRAY(
            SELECT u.client FROM unnest(v_clients, v.clients, v.numbers, v.ways) WITH ORDINALITY AS u(client, old, number, way, o)
            WHERE u.way IS NOT NULL AND (u.client IS DISTINCT FROM u.old OR u.number = 0) AND u.client IS NOT NULL
            GROUP BY u.client ORDER BY min(u.o));
        v_known := ARRAY(
            SELECT gateway.client_number(p_tenant, p_app, u.client) FROM unnest(v_facts) WITH ORDINALITY AS u(client, o) ORDER BY u.o);
        v_numbers := ARRAY(
            SELECT CASE WHEN u.way IS NOT NULL AND (u.client IS DISTINCT FROM u.old OR u.number = 0)
                    THEN v_known[array_position(v_facts, u.client)] ELSE u.number END
            FROM unnest(v_clients, v.clients, v.numbers, v.ways) WITH ORDINALITY AS u(client, old, number, way, o) ORDER BY u.o);
    END IF;

    -- Nothing has moved if no row brings a user or phone that an identity or another row has.
    IF p_moves <> 'allow' AND (true = ANY (v.has_users || v.has_phones)
            OR (SELECT count(x.user_id) > count(DISTINCT x.user_id) OR count(x.phone) > count(DISTINCT x.phone)
                FROM unnest(p_users, p_phones) AS x(user_id, phone))) THEN
        -- As if they came one after the other: an earlier row counts with its new user and phone.
        FOR m IN
            SELECT coalesce(u.old_identity, u.identity) AS identity, coalesce(u.old_device, u.device) AS device, u.user_id, u.old_user, u.phone,
                u.old_phone, u.has_user, u.has_phone
            FROM unnest(v.ways, v.identities, p_identities, v.devices, p_devices, p_users, v.users, p_phones, v.phones, v.has_users, v.has_phones)
                WITH ORDINALITY
                AS u(way, old_identity, identity, old_device, device, user_id, old_user, phone, old_phone, has_user, has_phone, o)
            WHERE u.way IS NOT NULL ORDER BY u.o
        LOOP
            IF m.user_id IS NOT NULL AND m.user_id IS DISTINCT FROM m.old_user AND (
                m.user_id = ANY (v_users)
                OR m.has_user AND gateway.is_taken(p_tenant, p_app, p_vendor, m.identity, m.device, m.user_id, NULL, v_earlier)) THEN
                v_whos := v_whos || m.identity;
                v_wheres := v_wheres || m.device;
                v_data := v_data || json_build_object('of', 'user', 'pending', false);
            END IF;
            IF m.phone IS NOT NULL AND m.phone IS DISTINCT FROM m.old_phone AND (
                m.phone = ANY (v_phones)
                OR m.has_phone AND gateway.is_taken(p_tenant, p_app, p_vendor, m.identity, m.device, NULL, m.phone, v_earlier)) THEN
                v_whos := v_whos || m.identity;
                v_wheres := v_wheres || m.device;
                v_data := v_data || json_build_object('of', 'phone', 'pending', false);
            END IF;
            v_earlier := v_earlier || m.identity;
            v_users := v_users || coalesce(m.user_id, m.old_user);
            v_phones := v_phones || coalesce(m.phone, m.old_phone);
        END LOOP;
        v_kinds := array_fill('moved'::text, ARRAY[cardinality(v_whos)]);
    END IF;

    IF 'kept' = ANY (v.ways) THEN
        -- In one order, because other calls lock devices too.
        WITH r AS (
            UPDATE gateway.device d SET token = u.token, platform = u.platform, environment = coalesce(u.environment, d.environment),
                    token_state = 'active', token_reason = NULL, seen_at = greatest(d.seen_at, u.at),
                    token_registered_at = CASE WHEN d.token = u.token THEN greatest(d.token_registered_at, u.at) ELSE u.at END
                FROM (
                    SELECT x.device, x.platform, x.environment, x.token, x.at
                    FROM unnest(v.devices, v.ways, p_platforms, p_environments, p_tokens, p_at) AS x(device, way, platform, environment, token, at)
                    WHERE x.way = 'kept' ORDER BY x.device) AS u
                WHERE d.tenant_id = p_tenant AND d.device_id = u.device
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        -- As in `seat_token`.
        IF EXISTS (SELECT FROM unnest(v.ways, v.new_tokens) AS u(way, is_new_token) WHERE u.way = 'kept' AND u.is_new_token) THEN
            WITH r AS (
                UPDATE gateway.identity i SET assurance = 0
                    FROM unnest(v.devices, v.ways, v.new_tokens) AS u(device, way, is_new_token)
                    WHERE u.way = 'kept' AND u.is_new_token AND i.tenant_id = p_tenant AND i.device_id = u.device AND i.assurance > 0
                        AND i.vendor <> p_vendor
                    RETURNING 1)
            SELECT count(*) INTO v_count FROM r;
        END IF;
        WITH r AS (
            UPDATE gateway.identity i SET user_id = coalesce(u.user_id, i.user_id), name = coalesce(u.name, i.name),
                    phone = coalesce(u.phone, i.phone), raw_phone = coalesce(u.raw_phone, i.raw_phone),
                    -- As in `register_identity`: an identity that took its key from an app keeps its first one.
                    attributes = CASE WHEN u.attributes IS NULL THEN i.attributes WHEN i.attributes->>'$rolloutKey' IS NULL THEN u.attributes::json
                        ELSE gateway.attributes_after(i.attributes, u.attributes::json, NULL) END,
                    registered_at = u.at,
                    client = u.client, client_number = u.number,
                    -- The key may be known to others, so another token is a claim.
                    assurance = CASE WHEN p_assurance = 0 AND i.assurance = 0 OR p_assurance < 2 AND i.assurance > 0 AND u.is_new_token THEN 0
                        ELSE gateway.level_after(i.assurance, i.user_id, i.phone, u.user_id, u.phone, p_assurance) END,
                    user_since = CASE WHEN u.user_id <> i.user_id OR i.user_id IS NULL AND (
                            u.user_id IS NOT NULL OR u.phone IS NOT NULL AND u.phone IS DISTINCT FROM i.phone)
                        THEN u.at ELSE i.user_since END
                FROM (
                    SELECT x.* FROM unnest(
                            v.identities, v.devices, v.ways, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at, v.new_tokens, v_clients,
                            v_numbers)
                        AS x(identity, device, way, user_id, name, phone, raw_phone, attributes, at, is_new_token, client, number)
                    WHERE x.way = 'kept' ORDER BY x.identity) AS u
                WHERE i.tenant_id = p_tenant AND i.identity_id = u.identity AND i.device_id = u.device AND i.state = 'active'
                RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        -- Erasures and the ends of identities do not wait for the keys of registrations.
        IF v_count < cardinality(array_positions(v.ways, 'kept')) THEN
            RAISE EXCEPTION 'an identity has ended meanwhile' USING ERRCODE = '40001';
        END IF;
    END IF;

    v_new := ARRAY(SELECT u.key FROM unnest(p_keys, v.ways) AS u(key, way) WHERE u.way = 'new');
    IF cardinality(v_new) > 0 THEN
        -- RETURNING keeps Citus from turning the INSERT into a COPY, which row-level security refuses.
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
                registered_at, created_at, assurance, user_since, client, client_number, first_key)
            SELECT p_tenant, u.identity, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
                coalesce(u.attributes, '{}')::json, u.at, u.at, p_assurance, u.at, u.client, u.number,
                CASE WHEN u.attributes LIKE '%$rolloutKey%' THEN u.attributes::json->>'$rolloutKey' END
            FROM unnest(p_identities, v.ways, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, p_at, v_clients,
                    v_numbers)
                AS u(identity, way, key, device, user_id, name, phone, raw_phone, attributes, at, client, number)
            WHERE u.way = 'new'
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
        -- Last, because other registrations wait for the counts and the event head until the commit.
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1);
        v_kinds := array_fill('registered'::text, ARRAY[cardinality(v_new)]) || v_kinds;
        v_whos := ARRAY(
            SELECT u.identity FROM unnest(p_identities, v.ways) WITH ORDINALITY AS u(identity, way, o) WHERE u.way = 'new' ORDER BY u.o) || v_whos;
        v_wheres := ARRAY(
            SELECT u.device FROM unnest(p_devices, v.ways) WITH ORDINALITY AS u(device, way, o) WHERE u.way = 'new' ORDER BY u.o) || v_wheres;
        v_data := array_fill(NULL::json, ARRAY[cardinality(v_new)]) || v_data;
    END IF;
    PERFORM gateway.append_changes(
        p_tenant, v_kinds, array_fill(p_app, ARRAY[cardinality(v_kinds)]), array_fill(p_vendor, ARRAY[cardinality(v_kinds)]), v_whos,
        v_wheres, CASE WHEN 'moved' = ANY (v_kinds) THEN v_data END);

    RETURN QUERY
        SELECT CASE u.way WHEN 'new' THEN u.identity ELSE u.old_identity END,
            CASE u.way WHEN 'new' THEN u.device WHEN 'kept' THEN u.old_device END,
            u.platform, u.way = 'kept', '{}'::uuid[]
        FROM unnest(v.ways, p_identities, p_devices, v.identities, v.devices, p_platforms) WITH ORDINALITY
            AS u(way, identity, device, old_identity, old_device, platform, o) ORDER BY u.o;
END $$;

REVOKE ALL ON FUNCTION gateway.register_many FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.register_many TO gateway_call;
