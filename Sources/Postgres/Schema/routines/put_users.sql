-- Writes one batch of changes to users. Returns true if the same batch was written before, and then changes nothing.
--
-- All arguments are parallel arrays. A profile has its new content and the revision that was read (0: no profile existed). If another call has changed a
-- profile since, nothing is done and the caller must read again (40001). An alias that belongs to another user stays; acts of users who were erased meanwhile
-- are dropped. A move transfers all data of one user to another, who must have a profile.
--
-- Profiles are locked one by one along the whole key and written by one statement each, which uses the primary key whatever the statistics say.
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
    -- Locked in one order, so that two batches cannot deadlock.
    FOR v_user IN SELECT DISTINCT u.user_id FROM unnest(p_users || p_actors || p_from || p_to) AS u(user_id) ORDER BY 1 LOOP
        PERFORM FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = v_user FOR UPDATE;
    END LOOP;
    -- A profile that was erased since it was read is not created again, and one that was created since is not overwritten.
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

REVOKE ALL ON FUNCTION gateway.put_users FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_users TO gateway_call, gateway_engine;
