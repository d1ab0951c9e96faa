-- Erases a user: membership in groups, expected registrations, every identity, with or without a device, every device, and all other data of the user. Returns
-- the number of identities.
CREATE OR REPLACE FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[];
    v_identities uuid[];
    v_count bigint := 0;
    v_groups integer := 0;
    v_expected integer;
    v_apps text[];
    v_vendors text[];
    v_keys text[];
    g record;
BEGIN
    DELETE FROM gateway.expected_user e USING gateway.app a
        WHERE a.tenant_id = p_tenant AND e.tenant_id = p_tenant AND e.app_id = a.app_id AND e.user_id = p_user;
    GET DIAGNOSTICS v_expected = ROW_COUNT;
    FOR g IN
        SELECT m.app_id, m.vendor, m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.user_id = p_user ORDER BY m.app_id, m.vendor, m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, g.app_id, g.vendor, g.group_name, '{}', ARRAY[p_user]);
        v_groups := v_groups + 1;
    END LOOP;
    -- App by app, because the index begins with the app: without it, every identity of the tenant would be read.
    SELECT array_agg(DISTINCT i.device_id), array_agg(i.identity_id) INTO v_devices, v_identities
        FROM gateway.app a JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.app_id = a.app_id
        WHERE a.tenant_id = p_tenant AND i.user_id = p_user;
    IF v_identities IS NOT NULL THEN
        SELECT array_agg(i.app_id), array_agg(i.vendor), array_agg(i.key) INTO v_apps, v_vendors, v_keys FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (v_devices) OR i.identity_id = ANY (v_identities));
        v_count := gateway.erase_rows(p_tenant, array_remove(v_devices, NULL), v_identities);
    END IF;
    PERFORM gateway.forget_user(p_tenant, p_user);
    IF v_identities IS NOT NULL OR v_groups > 0 OR v_expected > 0 THEN
        PERFORM gateway.write_audit(
            p_tenant, p_actor, ARRAY['erase'], ARRAY['user ' || p_user],
            ARRAY[json_build_object('devices', v_count, 'identities', coalesce(cardinality(v_identities), 0), 'groups', v_groups)::text]);
    END IF;
    -- Also if nothing was found: the audit may name the user, for example for an expectation that has ended, and calls about the user may wait.
    PERFORM gateway.forget_subjects(p_tenant, ARRAY['user ' || p_user]);
    PERFORM gateway.forget_forwarded(
        p_tenant, array_append(v_apps, NULL::text), array_append(v_vendors, NULL::text), array_append(v_keys, p_user));
    RETURN coalesce(cardinality(v_identities), 0);
END $$;

REVOKE ALL ON FUNCTION gateway.erase_user FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.erase_user TO gateway_call, gateway_engine;
