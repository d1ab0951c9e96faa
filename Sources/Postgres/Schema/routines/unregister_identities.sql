-- Unregisters the active identities of a key or of a phone number. Their tokens are removed as well unless another vendor's identity uses them.
-- Locks the devices first, then the identities, each in the order of their ids, as registrations do.
CREATE OR REPLACE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_devices uuid[];
    v_locked uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        SELECT array_agg(i.identity_id), array_agg(i.device_id) INTO v_ids, v_locked FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    ELSE
        SELECT array_agg(i.identity_id), array_agg(i.device_id) INTO v_ids, v_locked FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.phone = p_phone AND i.state = 'active';
    END IF;
    IF v_ids IS NULL THEN RETURN 0; END IF;
    PERFORM FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id = ANY (v_locked) ORDER BY d.device_id FOR NO KEY UPDATE;
    -- From here on, none of them leaves its device.
    IF EXISTS (SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.device_id <> ALL (v_locked)) THEN
        RAISE EXCEPTION 'an identity has changed its device meanwhile' USING ERRCODE = '40001';
    END IF;
    IF cardinality(v_ids) > 1 THEN
        PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids)
            ORDER BY i.identity_id FOR NO KEY UPDATE;
    END IF;
    -- They may have changed before they were locked.
    WITH r AS (
        UPDATE gateway.identity i SET state = 'unregistered'
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.state = 'active'
            AND CASE WHEN p_key IS NOT NULL THEN i.key = p_key ELSE i.phone = p_phone END
        RETURNING i.identity_id, i.device_id, i.key)
    SELECT array_agg(r.identity_id), array_agg(r.device_id), array_agg(r.key) INTO v_ids, v_devices, v_keys FROM r;
    IF v_keys IS NULL THEN RETURN 0; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    PERFORM gateway.drop_unused_tokens(p_tenant, v_devices);
    PERFORM gateway.append_changes(
        p_tenant, array_fill('unregistered'::text, ARRAY[cardinality(v_ids)]), array_fill(p_app, ARRAY[cardinality(v_ids)]),
        array_fill(p_vendor, ARRAY[cardinality(v_ids)]), v_ids, v_devices, NULL);
    RETURN cardinality(v_keys);
END $$;

REVOKE ALL ON FUNCTION gateway.unregister_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.unregister_identities TO gateway_call, gateway_engine;
