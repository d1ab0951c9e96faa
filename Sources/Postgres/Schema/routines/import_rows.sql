-- Registers rows in their order, each as if it registered by itself, and returns what happened to each: 'created' (no active identity before), 'updated',
-- 'unchanged' (nothing was written), or 'older' (what is stored is later than the file, and stayed). The arrays are those of `import_new`.
--
-- With p_as_of, an identity that registered, was seen or got or lost its user since, or that has ended, stays as it is, and so does a token that came since; of
-- the rows about them only an opt-out and consents count, each by its own rules. When a row registered says nothing about how old the rest of it is. Without
-- p_as_of the file is newer than everything but the decisions of users. A row whose key was derived from its token is about the identity that has the token,
-- whatever its key is.
--
-- Without p_as_of, most rows of a file that is imported again change nothing. One statement finds them. They need no locks, because nothing is written: a
-- registration that follows is later than the import.
CREATE OR REPLACE FUNCTION gateway.import_rows(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamptz,
    p_clients text[], p_registered timestamptz[], p_as_of timestamptz, p_accepts boolean[],
    p_groups text[], p_badges integer[], p_consents text[], p_source text)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_done text[] := '{}';
    v_people text[] := array_fill(''::text, ARRAY[cardinality(p_keys)]);
    v_groups text[];
    v_now timestamptz := now();
    v_as_of timestamptz := CASE WHEN p_as_of IS NOT NULL THEN least(p_as_of, now()) END;
    v_registered timestamptz;
    v_at timestamptz;
    v_place integer;
    v_outcome text;
    v_key text;
    v_token text;
    v_platform text;
    v_environment text;
    v_named text;
    v_holder text;
    v_tags text[];
    v_id uuid;
    v_other uuid;
    v_device uuid;
    v_state text;
    v_user text;
    v_name text;
    v_phone text;
    v_attributes json;
    v_client jsonb;
    v_accepts boolean;
    v_registered_at timestamptz;
    v_seen timestamptz;
    v_own_token text;
    v_own_state text;
    v_own_platform text;
    v_own_environment text;
    v_own_at timestamptz;
    v_zone text;
    v_first integer;
    v_last integer;
    v_holders bigint;
    v_is_late boolean;
    v_keeps_token boolean;
    v_is_same boolean;
    v_was_active boolean;
    v_same boolean[];
    v_given text[] := array_remove(p_tokens, NULL);
    r record;
