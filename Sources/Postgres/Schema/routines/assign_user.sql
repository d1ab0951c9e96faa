-- Changes the user of an active identity: p_change is set, clear or keep. Returns no row if the identity does not exist. has_moved: the user is new on this
-- identity and was on another identity of the app and vendor before; the event also reports those of other vendors. p_exclusive: other identities of this user lose it, except those of a higher level. p_assurance
-- and p_moves are those of `register_identity`.
CREATE OR REPLACE FUNCTION gateway.assign_user(
    p_tenant text, p_app text, p_vendor text, p_key text, p_change text, p_user text, p_name text, p_phone text, p_exclusive boolean,
    p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow',
    p_at timestamptz DEFAULT NULL)
RETURNS TABLE (user_id text, has_moved boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i record;
    v_moved boolean := false;
    v_taken boolean := false;
    v_level smallint := p_assurance;
    v_expected boolean := false;
    v_kinds text[] := '{}';
    v_data json[] := '{}';
    v_now timestamptz := coalesce(p_at, now());
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT x.identity_id, x.user_id, x.phone, x.state, x.assurance, x.device_id INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND OR i.state <> 'active' THEN RETURN; END IF;
    IF p_change = 'set' THEN
        v_moved := i.user_id IS DISTINCT FROM p_user AND EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.user_id = p_user
                AND o.identity_id <> i.identity_id);
        IF p_assurance < 2 AND (i.assurance < 2 OR i.user_id IS DISTINCT FROM p_user) THEN
            v_expected := gateway.meet_expectation(p_tenant, p_app, p_user, coalesce(p_phone, i.phone), NULL, i.device_id);
            IF v_expected THEN p_assurance := 2; END IF;
        END IF;
        v_level := gateway.level_after(i.assurance, i.user_id, i.phone, p_user, p_phone, p_assurance);
        IF p_moves <> 'allow' AND (i.assurance = -1 OR i.user_id IS DISTINCT FROM p_user) THEN
            v_taken := gateway.is_taken(p_tenant, p_app, p_vendor, i.identity_id, i.device_id, p_user, NULL);
            IF p_moves = 'vouch' AND v_level = 0 AND v_taken THEN v_level := -1; END IF;
        END IF;
        IF p_exclusive THEN
            PERFORM gateway.lock_name(p_tenant, 'user', p_app || chr(31) || p_vendor || chr(31) || p_user);
            UPDATE gateway.identity SET user_id = NULL, name = NULL, user_since = v_now
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = p_user
                    AND identity_id <> i.identity_id AND state = 'active' AND assurance <= v_level;
        END IF;
        UPDATE gateway.identity SET user_id = p_user, name = coalesce(p_name, CASE WHEN user_id = p_user THEN name END),
                phone = coalesce(p_phone, phone), assurance = v_level, user_since = CASE WHEN user_id = p_user THEN user_since ELSE v_now END
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        IF p_moves <> 'allow' AND (v_moved OR v_taken AND i.user_id IS DISTINCT FROM p_user) THEN
            v_kinds := ARRAY['moved'];
            v_data := ARRAY[json_build_object('of', 'user', 'pending', v_level < 0)];
        END IF;
        IF v_expected THEN
            v_kinds := v_kinds || 'vouched'::text;
            v_data := v_data || json_build_object('by', 'expectation');
        END IF;
        PERFORM gateway.append_changes(
            p_tenant, v_kinds, array_fill(p_app, ARRAY[cardinality(v_kinds)]), array_fill(p_vendor, ARRAY[cardinality(v_kinds)]),
            array_fill(i.identity_id, ARRAY[cardinality(v_kinds)]), array_fill(i.device_id, ARRAY[cardinality(v_kinds)]), v_data);
        RETURN QUERY SELECT p_user, v_moved;
    ELSIF p_change = 'clear' THEN
        UPDATE gateway.identity SET user_id = NULL, name = NULL, assurance = p_assurance,
                user_since = CASE WHEN user_id IS NULL THEN user_since ELSE v_now END
            WHERE tenant_id = p_tenant AND identity_id = i.identity_id;
        RETURN QUERY SELECT NULL::text, false;
    ELSE
        RETURN QUERY SELECT i.user_id, false;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.assign_user FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.assign_user TO gateway_call, gateway_engine;
