-- The next p_limit identities of users or of groups' members, and the position of the walk behind them. Goes user by user in the order of their ids, so
-- that a member of two groups comes once; within a user by (vendor, identity). p_crosses: identities of all dialects, as for the native API.
CREATE OR REPLACE FUNCTION gateway.next_candidates(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_limit integer,
    INOUT io_user text, INOUT io_dialect text, INOUT io_after uuid, OUT o_ids uuid[], OUT o_ended boolean,
    p_crosses boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    v_zero uuid := '00000000-0000-0000-0000-000000000000';
    v_names text[];
    v_users text[];
    v_user text;
    v_found uuid[];
    v_dialects text[];
BEGIN
    o_ids := '{}';
    -- At most p_limit users, because a user without a device costs a lookup too.
    IF p_audience->'groups' IS NOT NULL THEN
        v_names := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
        SELECT array_agg(w.user_id ORDER BY w.user_id) INTO v_users FROM (
            SELECT DISTINCT x.user_id FROM unnest(v_names) AS g(name)
            CROSS JOIN LATERAL (
                SELECT n.user_id FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = g.name
                    AND n.user_id > coalesce(io_user, '')
                ORDER BY n.user_id LIMIT p_limit) AS x
            ORDER BY x.user_id LIMIT p_limit) AS w;
    ELSE
        SELECT array_agg(w.name ORDER BY w.name) INTO v_users FROM (
            SELECT DISTINCT u.name FROM json_array_elements_text(p_audience->'users') AS u(name)
            WHERE u.name > coalesce(io_user, '') ORDER BY u.name LIMIT p_limit) AS w;
    END IF;
    o_ended := coalesce(cardinality(v_users), 0) < p_limit;
    IF io_after IS NOT NULL THEN v_users := array_prepend(io_user, v_users); END IF;
    FOREACH v_user IN ARRAY coalesce(v_users, '{}') LOOP
        IF io_user IS DISTINCT FROM v_user OR io_after IS NULL THEN
            io_dialect := '';
            io_after := v_zero;
        END IF;
        io_user := v_user;
        SELECT array_agg(x.identity_id ORDER BY x.vendor, x.identity_id), array_agg(x.vendor ORDER BY x.vendor, x.identity_id)
            INTO v_found, v_dialects FROM (
            SELECT i.vendor, i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.user_id = v_user AND (p_crosses OR p_vendor IN ('native', i.vendor))
                AND (i.vendor, i.identity_id) > (io_dialect, io_after)
            ORDER BY i.vendor, i.identity_id LIMIT p_limit - cardinality(o_ids)) AS x;
        o_ids := o_ids || v_found;
        IF cardinality(o_ids) >= p_limit THEN
            io_dialect := v_dialects[cardinality(v_dialects)];
            io_after := v_found[cardinality(v_found)];
            o_ended := false;
            RETURN;
        END IF;
        io_dialect := NULL;
        io_after := NULL;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.next_candidates FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.next_candidates TO gateway_engine;
