-- `assign_user` for several identities of one app and vendor, without repeated keys and never exclusive. p_moves is allow or notify. Returns one row per key,
-- in order. A user who is expected (`expected_user`) is assigned by `assign_user`: the row has no ordinal, and nothing is changed.
CREATE OR REPLACE FUNCTION gateway.assign_users(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_changes text[], p_users text[], p_names text[], p_phones text[],
    p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow',
    p_at timestamptz[] DEFAULT NULL)
RETURNS TABLE (user_id text, ordinal bigint, has_moved boolean)
LANGUAGE plpgsql SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    v record;
    v_taken boolean[];
    v_count bigint;
    v_now timestamptz := now();
BEGIN
    PERFORM gateway.lock_names(p_tenant, 'key', ARRAY(SELECT p_app || chr(31) || p_vendor || chr(31) || u.key FROM unnest(p_keys) AS u(key)));
    -- A user that appears twice in the arrays has two devices, whichever comes first.
    SELECT array_agg(i.identity_id ORDER BY u.o) AS ids,
            array_agg(CASE u.change WHEN 'set' THEN u.user_id WHEN 'keep' THEN i.user_id END ORDER BY u.o) AS users,
            array_agg(u.change = 'set' AND i.user_id IS DISTINCT FROM u.user_id AND (u.turn > 1 OR EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = u.user_id
                    AND o.identity_id <> i.identity_id OFFSET 0)) ORDER BY u.o) AS moved,
            array_agg(i.device_id ORDER BY u.o) AS devices, array_agg(i.user_id ORDER BY u.o) AS old
        INTO v FROM (
            SELECT x.*, row_number() OVER (PARTITION BY x.change, x.user_id ORDER BY x.o) AS turn
            FROM unnest(p_keys, p_changes, p_users) WITH ORDINALITY AS x(key, change, user_id, o)) AS u
        LEFT JOIN LATERAL (
            SELECT x.identity_id, x.user_id, x.device_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key AND x.state = 'active'
                AND NOT (p_assurance < 2 AND u.change = 'set' AND EXISTS (
                    SELECT FROM gateway.expected_user e
                    WHERE e.tenant_id = p_tenant AND e.app_id = p_app AND e.user_id = u.user_id AND e.ends_at > now())) OFFSET 0) AS i ON true;
    -- Apart from the statement above, because on Citus a statement on the tables of a tenant runs where `is_taken` does not exist.
    IF p_moves <> 'allow' THEN
        v_taken := ARRAY(
            SELECT u.change = 'set' AND u.old IS DISTINCT FROM u.user_id
                AND gateway.is_taken(p_tenant, p_app, p_vendor, u.id, u.device, u.user_id, NULL)
            FROM unnest(v.ids, v.devices, v.old, p_changes, p_users) WITH ORDINALITY AS u(id, device, old, change, user_id, o) ORDER BY u.o);
    END IF;
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v.ids) ORDER BY i.identity_id FOR UPDATE;
    WITH r AS (
        UPDATE gateway.identity i SET user_id = u.user_id, phone = coalesce(u.phone, i.phone),
                name = CASE WHEN u.change = 'set' THEN coalesce(u.name, CASE WHEN i.user_id = u.user_id THEN i.name END) END,
                assurance = CASE WHEN u.change = 'clear' THEN p_assurance ELSE gateway.level_after(
                    i.assurance, i.user_id, i.phone, u.user_id, u.phone, p_assurance) END,
                user_since = CASE WHEN i.user_id = u.user_id THEN i.user_since ELSE coalesce(u.at, v_now) END
            FROM unnest(v.ids, p_changes, v.users, p_names, p_phones, p_at) AS u(id, change, user_id, name, phone, at)
            WHERE u.change <> 'keep' AND i.tenant_id = p_tenant AND i.identity_id = u.id
                AND (i.user_id IS DISTINCT FROM u.user_id OR u.change = 'clear' AND i.name IS NOT NULL
                    OR u.name IS NOT NULL AND u.name IS DISTINCT FROM i.name OR u.phone IS NOT NULL AND u.phone IS DISTINCT FROM i.phone
                    OR p_assurance > i.assurance)
            RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    IF p_moves <> 'allow' AND true = ANY (v.moved || v_taken) THEN
        PERFORM gateway.append_changes(
            p_tenant, array_agg('moved'::text), array_agg(p_app), array_agg(p_vendor), array_agg(u.id ORDER BY u.o), NULL,
            array_agg(json_build_object('of', 'user', 'pending', false)))
            FROM unnest(v.ids, v.moved, v_taken) WITH ORDINALITY AS u(id, moved, taken, o)
            WHERE (u.moved OR u.taken) AND u.id IS NOT NULL
            HAVING count(*) > 0;
    END IF;
    RETURN QUERY SELECT u.user_id, CASE WHEN u.id IS NOT NULL THEN u.o END, u.moved
        FROM unnest(v.ids, v.users, v.moved) WITH ORDINALITY AS u(id, user_id, moved, o) ORDER BY u.o;
END $$;

REVOKE ALL ON FUNCTION gateway.assign_users FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.assign_users TO gateway_call;
