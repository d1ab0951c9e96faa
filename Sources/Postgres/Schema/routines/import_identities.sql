-- Imports devices and identities: new ones as a set, the others one by one through `register_identity`. They are handled in order, so that of two rows with
-- one token the later one has it; each row is a microsecond later than the previous one, because a token that is known in two environments belongs to the
-- newer one. created: the number of rows without an active identity before.
CREATE OR REPLACE FUNCTION gateway.import_identities(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_at timestamptz)
RETURNS TABLE (created bigint, updated bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_new integer[] := '{}';
    v_key text;
    v_token text;
    v_platform text;
    v_created bigint;
    v_was_active boolean;
    r record;
BEGIN
    -- A row is new if neither its key nor its token is known, in any environment, or appears earlier in the arrays. Rows are looked up one by one: for a
    -- join the planner might read all rows.
    FOR r IN
        SELECT f.place, f.key, f.platform, f.token FROM (
            SELECT u.o::integer AS place, u.key, u.platform, u.token,
                row_number() OVER (PARTITION BY u.key ORDER BY u.o) AS key_use,
                row_number() OVER (PARTITION BY u.platform, u.token ORDER BY u.o) AS token_use
            FROM unnest(p_keys, p_platforms, p_tokens) WITH ORDINALITY AS u(key, platform, token, o)) f
        WHERE f.key_use = 1 AND (f.token IS NULL OR f.token_use = 1) ORDER BY f.place
    LOOP
        v_key := r.key;
        v_token := r.token;
        v_platform := r.platform;
        PERFORM FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = v_key;
        CONTINUE WHEN FOUND;
        PERFORM FROM gateway.device d
            WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = v_platform AND d.token_digest = md5(v_token);
        CONTINUE WHEN FOUND;
        v_new := v_new || r.place;
    END LOOP;
    BEGIN
        -- RETURNING keeps Citus from turning the INSERT into a COPY, which row-level security refuses; a taken key remains a unique_violation.
        WITH r AS (
            INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            SELECT p_tenant, p_devices[n], p_app, p_platforms[n], coalesce(p_environments[n], 'production'), p_tokens[n],
                CASE WHEN p_tokens[n] IS NULL THEN 'none' ELSE 'active' END,
                CASE WHEN p_tokens[n] IS NULL THEN NULL ELSE p_at + n * interval '1 microsecond' END,
                p_at + n * interval '1 microsecond', p_at + n * interval '1 microsecond'
            FROM unnest(v_new) AS n
            RETURNING 1)
        SELECT count(*) INTO v_created FROM r;
        WITH r AS (
            INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            SELECT p_tenant, p_identities[n], p_app, p_vendor, p_keys[n], p_devices[n], 'active', p_users[n], p_names[n],
                p_phones[n], p_raw_phones[n], coalesce(p_attributes[n], '{}')::json, p_at + n * interval '1 microsecond',
                p_at + n * interval '1 microsecond'
            FROM unnest(v_new) AS n
            RETURNING 1)
        SELECT count(*) INTO v_created FROM r;
        PERFORM gateway.count_identities(
            p_tenant, p_app, p_vendor, (SELECT coalesce(array_agg(p_keys[n]), '{}') FROM unnest(v_new) AS n), 1,
            p_registers => false);
    EXCEPTION WHEN unique_violation THEN
        -- A concurrent call has registered one of them.
        v_new := '{}';
    END;
    v_created := cardinality(v_new);
    FOR r IN SELECT n FROM generate_series(1, cardinality(p_keys)) AS n WHERE NOT n = ANY (v_new) ORDER BY n LOOP
        SELECT g.was_active INTO v_was_active FROM gateway.register_identity(
            p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_key => p_keys[r.n], p_identity => p_identities[r.n],
            p_device => p_devices[r.n], p_platform => p_platforms[r.n], p_environment => p_environments[r.n], p_token => p_tokens[r.n],
            p_user => p_users[r.n], p_name => p_names[r.n], p_phone => p_phones[r.n], p_raw_phone => p_raw_phones[r.n],
            p_replaces_phone => false, p_attributes => p_attributes[r.n]::json, p_at => p_at + r.n * interval '1 microsecond') g;
        v_created := v_created + (NOT v_was_active)::integer;
    END LOOP;
    RETURN QUERY SELECT v_created, cardinality(p_keys) - v_created;
END $$;

REVOKE ALL ON FUNCTION gateway.import_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_identities TO gateway_call, gateway_engine;
