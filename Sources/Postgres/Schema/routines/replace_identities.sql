-- Marks identities of one vendor as `replaced`, except p_identity: those on a device, or those of a phone number. Their tags are deleted. Identities that
-- share their device stay. Of a phone number, those above p_level stay too.
CREATE OR REPLACE FUNCTION gateway.replace_identities(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text,
    p_level smallint DEFAULT 2)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_keys text[];
BEGIN
    IF p_device IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND device_id = p_device AND app_id = p_app AND vendor = p_vendor
                AND state = 'active' AND identity_id <> p_identity AND attributes->>'sharesDevice' IS DISTINCT FROM 'true'
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'replaced'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone
                AND state = 'active' AND identity_id <> p_identity AND assurance <= p_level
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    END IF;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    RETURN v_ids;
END $$;

REVOKE ALL ON FUNCTION gateway.replace_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.replace_identities TO gateway_call, gateway_engine;
