-- The targets of the variants of p_ids that p_choice matches, in the order of p_ids. p_choice: {"tags": […], "cares": […], "wants": […]}, as in `TagTerms`. A
-- variant has its own tags and those of its identity.
CREATE OR REPLACE FUNCTION gateway.fan_out(p_tenant text, p_ids uuid[], p_choice jsonb) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_tags text[] := ARRAY(SELECT jsonb_array_elements_text(p_choice->'tags'));
    v_cares bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'cares') AS x);
    v_wants bigint[] := ARRAY(SELECT x::bigint FROM jsonb_array_elements_text(p_choice->'wants') AS x);
    v_targets uuid[] := '{}';
    v record;
BEGIN
    -- Rows of variants that are no longer registered are deleted: callers choose the names, so the rows would grow without bound.
    DELETE FROM gateway.variant o WHERE o.tenant_id = p_tenant AND o.identity_id = ANY (p_ids) AND NOT EXISTS (
        SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = o.identity_id
            AND (i.attributes->'variants')::jsonb ? o.name);
    FOR v IN
        SELECT a.place, i.identity_id, e.key AS name, md5(i.identity_id::text || chr(31) || e.key)::uuid AS target_id
        FROM unnest(p_ids) WITH ORDINALITY AS a(identity_id, place)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = a.identity_id
        CROSS JOIN LATERAL jsonb_each(
            CASE json_typeof(i.attributes->'variants') WHEN 'object' THEN (i.attributes->'variants')::jsonb ELSE '{}' END) AS e
        CROSS JOIN LATERAL (
            SELECT coalesce(bit_or(1::bigint << (n.place - 1)::integer), 0) AS bits
            FROM unnest(v_tags) WITH ORDINALITY AS n(tag, place)
            WHERE e.value ? n.tag OR EXISTS (
                SELECT FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = i.identity_id AND t.tag = n.tag)) AS b
        WHERE EXISTS (SELECT FROM unnest(v_cares, v_wants) AS c(cares, wants) WHERE b.bits & c.cares = c.wants)
        ORDER BY a.place, e.key
    LOOP
        INSERT INTO gateway.variant (tenant_id, target_id, identity_id, name)
            VALUES (p_tenant, v.target_id, v.identity_id, v.name) ON CONFLICT DO NOTHING;
        v_targets := v_targets || v.target_id;
    END LOOP;
    RETURN v_targets;
END $$;

REVOKE ALL ON FUNCTION gateway.fan_out FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.fan_out TO gateway_engine;
