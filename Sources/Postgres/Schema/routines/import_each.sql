-- Registers rows in their order, each as if it registered by itself, and returns how many had no active identity before. The arrays are those of
-- `import_new`.
CREATE OR REPLACE FUNCTION gateway.import_each(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_identities uuid[], p_devices uuid[], p_platforms text[],
    p_environments text[], p_tokens text[], p_users text[], p_names text[], p_phones text[], p_raw_phones text[],
    p_attributes text[], p_zones text[], p_from integer[], p_to integer[], p_tags text[], p_at timestamptz,
    p_clients text[] DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_created bigint := 0;
    r record;
    g record;
BEGIN
    FOR r IN
        SELECT * FROM unnest(
            p_keys, p_identities, p_devices, p_platforms, p_environments, p_tokens, p_users, p_names, p_phones, p_raw_phones,
            p_attributes, p_zones, p_from, p_to, p_tags, p_clients)
            WITH ORDINALITY AS u(
            key, identity, device, platform, environment, token, user_id, name, phone, raw_phone, attributes, zone, first, last, tags, client,
            o)
        ORDER BY o
    LOOP
        SELECT x.identity_id, x.device_id, x.was_active INTO g FROM gateway.register_identity(
            p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_key => r.key, p_identity => r.identity, p_device => r.device,
            p_platform => r.platform, p_environment => r.environment, p_token => r.token, p_user => r.user_id, p_name => r.name,
            p_phone => r.phone, p_raw_phone => r.raw_phone, p_replaces_phone => false, p_attributes => r.attributes::json,
            p_at => p_at + r.o * interval '1 microsecond', p_client => r.client::jsonb) x;
        IF NOT g.was_active THEN v_created := v_created + 1; END IF;
        IF r.zone IS NOT NULL OR r.first IS NOT NULL THEN
            PERFORM gateway.set_clock(p_tenant, g.device_id, r.zone, r.first, r.last);
        END IF;
        IF r.tags IS NOT NULL THEN
            PERFORM gateway.set_tags(p_tenant, g.identity_id, string_to_array(r.tags, ' '));
        END IF;
    END LOOP;
    RETURN v_created;
END $$;

REVOKE ALL ON FUNCTION gateway.import_each FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_each TO gateway_call, gateway_engine;
