-- Marks identities of one vendor as `replaced`, except p_identity: those on a device, or those of a phone number. Their tags are deleted. Identities that
-- share their device stay. Of a phone number, those above p_level stay too.
--
-- The caller writes p_identity afterwards, so those of a device are locked together with it, in their order. The caller has locked p_device, or the name and
-- the identities of the phone (`lock_seats`); one that became active since and is locked by another call comes after this one, and stays. All counts of a
-- registration are in the bucket of p_identity, so that it locks one row of them.
CREATE OR REPLACE FUNCTION gateway.replace_identities(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text,
    p_level smallint DEFAULT 2)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
BEGIN
    IF p_device IS NOT NULL THEN
        SELECT array_agg(i.identity_id) INTO v_ids FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.device_id = p_device AND i.app_id = p_app AND i.vendor = p_vendor
                AND i.state = 'active' AND i.identity_id <> p_identity AND i.attributes->>'sharesDevice' IS DISTINCT FROM 'true';
    ELSE
        SELECT array_agg(r.identity_id) INTO v_ids FROM (
            SELECT i.identity_id FROM gateway.identity i
            WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.phone = p_phone
                AND i.state = 'active' AND i.identity_id <> p_identity AND i.assurance <= p_level
            FOR NO KEY UPDATE SKIP LOCKED) AS r;
    END IF;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    IF p_device IS NOT NULL THEN
        PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids || p_identity)
            ORDER BY i.identity_id FOR NO KEY UPDATE;
    END IF;
    -- They may have changed before they were locked.
    WITH r AS (
        UPDATE gateway.identity i SET state = 'replaced'
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.state = 'active'
            AND CASE WHEN p_device IS NOT NULL THEN i.device_id = p_device ELSE i.phone = p_phone AND i.assurance <= p_level END
        RETURNING i.identity_id)
    SELECT array_agg(r.identity_id) INTO v_ids FROM r;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, array_fill(p_identity::text, ARRAY[cardinality(v_ids)]), -1);
    RETURN v_ids;
END $$;

REVOKE ALL ON FUNCTION gateway.replace_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.replace_identities TO gateway_call, gateway_engine;