BEGIN
    IF array_length(array_remove(p_groups, NULL), 1) > 0 OR array_length(array_remove(p_consents, NULL), 1) > 0 THEN
        -- Groups have no times; those of a device that registered, got or lost its user, or ended since the file was made are left out.
        v_groups := ARRAY(
            SELECT CASE WHEN v_as_of IS NULL OR u.groups IS NULL OR NOT EXISTS (
                    SELECT FROM gateway.identity i
                    WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = u.key
                        AND (i.state <> 'active' OR greatest(i.registered_at, i.user_since) > v_as_of)
                    OFFSET 0)
                AND NOT EXISTS (
                    SELECT FROM gateway.device d
                    JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.app_id = p_app AND i.vendor = p_vendor
                        AND i.state = 'active' AND greatest(i.registered_at, i.user_since) > v_as_of
                    WHERE u.key LIKE 'token-%' AND d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = u.platform
                        AND d.token_digest = md5(u.token) AND d.token = u.token
                    OFFSET 0)
                THEN u.groups END
            FROM unnest(p_keys, p_platforms, p_tokens, p_groups) WITH ORDINALITY AS u(key, platform, token, groups, o) ORDER BY u.o);
        v_people := gateway.import_people(p_tenant, p_app, p_vendor, p_users, v_groups, p_consents, p_source);
    END IF;
    -- A row whose key or token another row has, too, may become different by that row; of a row without a token, the device's counts.
    IF v_as_of IS NULL AND NOT EXISTS (SELECT 1 FROM unnest(p_keys) AS u(key) WHERE u.key LIKE 'token-%') THEN
        v_same := ARRAY(
            SELECT coalesce(
                u.keys = 1 AND CASE WHEN u.token IS NOT NULL THEN u.tokens = 1 ELSE d.token IS NULL OR d.token <> ALL (v_given) END AND u.badge IS NULL AND u.people = '' AND i.state = 'active'
                AND (u.accepts IS NULL OR u.accepts = i.accepts_push)
                AND (u.user_id IS NULL OR u.user_id IS NOT DISTINCT FROM i.user_id) AND (u.name IS NULL OR u.name IS NOT DISTINCT FROM i.name)
                AND (u.phone IS NULL OR u.phone IS NOT DISTINCT FROM i.phone)
                AND (u.attributes IS NULL OR gateway.attributes_after(i.attributes, u.attributes::json, NULL)::text = i.attributes::text)
                AND gateway.client_after(i.client, u.client::jsonb) IS NOT DISTINCT FROM i.client
                AND (u.token IS NULL OR u.token IS NOT DISTINCT FROM d.token AND d.token_state = 'active')
                AND (u.token IS NULL AND d.token IS NOT NULL
                    OR u.platform IS NOT DISTINCT FROM d.platform AND coalesce(u.environment, d.environment) IS NOT DISTINCT FROM d.environment)
                AND (u.zone IS NULL OR u.zone IS NOT DISTINCT FROM d.time_zone)
                AND (u.first IS NULL OR u.first = coalesce(d.window_from, 0) AND u.last = coalesce(d.window_to, 1439))
                AND (u.tags IS NULL OR ARRAY(
                        SELECT t.tag FROM gateway.identity_tag t WHERE t.tenant_id = p_tenant AND t.identity_id = i.identity_id ORDER BY t.tag)
                    = ARRAY(SELECT t.tag FROM unnest(string_to_array(u.tags, ' ')) AS t(tag) ORDER BY t.tag))
                -- Of two devices with one token, the one that registers later has it.
                AND (u.token IS NULL OR (
                    SELECT count(*) FROM (
                        SELECT 1 FROM gateway.device y
                        WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = u.platform AND y.token_digest = md5(u.token)
                        OFFSET 0) AS h) = 1), false)
            FROM (
                SELECT x.*, count(*) OVER (PARTITION BY x.key) AS keys, count(*) OVER (PARTITION BY x.platform, x.token) AS tokens
                FROM unnest(
                    p_keys, p_platforms, p_environments, p_tokens, p_users, p_names, p_phones, p_attributes, p_zones, p_from, p_to, p_tags,
                    p_clients, p_accepts, p_badges, v_people) WITH ORDINALITY AS x(
                    key, platform, environment, token, user_id, name, phone, attributes, zone, first, last, tags,
                    client, accepts, badge, people, o)) AS u
            LEFT JOIN LATERAL (
                SELECT x.identity_id, x.device_id, x.state, x.user_id, x.name, x.phone, x.attributes, x.client, x.accepts_push
                FROM gateway.identity x
                WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i ON true
            LEFT JOIN LATERAL (
                SELECT y.token, y.token_state, y.platform, y.environment, y.time_zone, y.window_from, y.window_to FROM gateway.device y
                WHERE y.tenant_id = p_tenant AND y.device_id = i.device_id OFFSET 0) AS d ON true
            ORDER BY u.o);
    END IF;
    FOR r IN
        SELECT * FROM unnest(
            p_keys, p_identities, p_devices, p_platforms, p_environments, p_tokens, p_users, p_names, p_phones, p_raw_phones,
            p_attributes, p_zones, p_from, p_to, p_tags, p_clients, p_registered, p_accepts, p_badges)
            WITH ORDINALITY AS u(
            key, identity, device, platform, environment, token, user_id, name, phone, raw_phone, attributes, zone, first, last, tags, client,
            registered, accepts, badge, o)
        ORDER BY o
    LOOP
        v_place := r.o;
        IF v_same[v_place] THEN
            v_done := v_done || 'unchanged'::text;
            CONTINUE;
        END IF;
        v_key := r.key;
        v_token := r.token;
        v_platform := r.platform;
        v_environment := r.environment;
        IF v_key LIKE 'token-%' AND v_token IS NOT NULL THEN
            -- The device is the one that `seat_token` finds.
            SELECT i.key INTO v_named FROM (
                    SELECT x.identity_id, x.key FROM (
                        SELECT y.device_id FROM gateway.device y
                        WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = v_platform AND y.token_digest = md5(v_token)
                            AND y.token = v_token AND (v_environment IS NULL OR y.environment = v_environment)
                        ORDER BY y.token_registered_at DESC LIMIT 1) AS d
                    JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = d.device_id AND x.app_id = p_app AND x.vendor = p_vendor
                        AND x.state = 'active' OFFSET 0) AS i
                ORDER BY i.identity_id LIMIT 1;
            v_key := coalesce(v_named, v_key);
        END IF;
        -- The locks of a registration, so that none comes between the comparison and the write.
        PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || v_key);
        IF v_token IS NOT NULL THEN
            PERFORM gateway.lock_name(p_tenant, 'token', p_app || chr(31) || v_platform || chr(31) || v_token);
        END IF;
        -- `seen_at` is read by its name, because it came with another version.
        SELECT i.identity_id, i.device_id, i.state, i.user_id, i.name, i.phone, i.attributes, i.client, i.accepts_push, i.registered_at,
                greatest(i.registered_at, (to_json(i)->>'seen_at')::timestamptz, i.user_since)
            INTO v_id, v_device, v_state, v_user, v_name, v_phone, v_attributes, v_client, v_accepts, v_registered_at, v_seen
            FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = v_key;
        SELECT d.token, d.token_state, d.platform, d.environment, d.token_registered_at, d.time_zone, coalesce(d.window_from, 0),
                coalesce(d.window_to, 1439)
            INTO v_own_token, v_own_state, v_own_platform, v_own_environment, v_own_at, v_zone, v_first, v_last
            FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id = v_device;

        v_registered := CASE WHEN r.registered IS NOT NULL THEN least(r.registered, v_as_of, v_now) END;
        v_at := CASE WHEN v_registered IS NOT NULL THEN v_registered
            WHEN v_as_of IS NOT NULL THEN v_as_of - (cardinality(p_keys) - v_place) * interval '1 microsecond'
            ELSE p_at + v_place * interval '1 microsecond' END;
        IF v_id IS NOT NULL THEN
            v_at := CASE WHEN v_as_of IS NULL THEN p_at + v_place * interval '1 microsecond' ELSE greatest(v_registered_at, v_at) END;
        END IF;
        v_is_late := v_as_of IS NOT NULL AND v_id IS NOT NULL AND (v_state <> 'active' OR v_seen > v_as_of);
        v_keeps_token := false;
        IF v_as_of IS NOT NULL AND v_token IS NOT NULL AND NOT v_is_late THEN
            v_keeps_token := coalesce(
                v_own_token IS DISTINCT FROM v_token AND v_own_at > v_as_of OR v_own_token = v_token AND v_own_state <> 'active', false);
            IF NOT v_keeps_token AND r.attributes::json->>'sharesDevice' IS DISTINCT FROM 'true' THEN
                SELECT i.identity_id INTO v_other FROM (
                        SELECT x.identity_id FROM gateway.device y
                        JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = y.device_id AND x.app_id = p_app AND x.vendor = p_vendor
                            AND x.state = 'active' AND x.key <> v_key AND x.attributes->>'sharesDevice' IS DISTINCT FROM 'true'
                        WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = v_platform AND y.token_digest = md5(v_token)
                            AND y.token = v_token AND (y.token_registered_at > v_as_of OR greatest(x.registered_at, x.user_since) > v_as_of)
                        OFFSET 0) AS i
                    ORDER BY i.identity_id LIMIT 1;
                v_keeps_token := FOUND;
            END IF;
            IF v_keeps_token AND v_id IS NULL THEN
                -- The device has registered under another key since, to which an opt-out belongs.
                v_is_late := true;
                v_id := v_other;
            END IF;
        END IF;

        v_is_same := NOT v_is_late AND v_id IS NOT NULL AND v_state = 'active'
            AND (r.user_id IS NULL OR r.user_id IS NOT DISTINCT FROM v_user) AND (r.name IS NULL OR r.name IS NOT DISTINCT FROM v_name)
            AND (r.phone IS NULL OR r.phone IS NOT DISTINCT FROM v_phone)
            AND (r.attributes IS NULL OR gateway.attributes_after(v_attributes, r.attributes::json, NULL)::text = v_attributes::text)
            AND gateway.client_after(v_client, r.client::jsonb) IS NOT DISTINCT FROM v_client
            AND (v_keeps_token OR v_token IS NULL OR v_token IS NOT DISTINCT FROM v_own_token AND v_own_state = 'active')
            AND (v_token IS NULL AND v_own_token IS NOT NULL OR v_keeps_token
                OR v_platform IS NOT DISTINCT FROM v_own_platform AND coalesce(v_environment, v_own_environment) IS NOT DISTINCT FROM v_own_environment)
            AND (r.zone IS NULL OR r.zone IS NOT DISTINCT FROM v_zone) AND (r.first IS NULL OR r.first = v_first AND r.last = v_last)
            AND (v_as_of IS NULL OR v_registered IS NULL OR v_registered <= v_registered_at);
        IF v_is_same AND r.tags IS NOT NULL THEN
            v_tags := ARRAY(
                SELECT t.tag FROM gateway.identity_tag t WHERE t.tenant_id = p_tenant AND t.identity_id = v_id ORDER BY t.tag);
            v_is_same := v_tags = ARRAY(SELECT t.tag FROM unnest(string_to_array(r.tags, ' ')) AS t(tag) ORDER BY t.tag);
        END IF;
        IF v_is_same AND v_as_of IS NULL AND v_token IS NOT NULL THEN
            -- Of two devices with one token, the one that registers later has it.
            SELECT count(*) INTO v_holders FROM gateway.device y
                WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = v_platform AND y.token_digest = md5(v_token);
            v_is_same := v_holders = 1;
        END IF;

        IF v_is_late THEN
            v_outcome := 'older';
        ELSIF v_is_same THEN
            v_outcome := CASE WHEN v_keeps_token THEN 'older' ELSE 'unchanged' END;
        ELSE
            SELECT x.identity_id, x.device_id, x.was_active INTO v_id, v_device, v_was_active FROM gateway.register_identity(
                p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_key => v_key, p_identity => r.identity,
                p_device => r.device, p_platform => v_platform, p_environment => v_environment,
                p_token => CASE WHEN NOT v_keeps_token THEN v_token END, p_user => r.user_id, p_name => r.name, p_phone => r.phone,
                p_raw_phone => r.raw_phone, p_replaces_phone => false, p_attributes => r.attributes::json, p_at => v_at,
                p_client => r.client::jsonb) x;
            IF r.zone IS NOT NULL OR r.first IS NOT NULL THEN
                PERFORM gateway.set_clock(p_tenant, v_device, r.zone, r.first, r.last);
            END IF;
            IF r.tags IS NOT NULL THEN
                PERFORM gateway.set_tags(p_tenant, v_id, string_to_array(r.tags, ' '));
            END IF;
            v_outcome := CASE WHEN NOT v_was_active THEN 'created' WHEN v_keeps_token THEN 'older' ELSE 'updated' END;
        END IF;

        -- A file has no time of this setting, so the opt-out counts.
        IF NOT r.accepts THEN
            UPDATE gateway.identity SET accepts_push = false WHERE tenant_id = p_tenant AND identity_id = v_id AND accepts_push;
            IF FOUND AND v_outcome = 'unchanged' THEN v_outcome := 'updated'; END IF;
        ELSIF r.accepts AND NOT v_accepts AND v_outcome <> 'created' THEN
            v_outcome := 'older';
        END IF;
        IF r.badge IS NOT NULL AND NOT v_is_late THEN
            v_holder := coalesce('user:' || coalesce(r.user_id, v_user), 'key:' || v_key);
            IF v_as_of IS NULL THEN
                INSERT INTO gateway.badge AS b (tenant_id, app_id, vendor, holder, count)
                    VALUES (p_tenant, p_app, p_vendor, v_holder, r.badge)
                    ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count WHERE b.count <> excluded.count;
            ELSE
                -- A badge that is counted here is newer.
                INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count)
                    VALUES (p_tenant, p_app, p_vendor, v_holder, r.badge) ON CONFLICT DO NOTHING;
            END IF;
            IF FOUND AND v_outcome = 'unchanged' THEN v_outcome := 'updated'; END IF;
        END IF;
        IF v_people[v_place] = 'older' AND v_outcome <> 'created' THEN
            v_outcome := 'older';
        ELSIF v_people[v_place] = 'changed' AND v_outcome = 'unchanged' THEN
            v_outcome := 'updated';
        END IF;
        v_done := v_done || v_outcome;
    END LOOP;
    RETURN v_done;
END $$;

REVOKE ALL ON FUNCTION gateway.import_rows FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_rows TO gateway_call, gateway_engine;
