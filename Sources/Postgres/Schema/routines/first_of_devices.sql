-- Filters p_ids, keeping their order, to the first matching active identity of each device: matching the terms, or, where p_tags is null, all of them. The
-- first one is that of the highest level, and of several the smallest. p_vendor: only identities of this dialect match; native: of all.
CREATE OR REPLACE FUNCTION gateway.first_of_devices(
    p_tenant text, p_app text, p_tags text[], p_cares bigint[], p_wants bigint[], p_ids uuid[],
    p_vendor text DEFAULT 'native')
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_later uuid[];
BEGIN
    -- Read after p_ids: every identity that is visible there has set `shares_devices` before.
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND shares_devices;
    IF NOT FOUND THEN RETURN p_ids; END IF;
    v_later := ARRAY(
        SELECT c.id FROM unnest(p_ids) AS c(id)
        CROSS JOIN LATERAL (
            SELECT i.device_id, i.assurance FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = c.id OFFSET 0) AS i
        CROSS JOIN LATERAL (
            SELECT s.identity_id FROM gateway.identity s
            WHERE s.tenant_id = p_tenant AND s.device_id = i.device_id AND s.identity_id <> c.id AND s.state = 'active' AND (p_vendor = 'native' OR s.vendor = p_vendor)
                AND (s.assurance > i.assurance OR s.assurance = i.assurance AND s.identity_id < c.id) OFFSET 0) AS o
        WHERE p_tags IS NULL OR EXISTS (
            SELECT FROM (
                SELECT coalesce(bit_or(1::bigint << (array_position(p_tags, t.tag) - 1)), 0) AS bits FROM gateway.identity_tag t
                WHERE t.tenant_id = p_tenant AND t.identity_id = o.identity_id AND t.tag = ANY (p_tags)) AS h
            CROSS JOIN unnest(p_cares, p_wants) AS w(cares, wants) WHERE h.bits & w.cares = w.wants));
    IF cardinality(v_later) = 0 THEN RETURN p_ids; END IF;
    RETURN ARRAY(SELECT unnest(p_ids) EXCEPT SELECT unnest(v_later) ORDER BY 1);
END $$;

REVOKE ALL ON FUNCTION gateway.first_of_devices FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.first_of_devices TO gateway_engine;
