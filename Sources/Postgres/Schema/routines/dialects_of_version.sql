-- The dialects that a version of an app's rules prefers for messages of a lane: `preferDialects` of the first delivery rule that has some and matches the lane.
-- p_lane: the name of the lane, as rules spell it.
CREATE OR REPLACE FUNCTION gateway.dialects_of_version(p_tenant text, p_app text, p_version integer, p_lane text)
RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_rule json;
BEGIN
    -- The rules of the overlay come first.
    SELECT x.rule INTO v_rule FROM gateway.route_set r
        CROSS JOIN LATERAL (
            SELECT 1 AS part, o.no, o.rule FROM json_array_elements(r.overlay->'deliveries') WITH ORDINALITY AS o(rule, no)
            UNION ALL
            SELECT 2, b.no, b.rule FROM json_array_elements(r.base->'deliveries') WITH ORDINALITY AS b(rule, no)) AS x
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.version = p_version
            AND json_array_length(x.rule->'preferDialects') > 0
            AND (x.rule->>'lane' IS NULL OR x.rule->>'lane' = p_lane)
        ORDER BY x.part, x.no LIMIT 1;
    RETURN ARRAY(SELECT json_array_elements_text(v_rule->'preferDialects'));
END $$;

REVOKE ALL ON FUNCTION gateway.dialects_of_version FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.dialects_of_version TO gateway_call, gateway_engine;
