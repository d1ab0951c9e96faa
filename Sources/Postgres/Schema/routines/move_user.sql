-- Moves everything kept of one user to another user and deletes the first one. The devices that are moved take over the second user's push settings. Groups
-- are changed in their order, the order in which erasures take them.
CREATE OR REPLACE FUNCTION gateway.move_user(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_group text;
    v_accepts boolean;
BEGIN
    FOR v_group IN
        SELECT m.group_name FROM gateway.group_member m
        WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.vendor = p_vendor AND m.user_id = p_from ORDER BY m.group_name
    LOOP
        PERFORM gateway.change_members(p_tenant, p_app, p_vendor, v_group, ARRAY[p_to], ARRAY[p_from]);
    END LOOP;
    SELECT p.accepts_push INTO v_accepts FROM gateway.user_profile p
        WHERE p.tenant_id = p_tenant AND p.app_id = p_app AND p.vendor = p_vendor AND p.user_id = p_to;
    -- A user without an id of its own is known to a device, which proves nothing about the other user.
    UPDATE gateway.identity SET user_id = p_to, accepts_push = coalesce(v_accepts, accepts_push), user_since = now(),
            assurance = CASE WHEN p_from LIKE 'alias:%' THEN 0 ELSE assurance END
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

REVOKE ALL ON FUNCTION gateway.move_user FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.move_user TO gateway_call, gateway_engine;
