-- Erases users of one vendor of an app: groups, identities, devices that no other identity uses, and all other data of the users. Returns how many users
-- there were.
CREATE OR REPLACE FUNCTION gateway.erase_users(p_tenant text, p_app text, p_vendor text, p_users text[], p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_identities uuid[];
    v_devices uuid[];
    v_known text[];
    v_expected text[];
    v_keys text[];
    -- The holders that no other dialect of the app knows.
    v_gone text[];
    g record;
BEGIN
    WITH r AS (
        DELETE FROM gateway.expected_user WHERE tenant_id = p_tenant AND app_id = p_app AND user_id = ANY (p_users) RETURNING user_id)
    SELECT array_agg(r.user_id) INTO v_expected FROM r;
    PERFORM FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        ORDER BY p.user_id FOR UPDATE;
    SELECT coalesce(array_agg(DISTINCT k.user_id), '{}') INTO v_known FROM (
        SELECT p.user_id FROM gateway.user_profile p
            WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = ANY (p_users)
        UNION ALL
        SELECT i.user_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.user_id = ANY (p_users)
        UNION ALL
        SELECT u FROM unnest(v_expected) AS u) AS k;
    IF cardinality(v_known) = 0 THEN
        PERFORM gateway.forget_subjects(p_tenant, ARRAY(SELECT 'user ' || u FROM unnest(p_users) AS u ORDER BY u));
        PERFORM gateway.forget_forwarded(
            p_tenant, array_fill(p_app, ARRAY[cardinality(p_users)]), array_fill(p_vendor, ARRAY[cardinality(p_users)]), p_users);
        RETURN 0;
    END IF;
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
    SELECT coalesce(array_agg(i.key), '{}') INTO v_keys FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities);
    IF cardinality(v_identities) > 0 THEN
        PERFORM gateway.erase_rows(p_tenant, v_devices, v_identities);
    END IF;
    PERFORM gateway.forget_answers(p_tenant, v_known);
    DELETE FROM gateway.message_variable v USING gateway.message m
        WHERE v.tenant_id = p_tenant AND v.user_id = ANY (p_users)
            AND m.tenant_id = p_tenant AND m.message_id = v.message_id AND m.app_id = p_app AND m.vendor = p_vendor;
    DELETE FROM gateway.user_profile
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    -- A message of the native API, or of another dialect, has a mark too if it was read in this one. It stays if it can be that of other devices of the user.
    v_gone := ARRAY(
        SELECT 'user:' || u FROM unnest(p_users) AS u WHERE NOT EXISTS (
            SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.user_id = u OFFSET 0));
    -- Marks before badges, the order in which every function takes them.
    DELETE FROM gateway.badge_mark k USING gateway.message m
        WHERE k.tenant_id = p_tenant AND k.holder = ANY (ARRAY(SELECT 'user:' || u FROM unnest(p_users) AS u))
            AND m.tenant_id = p_tenant AND m.message_id = k.message_id AND m.app_id = p_app AND (m.vendor = p_vendor OR k.holder = ANY (v_gone));
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor
        AND holder = ANY (ARRAY(SELECT 'user:' || u FROM unnest(p_users) AS u));
    DELETE FROM gateway.campaign_mark
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND user_id = ANY (p_users);
    PERFORM gateway.write_audit(
        p_tenant, p_actor, array_agg('erase'::text), array_agg('user ' || u ORDER BY u), array_agg('{}'::text)) FROM unnest(v_known) AS u;
    PERFORM gateway.forget_subjects(p_tenant, array_agg('user ' || u ORDER BY u)) FROM unnest(v_known) AS u;
    -- Also those who are unknown: calls about them may wait.
    v_keys := v_keys || p_users;
    PERFORM gateway.forget_forwarded(
        p_tenant, array_fill(p_app, ARRAY[cardinality(v_keys)]), array_fill(p_vendor, ARRAY[cardinality(v_keys)]), v_keys);
    RETURN cardinality(v_known);
END $$;

REVOKE ALL ON FUNCTION gateway.erase_users FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.erase_users TO gateway_call, gateway_engine;
