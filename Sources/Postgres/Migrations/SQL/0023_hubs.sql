-- Changes of what was read before, for dialects whose calls change a part of a registration.

-- That the active identity of a key has these attributes, in the spelling in which they were stored; else GW409, and nothing of the transaction is done.
-- The lock is that of registrations: until the commit nobody changes them.
CREATE FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_attributes text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.attributes::text INTO v_attributes FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF v_attributes IS DISTINCT FROM p_attributes THEN
        RAISE EXCEPTION 'the identity has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

-- As before, and what the gateway itself says of an identity stays: without its platform and names no audience of its dialect would mean it.
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

REVOKE ALL ON FUNCTION gateway.expect_identity FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.expect_identity TO gateway_call, gateway_engine;
