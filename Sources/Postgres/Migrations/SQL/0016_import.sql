-- Imports by the thousand rows: what is new as a set, the rest row by row behind it. import_identities and import_clocks stay for nodes of the version
-- before.

-- Inserts the devices and identities that are new, and tells of each row whether it was not: parallel arrays, no key and no token twice.
-- New: neither its key nor its token is known, in whichever environment. A window of the whole day is none; tags are parted by spaces, null: none said.
--
-- Each row looks by the indexes, with statistics or without: OFFSET 0 keeps the looks from becoming a join, in which the planner might read all rows, and
-- without sequential scans a table that is empty when the plan is made leads to no other plan.
CREATE FUNCTION gateway.import_new(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamptz)
RETURNS boolean[] LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    v_known boolean[];
    v_new text[];
    v_count bigint;
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
    -- RETURNING keeps Citus from making a COPY of it, which row-level security refuses; a key that is taken stays a unique_violation.
    WITH r AS (
        INSERT INTO gateway.device
            (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at,
            time_zone, window_from, window_to)
        SELECT p_tenant, u.id, p_app, u.platform, coalesce(u.environment, 'production'), u.token,
            CASE WHEN u.token IS NULL THEN 'none' ELSE 'active' END,
            CASE WHEN u.token IS NULL THEN NULL ELSE p_at + u.o * interval '1 microsecond' END,
            p_at + u.o * interval '1 microsecond', p_at + u.o * interval '1 microsecond', u.zone,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.first END,
            CASE WHEN (u.last - u.first + 1440) % 1440 = 1439 THEN NULL ELSE u.last END
        FROM unnest(p_devices, p_platforms, p_environments, p_tokens, p_zones, p_from, p_to, v_known)
            WITH ORDINALITY AS u(id, platform, environment, token, zone, first, last, known, o)
        WHERE NOT u.known
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    WITH r AS (
        INSERT INTO gateway.identity
            (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
            registered_at, created_at)
        SELECT p_tenant, u.id, p_app, p_vendor, u.key, u.device, 'active', u.user_id, u.name, u.phone, u.raw_phone,
            coalesce(u.attributes, '{}')::json, p_at + u.o * interval '1 microsecond', p_at + u.o * interval '1 microsecond'
        FROM unnest(p_identities, p_keys, p_devices, p_users, p_names, p_phones, p_raw_phones, p_attributes, v_known)
            WITH ORDINALITY AS u(id, key, device, user_id, name, phone, raw_phone, attributes, known, o)
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
    IF EXISTS (
        SELECT FROM unnest(p_from, p_to, v_known) AS u(first, last, known)
        WHERE NOT u.known AND (u.last - u.first + 1440) % 1440 <> 1439)
    THEN
        UPDATE gateway.app SET uses_windows = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT uses_windows;
    END IF;
    -- Last: others who count wait for the commit.
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_new, 1);
    RETURN v_known;
EXCEPTION WHEN unique_violation THEN
    -- One of them has registered meanwhile.
    RETURN array_fill(true, ARRAY[cardinality(p_keys)]);
END $$;

-- Rows in their order, each as if it registered by itself; how many had no active identity before. The arrays are those of import_new.
CREATE FUNCTION gateway.import_each(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_created bigint := 0;
    r record;
    g record;
BEGIN
    FOR r IN
        SELECT * FROM unnest(
            p_keys, p_identities, p_devices, p_platforms, p_environments, p_tokens, p_users, p_names, p_phones, p_raw_phones,
            p_attributes, p_zones, p_from, p_to, p_tags)
            WITH ORDINALITY AS u(
            key, identity, device, platform, environment, token, user_id, name, phone, raw_phone, attributes, zone, first, last, tags, o)
        ORDER BY o
    LOOP
        SELECT x.identity_id, x.device_id, x.was_active INTO g FROM gateway.register_identity(
            p_tenant, p_app, p_vendor, r.key, r.identity, r.device, r.platform, r.environment, r.token, r.user_id, r.name, r.phone,
            r.raw_phone, false, r.attributes::json, p_at + r.o * interval '1 microsecond') x;
        IF NOT g.was_active THEN v_created := v_created + 1; END IF;
        IF r.zone IS NOT NULL OR r.first IS NOT NULL THEN
            PERFORM gateway.set_clock(p_tenant, g.device_id, r.zone, r.first, r.last);
        END IF;
        IF r.tags IS NOT NULL THEN
            PERFORM gateway.set_tags(p_tenant, g.identity_id, string_to_array(r.tags, ' '));
        END IF;
    END LOOP;
    RETURN v_created;
END $$;

REVOKE ALL ON FUNCTION gateway.import_new, gateway.import_each FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.import_new, gateway.import_each TO gateway_call, gateway_engine;

-- As before, and the tags.
CREATE OR REPLACE FUNCTION gateway.analyze_devices() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    ANALYZE gateway.device;
    ANALYZE gateway.identity;
    ANALYZE gateway.identity_tag;
END $$;
