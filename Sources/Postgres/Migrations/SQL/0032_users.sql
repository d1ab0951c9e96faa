-- Users as back ends describe them: attributes, further names, and what they did. Of every dialect.

-- A user with or without a device. `revision` counts its changes: whoever changes one says which he has read (`put_users`).
CREATE TABLE gateway.user_profile (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    -- Known by aliases only: the id is our own.
    is_anonymous boolean NOT NULL,
    -- What its devices were told; null: nothing.
    accepts_push boolean,
    attributes json NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.user_profile');
ALTER TABLE gateway.user_profile ADD FOREIGN KEY (tenant_id, app_id) REFERENCES gateway.app ON DELETE CASCADE;
-- For erasures, which go over all apps.
CREATE INDEX user_profile_user ON gateway.user_profile (tenant_id, user_id);

CREATE TABLE gateway.user_alias (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    label text NOT NULL,
    name text NOT NULL,
    user_id text NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, label, name)
);
SELECT gateway.colocate('gateway.user_alias');
ALTER TABLE gateway.user_alias ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
CREATE INDEX user_alias_user ON gateway.user_alias (tenant_id, app_id, vendor, user_id);

-- Events and purchases. The digest is of kind, name, time and data, so that what is told twice is there once, for as long as it is kept.
CREATE TABLE gateway.user_act (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    digest uuid NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    -- As the caller says, who may tell late.
    at timestamptz NOT NULL,
    data json NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, digest)
);
SELECT gateway.colocate('gateway.user_act');
ALTER TABLE gateway.user_act ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
-- For retention.
CREATE INDEX user_act_noted ON gateway.user_act (tenant_id, noted_at);

-- How often a user did what. Outlives the acts themselves.
CREATE TABLE gateway.user_tally (
    tenant_id text NOT NULL,
    app_id text NOT NULL,
    vendor text NOT NULL,
    user_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    count bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, app_id, vendor, user_id, kind, name)
) WITH (fillfactor = 80);
SELECT gateway.colocate('gateway.user_tally');
ALTER TABLE gateway.user_tally ADD FOREIGN KEY (tenant_id, app_id, vendor, user_id) REFERENCES gateway.user_profile ON DELETE CASCADE;
CREATE INDEX user_tally_noted ON gateway.user_tally (tenant_id, noted_at);

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['user_profile', 'user_alias', 'user_act', 'user_tally'] LOOP
        EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format(
            'CREATE POLICY tenant_only ON gateway.%I USING (tenant_id = current_setting(''gateway.tenant'', true)) '
                'WITH CHECK (tenant_id = current_setting(''gateway.tenant'', true))', v_table);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.%I TO gateway_call, gateway_engine', v_table);
    END LOOP;
END $$;

-- Everything of one batch. True: the same batch came before, and nothing is done.
--
-- Parallel arrays. Profiles: what they are from now on, and the revision that was read (0: there was none); where another call came first, nothing is
-- done and the caller reads again (40001). An alias that is somebody's stays; acts of those who were erased meanwhile are dropped. Moves: all that is
-- kept of one user becomes another's, who must have a profile.
CREATE FUNCTION gateway.put_users(
    p_tenant text, p_app text, p_vendor text, p_repeat text,
    p_users text[], p_anonymous boolean[], p_accepts boolean[], p_attributes text[], p_revisions bigint[],
    p_labels text[], p_names text[], p_named text[],
    p_actors text[], p_digests text[], p_kinds text[], p_acts text[], p_ats timestamptz[], p_data text[],
    p_from text[], p_to text[])
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_made bigint;
BEGIN
    IF p_repeat IS NOT NULL THEN
        INSERT INTO gateway.idempotency (tenant_id, app_id, vendor, key, body_hash, created_at)
            VALUES (p_tenant, p_app, p_vendor, 'users' || chr(31) || p_repeat, p_repeat, now()) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN RETURN true; END IF;
    END IF;
    -- In one order, so that two batches never wait for each other.
    PERFORM FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users || p_actors || p_from || p_to)
        ORDER BY p.user_id FOR UPDATE;
    UPDATE gateway.user_profile p SET attributes = u.attributes::json, accepts_push = u.accepts, is_anonymous = u.is_anonymous,
            revision = p.revision + 1, updated_at = now()
        FROM unnest(p_users, p_anonymous, p_accepts, p_attributes, p_revisions) AS u(user_id, is_anonymous, accepts, attributes, revision)
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = u.user_id AND p.revision = u.revision;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    INSERT INTO gateway.user_profile
            (tenant_id, app_id, vendor, user_id, is_anonymous, accepts_push, attributes, revision, created_at, updated_at)
        SELECT p_tenant, p_app, p_vendor, u.user_id, u.is_anonymous, u.accepts, u.attributes::json, 1, now(), now()
        FROM unnest(p_users, p_anonymous, p_accepts, p_attributes, p_revisions) AS u(user_id, is_anonymous, accepts, attributes, revision)
        WHERE u.revision = 0 ORDER BY u.user_id
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_made = ROW_COUNT;
    IF v_count + v_made <> cardinality(p_users) THEN
        RAISE EXCEPTION 'a user changed meanwhile' USING ERRCODE = '40001';
    END IF;
    UPDATE gateway.identity i SET accepts_push = u.accepts
        FROM unnest(p_users, p_accepts) AS u(user_id, accepts)
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = u.user_id
            AND u.accepts IS NOT NULL AND i.accepts_push <> u.accepts;
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
            JOIN gateway.user_profile p
                ON p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = u.user_id
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

