-- Filters p_ids to the active identities that users or groups of an audience select, without those whose user has an identity of a higher level in the app,
-- unless the app's `mixedAssurance` includes them. The native API sends to all vendors' identities, but only once to each device; so does a vendor's send with
-- p_crosses, to the members of its own dialect's groups.
CREATE OR REPLACE FUNCTION gateway.meant(
    p_tenant text, p_app text, p_vendor text, p_audience json, p_ids uuid[], p_crosses boolean DEFAULT false)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_groups text[];
    v_users text[];
    v_ids uuid[];
    v_mixes boolean;
BEGIN
    SELECT a.defaults->>'mixedAssurance' = 'true' INTO v_mixes FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app;
    IF p_audience->'groups' IS NOT NULL THEN
        v_groups := ARRAY(SELECT json_array_elements_text(p_audience->'groups'));
    ELSE
        v_users := ARRAY(SELECT json_array_elements_text(p_audience->'users'));
    END IF;
    -- Subqueries, an aggregate and OFFSET 0 in place of joins and LIMIT: while the table has no statistics the planner takes the index that matches most
    -- columns, and must have no choice but the candidate's key and its device.
    SELECT array_agg(c.id ORDER BY c.place) INTO v_ids FROM unnest(p_ids) WITH ORDINALITY AS c(id, place)
    WHERE c.id = (
        SELECT (array_agg(o.identity_id ORDER BY o.assurance DESC, o.identity_id))[1] FROM (
            SELECT i.identity_id, i.user_id, i.assurance FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state = 'active'
            UNION ALL
            SELECT s.identity_id, s.user_id, s.assurance FROM gateway.identity i
            JOIN gateway.identity s ON s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id <> i.identity_id
            WHERE (p_crosses OR p_vendor = 'native') AND i.tenant_id = p_tenant AND i.identity_id = c.id AND s.state = 'active'
            OFFSET 0) AS o
        WHERE (v_users IS NULL OR o.user_id = ANY (v_users))
            AND (v_mixes IS TRUE OR NOT EXISTS (
                SELECT FROM gateway.identity h
                WHERE h.tenant_id = p_tenant AND h.app_id = p_app AND h.user_id = o.user_id AND h.assurance > o.assurance
                    AND h.assurance > 0 AND h.state = 'active'))
            AND (v_groups IS NULL OR EXISTS (
                SELECT FROM gateway.group_member n
                WHERE n.tenant_id = p_tenant AND n.app_id = p_app AND n.vendor = p_vendor AND n.group_name = ANY (v_groups)
                    AND n.user_id = o.user_id)));
    RETURN coalesce(v_ids, '{}');
END $$;

REVOKE ALL ON FUNCTION gateway.meant FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.meant TO gateway_call, gateway_engine;
