-- The identities behind p_after up to p_end, in their order, whose tags match one pair (cares, wants) of the terms; each of p_tags is a bit.
-- p_anchors: every match has at least one of these tags; null: no such tags. A tag with more than p_most entries in the window is looked up for each
-- identity instead. Without terms, all identities with an anchor match, or, without anchors, all identities.
CREATE OR REPLACE FUNCTION gateway.in_window(
    p_tenant text, p_app text, p_vendors text[], p_anchors text[], p_tags text[], p_cares bigint[], p_wants bigint[], p_after uuid, p_end uuid,
    p_most integer)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_many text[];
    v_meant text;
    v_ids uuid[];
BEGIN
    IF p_cares IS NULL AND p_anchors IS NULL THEN
        RETURN ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after AND i.identity_id <= p_end
                OFFSET 0) AS y
            ORDER BY y.id);
    ELSIF p_cares IS NULL THEN
        v_ids := ARRAY(
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_anchors) AS a(tag) CROSS JOIN LATERAL (
                SELECT t.identity_id AS id FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = a.tag
                    AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
            ORDER BY y.id);
        RETURN CASE WHEN cardinality(p_anchors) = 1 THEN v_ids ELSE ARRAY(SELECT DISTINCT unnest(v_ids) ORDER BY 1) END;
    END IF;
    v_many := ARRAY(
        SELECT n.tag FROM unnest(p_tags) AS n(tag)
        WHERE n.tag <> ALL (coalesce(p_anchors, '{}')) AND p_most < (
            SELECT count(*) FROM (
                SELECT FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > p_after AND t.identity_id <= p_end OFFSET 0) AS y
                LIMIT p_most + 1) AS x));
    -- The terms become part of a dynamic statement, whose text contains only their numbers. OFFSET 0 keeps the planner from other kinds of joins.
    SELECT string_agg(format('bit_or(e.bit) & %s = %s', c.cares, c.wants), ' OR ') INTO v_meant
        FROM unnest(p_cares, p_wants) AS c(cares, wants);
    EXECUTE $q$
        SELECT ARRAY(
            SELECT e.id FROM (
                SELECT y.id, 0::bigint AS bit FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT i.identity_id AS id FROM gateway.identity i
                    WHERE i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name AND i.identity_id > $7 AND i.identity_id <= $8 OFFSET 0) AS y
                WHERE $4 IS NULL
                UNION ALL
                SELECT y.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN unnest($3) AS v(name) CROSS JOIN LATERAL (
                    SELECT t.identity_id AS id FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.app_id = $2 AND t.vendor = v.name AND t.tag = n.tag
                        AND t.identity_id > $7 AND t.identity_id <= $8 OFFSET 0) AS y
                WHERE n.tag <> ALL ($6)
                UNION ALL
                SELECT c.id, 1::bigint << (n.place - 1)::integer
                FROM unnest($5) WITH ORDINALITY AS n(tag, place) CROSS JOIN LATERAL (
                    SELECT DISTINCT y.id FROM unnest($3) AS v(name) CROSS JOIN LATERAL (
                        SELECT i.identity_id AS id FROM gateway.identity i
                        WHERE $4 IS NULL AND i.tenant_id = $1 AND i.app_id = $2 AND i.vendor = v.name
                            AND i.identity_id > $7 AND i.identity_id <= $8
                        UNION ALL
                        SELECT t.identity_id FROM unnest($4) AS a(tag) CROSS JOIN LATERAL (
                            SELECT o.identity_id FROM gateway.identity_tag o
                            WHERE o.tenant_id = $1 AND o.app_id = $2 AND o.vendor = v.name AND o.tag = a.tag
                                AND o.identity_id > $7 AND o.identity_id <= $8 OFFSET 0) AS t
                        OFFSET 0) AS y
                    OFFSET 0) AS c
                CROSS JOIN LATERAL (
                    SELECT FROM gateway.identity_tag t
                    WHERE t.tenant_id = $1 AND t.identity_id = c.id AND t.tag = n.tag OFFSET 0) AS h
                WHERE n.tag = ANY ($6)) AS e
            GROUP BY e.id HAVING $q$ || coalesce(v_meant, 'false') || $q$ ORDER BY e.id)$q$
        INTO v_ids USING p_tenant, p_app, p_vendors, p_anchors, p_tags, v_many, p_after, p_end;
    RETURN v_ids;
END $$;

REVOKE ALL ON FUNCTION gateway.in_window FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.in_window TO gateway_engine;