-- What is kept of one user becomes another's, and the first is no more.
CREATE FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.identity SET user_id = p_to
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    UPDATE gateway.user_alias SET user_id = p_to
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
    INSERT INTO gateway.user_act (tenant_id, app_id, vendor, user_id, digest, kind, name, at, data, noted_at)
        SELECT p_tenant, a.app_id, a.vendor, p_to, a.digest, a.kind, a.name, a.at, a.data, a.noted_at FROM gateway.user_act a
        WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.vendor = p_vendor AND a.user_id = p_from
        ON CONFLICT DO NOTHING;
    INSERT INTO gateway.user_tally AS t (tenant_id, app_id, vendor, user_id, kind, name, count, first_at, last_at, noted_at)
        SELECT p_tenant, o.app_id, o.vendor, p_to, o.kind, o.name, o.count, o.first_at, o.last_at, o.noted_at FROM gateway.user_tally o
        WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_from
        ON CONFLICT (tenant_id, app_id, vendor, user_id, kind, name) DO UPDATE SET count = t.count + excluded.count,
            first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
            noted_at = greatest(t.noted_at, excluded.noted_at);
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_from;
END $$;

-- Erases users of one dialect of an app: groups, identities, devices that nobody else uses, and what is kept of them. Returns how many there were.
CREATE FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_identities uuid[];
    v_devices uuid[];
    v_known text[];
    g record;
BEGIN
    PERFORM FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        ORDER BY p.user_id FOR UPDATE;
    SELECT coalesce(array_agg(DISTINCT k.user_id), '{}') INTO v_known FROM (
        SELECT p.user_id FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        UNION ALL
        SELECT i.user_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = ANY (p_users)) AS k;
    IF cardinality(v_known) = 0 THEN RETURN 0; END IF;
    FOR g IN
        SELECT m.group_name, array_agg(m.user_id) AS users FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.user_id = ANY (p_users)
        GROUP BY m.group_name ORDER BY m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, p_app, p_vendor, g.group_name, '{}', g.users);
    END LOOP;
    SELECT coalesce(array_agg(i.identity_id), '{}') INTO v_identities FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = ANY (p_users);
    SELECT coalesce(array_agg(DISTINCT i.device_id), '{}') INTO v_devices FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) AND i.device_id IS NOT NULL AND NOT EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.device_id = i.device_id AND o.identity_id <> ALL (v_identities));
    IF cardinality(v_identities) > 0 THEN
        PERFORM gateway.erase_rows(p_tenant, v_devices, v_identities);
    END IF;
    DELETE FROM gateway.user_profile
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor
        AND holder = ANY (SELECT 'user:' || u FROM unnest(p_users) AS u);
    DELETE FROM gateway.campaign_mark
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    PERFORM gateway.write_audit(
        p_tenant, p_actor, array_agg('erase'::text), array_agg('user ' || u ORDER BY u), array_agg('{}'::text)) FROM unnest(v_known) AS u;
    RETURN cardinality(v_known);
END $$;

-- As in 0019; new: profiles, with all that hangs on them.
CREATE OR REPLACE FUNCTION gateway.forget_user(p_tenant text, p_user text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.badge_mark WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.campaign_mark WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND user_id = p_user;
END $$;

REVOKE ALL ON FUNCTION gateway.put_users, gateway.move_user, gateway.erase_users FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.put_users, gateway.move_user, gateway.erase_users TO gateway_call, gateway_engine;
