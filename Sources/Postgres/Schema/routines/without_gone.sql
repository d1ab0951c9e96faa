-- Filters p_ids, keeping their order, to the identities that are still active.
CREATE OR REPLACE FUNCTION gateway.without_gone(p_tenant text, p_app text, p_ids uuid[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_most integer := 4 * cardinality(p_ids);
    v_gone uuid[];
BEGIN
    v_gone := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.state <> 'active'
            AND i.identity_id >= p_ids[1] AND i.identity_id <= p_ids[cardinality(p_ids)] LIMIT v_most + 1);
    IF cardinality(v_gone) > v_most THEN
        v_gone := ARRAY(
            SELECT c.id FROM unnest(p_ids) AS c(id) CROSS JOIN LATERAL (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.identity_id = c.id AND i.state <> 'active' OFFSET 0) AS y);
    END IF;
    IF cardinality(v_gone) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_gone) ORDER BY 1);
END $$;

REVOKE ALL ON FUNCTION gateway.without_gone FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.without_gone TO gateway_engine;
