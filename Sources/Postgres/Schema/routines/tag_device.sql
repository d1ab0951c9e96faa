-- Replaces the tags of every active identity on a device, and returns the number of identities. Tags that the gateway sets itself stay: without its platform
-- and names an identity would match no audience of its vendor.
CREATE OR REPLACE FUNCTION gateway.tag_device(p_tenant text, p_device uuid, p_tags text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_id uuid;
    v_own text[];
BEGIN
    SELECT array_agg(identity_id ORDER BY identity_id) INTO v_ids FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = p_device AND state = 'active';
    FOREACH v_id IN ARRAY coalesce(v_ids, '{}') LOOP
        SELECT array_agg(t.tag) INTO v_own FROM gateway.identity_tag t
            WHERE t.tenant_id = p_tenant AND t.identity_id = v_id AND starts_with(t.tag, '$') AND EXISTS (
                SELECT FROM gateway.identity_tag o
                WHERE o.tenant_id = p_tenant AND o.identity_id = v_id AND starts_with(o.tag, '$Platform:'));
        PERFORM gateway.set_tags(p_tenant, v_id, p_tags || coalesce(v_own, '{}'));
    END LOOP;
    RETURN coalesce(cardinality(v_ids), 0);
END $$;

REVOKE ALL ON FUNCTION gateway.tag_device FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.tag_device TO gateway_call, gateway_engine;
