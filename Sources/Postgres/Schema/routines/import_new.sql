-- Inserts the devices and identities that are new, and reports for each row whether it was not new. Parallel arrays, without repeated keys or tokens. New
-- means that neither the key nor the token is known, in any environment. A window of the whole day is stored as null. Tags are separated by spaces; null
-- means that no tags are given. Groups and consents are those of `import_people`. An identity that had another key where the file was exported has that as
-- the attribute `$rolloutKey`, and keeps it in `first_key`.
--
-- p_registered: when the devices registered, where the file says so; p_as_of: when the file was made, null: it does not matter. A row registered then, or else at
-- p_at and a microsecond per row later than the one before it, because a token that is known in two environments belongs to the newer row.
--
-- Each row is looked up by the indexes, with or without statistics: OFFSET 0 keeps the lookups from becoming a join in which the planner might read all
-- rows, and disabled sequential scans keep a table that is empty at planning time from getting another plan.
CREATE OR REPLACE FUNCTION gateway.import_new(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamptz,
    p_clients text[] DEFAULT NULL, p_registered timestamptz[] DEFAULT NULL, p_as_of timestamptz DEFAULT NULL, p_accepts boolean[] DEFAULT NULL,
    p_groups text[] DEFAULT NULL, p_badges integer[] DEFAULT NULL, p_consents text[] DEFAULT NULL, p_source text DEFAULT NULL)
RETURNS boolean[] LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_known boolean[];
    v_new text[];
    v_clients jsonb[];
    v_numbers bigint[];
    v_ats timestamptz[];
    v_users text[];
    v_now timestamptz := now();
    v_count bigint;
    v_has_windows boolean;
    v_has_first_keys boolean;
BEGIN
    v_known := ARRAY(
        SELECT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = u.key OFFSET 0)
            OR u.token IS NOT NULL AND EXISTS (
                SELECT FROM gateway.device d
                WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = u.platform
                    AND d.token_digest = md5(u.token) OFFSET 0)
        FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o) ORDER BY u.o);
    v_new := ARRAY(SELECT u.key FROM unnest(p_keys, v_known) AS u(key, known) WHERE NOT u.known);
    IF cardinality(v_new) = 0 THEN RETURN v_known; END IF;
    -- The times of a file that is imported again are the same, and none is later than the file.
    v_ats := ARRAY(
        SELECT CASE WHEN u.at IS NOT NULL THEN least(u.at, p_as_of, v_now)
            WHEN p_as_of IS NOT NULL THEN least(p_as_of, v_now) - (cardinality(p_keys) - u.o) * interval '1 microsecond'
            ELSE p_at + u.o * interval '1 microsecond' END
        FROM unnest(p_keys, p_registered) WITH ORDINALITY AS u(key, at, o) ORDER BY u.o);
    IF array_length(array_remove(p_groups, NULL), 1) > 0 OR array_length(array_remove(p_consents, NULL), 1) > 0 THEN
        v_users := ARRAY(
            SELECT CASE WHEN NOT u.known THEN u.user_id END FROM unnest(p_users, v_known) WITH ORDINALITY AS u(user_id, known, o) ORDER BY u.o);
        PERFORM gateway.import_people(p_tenant, p_app, p_vendor, v_users, p_groups, p_consents, p_source);
    END IF;
    v_clients := ARRAY(
        SELECT gateway.client_after(NULL, u.client::jsonb) FROM unnest(p_keys, p_clients) WITH ORDINALITY AS u(key, client, o) ORDER BY u.o);
    v_numbers := ARRAY(
        SELECT CASE WHEN u.known THEN NULL ELSE gateway.client_number(p_tenant, p_app, u.client) END
        FROM unnest(v_clients, v_known) WITH ORDINALITY AS u(client, known, o) ORDER BY u.o);
    -- RETURNING keeps Citus from turning the INSERT into a COPY, which row-level security refuses; a taken key remains a unique_violation.
    WITH r AS (
        INSERT INTO gateway.device
            (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at,
            time_zone, window_from, window_to)
        SELECT p_tenant, u.id, p_app, u.platform, coalesce(u.environment, 'production'), u.token,
            CASE WHEN u.token IS NULL THEN 'none' ELSE 'active' END,
            CASE WHEN u.token IS NULL THEN NULL ELSE u.at END, u.at, u.at, u.zone,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.first END,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.last END
        FROM unnest(p_devices, p_platforms, p_environments, p_tokens, p_zones, p_from, p_to, v_known, v_ats)
            AS u(id, platform, environment, token, zone, first, last, known, at)
        WHERE NOT u.known
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    WITH r AS (
        INSERT INTO gateway.identity
            (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
            registered_at, created_at, client, client_number, accepts_push, first_key)
        SELECT p_tenant, u.id, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
            coalesce(u.attributes, '{}')::json, u.at, u.at, u.client, u.number, coalesce(u.accepts, true),
            -- Few rows have it, and the search takes less time than reading the attributes.
            CASE WHEN u.attributes LIKE '%$rolloutKey%' THEN u.attributes::json->>'$rolloutKey' END
        FROM unnest(p_identities, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, v_known, v_clients,
                v_numbers, v_ats, p_accepts)
            AS u(id, key, device, user_id, name, phone, raw_phone, attributes, known, client, number, at, accepts)
        WHERE NOT u.known
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    IF array_length(array_remove(p_tags, NULL), 1) > 0 THEN
        WITH r AS (
            INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
            SELECT p_tenant, p_app, p_vendor, t.tag, u.id FROM unnest(p_identities, p_tags, v_known) AS u(id, tags, known)
            CROSS JOIN LATERAL unnest(string_to_array(u.tags, ' ')) AS t(tag)
            WHERE NOT u.known
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    END IF;
    SELECT coalesce(bool_or((u.last - u.first + 1440) % 1440 <> 1439), false), coalesce(bool_or(u.attributes LIKE '%$rolloutKey%'), false)
        INTO v_has_windows, v_has_first_keys
        FROM unnest(p_from, p_to, p_attributes, v_known) AS u(first, last, attributes, known) WHERE NOT u.known;
    IF v_has_windows OR v_has_first_keys THEN
        UPDATE gateway.app SET uses_windows = uses_windows OR v_has_windows, has_first_keys = has_first_keys OR v_has_first_keys
            WHERE tenant_id = p_tenant AND app_id = p_app AND (v_has_windows AND NOT uses_windows OR v_has_first_keys AND NOT has_first_keys);
    END IF;
    -- A badge that the holder has already is newer than a file.
    IF array_length(array_remove(p_badges, NULL), 1) > 0 THEN
        WITH r AS (
            INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count)
            SELECT p_tenant, p_app, p_vendor, coalesce('user:' || u.user_id, 'key:' || u.key) AS holder, max(u.badge)
            FROM unnest(p_keys, p_users, p_badges, v_known) AS u(key, user_id, badge, known)
            WHERE NOT u.known AND u.badge IS NOT NULL GROUP BY 4 ORDER BY 4
            ON CONFLICT DO NOTHING
            RETURNING 1)
        SELECT count(*) INTO v_count FROM r;
    END IF;
    -- Last, because other registrations wait for these rows until the commit.
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1, p_registers => false);
    RETURN v_known;
EXCEPTION WHEN unique_violation THEN
    -- A concurrent call has registered one of them.
    RETURN array_fill(true, ARRAY[cardinality(p_keys)]);
END $$;

REVOKE ALL ON FUNCTION gateway.import_new FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_new TO gateway_call, gateway_engine;
