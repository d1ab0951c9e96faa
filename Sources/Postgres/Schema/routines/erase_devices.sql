-- Erases devices and returns how many there were. Writes the audit row.
CREATE OR REPLACE FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_apps text[];
    v_vendors text[];
    v_keys text[];
BEGIN
    SELECT array_agg(i.app_id), array_agg(i.vendor), array_agg(i.key) INTO v_apps, v_vendors, v_keys FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.device_id = ANY (p_devices);
    v_count := gateway.erase_rows(p_tenant, p_devices, '{}');
    IF v_count > 0 THEN
        PERFORM gateway.write_audit(
            p_tenant, p_actor, ARRAY['erase'], ARRAY[p_subject], ARRAY[json_build_object('devices', v_count)::text]);
    END IF;
    PERFORM gateway.forget_forwarded(p_tenant, v_apps, v_vendors, v_keys);
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.erase_devices FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.erase_devices TO gateway_call, gateway_engine;
