-- Sets a new token for the active identity of a key, whose user is only claimed from then on: others may know the key. Returns 1, or 0 if the key has no active
-- identity. The identity was seen, also if it has the token already.
CREATE OR REPLACE FUNCTION gateway.update_token(
    p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
    v_old uuid;
    v_new uuid;
    v_platform text;
    v_replaced uuid[];
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, d.platform INTO v_id, v_old, v_platform
        FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM gateway.lock_name(p_tenant, 'token', p_app || chr(31) || v_platform || chr(31) || p_token);
    SELECT t.o_device, t.o_replaced INTO v_new, v_replaced
        FROM gateway.place_token(p_tenant, p_app, p_vendor, v_id, v_old, v_old, v_platform, p_environment, p_token, p_at) t;
    -- Both devices are locked. Another call may have replaced, unregistered or moved the identity before.
    PERFORM FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = v_id AND i.state = 'active' AND i.device_id = v_old FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the identity was changed or erased meanwhile' USING ERRCODE = '40001';
    END IF;
    IF v_new <> v_old THEN
        UPDATE gateway.identity SET device_id = v_new, assurance = least(assurance, 0::smallint)
            WHERE tenant_id = p_tenant AND identity_id = v_id;
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old]);
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_new);
    END IF;
    PERFORM gateway.note_sightings(p_tenant, p_app, ARRAY[v_id], p_at);
    IF cardinality(v_replaced) > 0 THEN
        PERFORM gateway.append_changes(
            p_tenant, array_fill('replaced'::text, ARRAY[cardinality(v_replaced)]), array_fill(p_app, ARRAY[cardinality(v_replaced)]),
            array_fill(p_vendor, ARRAY[cardinality(v_replaced)]), v_replaced, array_fill(NULL::uuid, ARRAY[cardinality(v_replaced)]), NULL);
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.update_token FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.update_token TO gateway_call, gateway_engine;
