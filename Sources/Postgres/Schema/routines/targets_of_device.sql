-- The targets of a message on a device, p_device, or with a vendor's key, p_key: settled and queued ones, in order. At most 20, of the first 100 identities.
CREATE OR REPLACE FUNCTION gateway.targets_of_device(p_tenant text, p_message uuid, p_device uuid, p_key text, p_app text, p_day integer)
RETURNS TABLE (target_id uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[];
    v_targets uuid[];
BEGIN
    v_ids := ARRAY(
        SELECT x.identity_id FROM gateway.identity x WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.device_id = p_device
        UNION SELECT x.identity_id FROM gateway.identity x WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.key = p_key
        LIMIT 100);
    v_targets := ARRAY(
        SELECT d.target_id FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = p_day AND d.message_id = p_message AND d.target_id = ANY (v_ids)
        UNION SELECT d.target_id FROM gateway.delivery d
        WHERE d.tenant_id = p_tenant AND d.due_day = p_day AND d.message_id = p_message AND d.device_id = p_device
        ORDER BY 1 LIMIT 20);
    v_targets := v_targets || ARRAY(
        SELECT q.target_id FROM gateway.find_queued_targets(
            p_tenant, p_message, ARRAY(SELECT unnest(v_ids) EXCEPT SELECT unnest(v_targets))) q
        ORDER BY q.target_id LIMIT 20 - cardinality(v_targets));
    RETURN QUERY SELECT u.id FROM unnest(v_targets) AS u(id) ORDER BY u.id;
END $$;

REVOKE ALL ON FUNCTION gateway.targets_of_device FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.targets_of_device TO gateway_call, gateway_engine;
