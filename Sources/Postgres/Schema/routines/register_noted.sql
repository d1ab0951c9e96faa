-- `register_identity` and its events. An unchanged registration, as SDKs send it at every start, writes none. p_keeps_owner: only for the owner of the key
-- (`expect_owner`).
CREATE OR REPLACE FUNCTION gateway.register_noted(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow',
    p_client jsonb DEFAULT NULL, p_keeps_owner boolean DEFAULT false)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    r record;
    v_kinds text[] := '{}';
    v_identities uuid[] := '{}';
    v_devices uuid[] := '{}';
    v_data json[];
BEGIN
    IF p_keeps_owner THEN PERFORM gateway.expect_owner(p_tenant, p_app, p_vendor, p_key, p_token, p_user); END IF;
    SELECT * INTO r FROM gateway.register_identity(
        p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_key => p_key, p_identity => p_identity, p_device => p_device,
        p_platform => p_platform, p_environment => p_environment, p_token => p_token, p_user => p_user, p_name => p_name,
        p_phone => p_phone, p_raw_phone => p_raw_phone, p_replaces_phone => p_replaces_phone, p_attributes => p_attributes,
        p_at => p_at, p_assurance => p_assurance, p_moves => p_moves, p_client => p_client);
    v_kinds := array_fill('replaced'::text, ARRAY[cardinality(r.replaced)]);
    v_identities := r.replaced;
    v_devices := array_fill(NULL::uuid, ARRAY[cardinality(r.replaced)]);
    IF NOT r.was_active THEN
        v_kinds := v_kinds || 'registered'::text;
        v_identities := v_identities || r.identity_id;
        v_devices := v_devices || r.device_id;
    END IF;
    IF cardinality(r.moved) > 0 THEN
        v_data := array_fill(NULL::json, ARRAY[cardinality(v_kinds)])
            || ARRAY(SELECT json_build_object('of', x.what, 'pending', r.level < 0) FROM unnest(r.moved) AS x(what));
        v_kinds := v_kinds || array_fill('moved'::text, ARRAY[cardinality(r.moved)]);
        v_identities := v_identities || array_fill(r.identity_id, ARRAY[cardinality(r.moved)]);
        v_devices := v_devices || array_fill(r.device_id, ARRAY[cardinality(r.moved)]);
    END IF;
    IF r.expected THEN
        v_data := coalesce(v_data, array_fill(NULL::json, ARRAY[cardinality(v_kinds)])) || json_build_object('by', 'expectation');
        v_kinds := v_kinds || 'vouched'::text;
        v_identities := v_identities || r.identity_id;
        v_devices := v_devices || r.device_id;
    END IF;
    PERFORM gateway.append_changes(
        p_tenant, v_kinds, array_fill(p_app, ARRAY[cardinality(v_kinds)]), array_fill(p_vendor, ARRAY[cardinality(v_kinds)]),
        v_identities, v_devices, v_data);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

REVOKE ALL ON FUNCTION gateway.register_noted FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.register_noted TO gateway_call, gateway_engine;
