-- Removes users from a group, then adds others; returns no row if the group does not exist. Holds the group's row lock, so that a deletion of the group waits
-- for the counts. Changes users one by one in their order, then the buckets of the count in theirs: concurrent changes wait for each other and cannot
-- deadlock, as one DELETE and one INSERT of a set could.
CREATE OR REPLACE FUNCTION gateway.change_members(
    p_tenant text, p_app text, p_vendor text, p_group text, p_add text[], p_remove text[])
RETURNS TABLE (added bigint, removed bigint) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    v_added text[] := '{}';
    v_removed text[] := '{}';
BEGIN
    PERFORM FROM gateway.user_group
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group FOR KEY SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    FOR r IN
        SELECT x.name, bool_or(x.leaves) AS leaves, bool_or(NOT x.leaves) AS enters
        FROM (SELECT unnest(p_remove) AS name, true AS leaves UNION ALL SELECT unnest(p_add), false) AS x
        GROUP BY x.name ORDER BY x.name
    LOOP
        IF r.leaves THEN
            DELETE FROM gateway.group_member
                WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND group_name = p_group AND user_id = r.name;
            IF FOUND THEN v_removed := v_removed || r.name; END IF;
        END IF;
        IF r.enters THEN
            INSERT INTO gateway.group_member (tenant_id, app_id, vendor, group_name, user_id)
                VALUES (p_tenant, p_app, p_vendor, p_group, r.name) ON CONFLICT DO NOTHING;
            IF FOUND THEN v_added := v_added || r.name; END IF;
        END IF;
    END LOOP;
    INSERT INTO gateway.group_count AS c (tenant_id, app_id, vendor, group_name, bucket, members)
        SELECT p_tenant, p_app, p_vendor, p_group, (hashtext(d.user_id) & 15)::smallint, sum(d.delta)
        FROM (SELECT unnest(v_added) AS user_id, 1 AS delta UNION ALL SELECT unnest(v_removed), -1) AS d GROUP BY 5 ORDER BY 5
        ON CONFLICT (tenant_id, app_id, vendor, group_name, bucket) DO UPDATE SET members = c.members + excluded.members;
    RETURN QUERY SELECT cardinality(v_added)::bigint, cardinality(v_removed)::bigint;
END $$;

REVOKE ALL ON FUNCTION gateway.change_members FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.change_members TO gateway_call, gateway_engine;
