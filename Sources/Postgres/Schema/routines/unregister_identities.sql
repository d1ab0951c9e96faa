-- Unregisters the active identities of a key or of a phone number. Their tokens are removed as well unless another vendor's identity uses them.
CREATE OR REPLACE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_devices uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone AND state = 'active'
            RETURNING identity_id, device_id, key)
        SELECT array_agg(identity_id), array_agg(device_id), array_agg(key) INTO v_ids, v_devices, v_keys FROM r;
    END IF;
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
