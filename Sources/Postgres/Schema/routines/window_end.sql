-- The end of a window of at most p_limit identities behind p_after, over several vendors, and with one of several tags (null: with any tags or none). Each of
-- these walks gets its share of p_limit. The result is the nearest end among the walks that continue, or null if none does.
CREATE OR REPLACE FUNCTION gateway.window_end(p_tenant text, p_app text, p_vendors text[], p_tags text[], p_after uuid, p_limit integer)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_walks integer := cardinality(p_vendors) * coalesce(cardinality(p_tags), 1);
    v_each integer := 1 + (p_limit - 1) / greatest(v_walks, 1);
BEGIN
    IF p_tags IS NULL THEN
        RETURN (
            SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN LATERAL (
                SELECT i.identity_id AS id FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = v.name AND i.identity_id > p_after
                ORDER BY i.identity_id OFFSET v_each - 1 LIMIT 1) AS y
            ORDER BY y.id LIMIT 1);
    END IF;
    RETURN (
        SELECT y.id FROM unnest(p_vendors) AS v(name) CROSS JOIN unnest(p_tags) AS n(tag) CROSS JOIN LATERAL (
            SELECT t.identity_id AS id FROM gateway.identity_tag t
            WHERE t.tenant_id = p_tenant AND t.app_id = p_app AND t.vendor = v.name AND t.tag = n.tag AND t.identity_id > p_after
            ORDER BY t.identity_id OFFSET v_each - 1 LIMIT 1) AS y
        ORDER BY y.id LIMIT 1);
END $$;

REVOKE ALL ON FUNCTION gateway.window_end FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.window_end TO gateway_engine;
