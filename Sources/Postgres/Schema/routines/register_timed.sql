-- A registration with a time zone or window; p_tags is null if no tags are given.
CREATE OR REPLACE FUNCTION gateway.register_timed(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_tags text[], p_zone text, p_from integer, p_to integer,
    p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow',
    p_client jsonb DEFAULT NULL, p_keeps_owner boolean DEFAULT false)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT * INTO r FROM gateway.register_noted(
        p_tenant => p_tenant, p_app => p_app, p_vendor => p_vendor, p_key => p_key, p_identity => p_identity, p_device => p_device,
        p_platform => p_platform, p_environment => p_environment, p_token => p_token, p_user => p_user, p_name => p_name,
        p_phone => p_phone, p_raw_phone => p_raw_phone, p_replaces_phone => p_replaces_phone, p_attributes => p_attributes,
        p_at => p_at, p_assurance => p_assurance, p_moves => p_moves, p_client => p_client, p_keeps_owner => p_keeps_owner);
    IF p_tags IS NOT NULL THEN PERFORM gateway.set_tags(p_tenant, r.identity_id, p_tags); END IF;
    PERFORM gateway.set_clock(p_tenant, r.device_id, p_zone, p_from, p_to);
    RETURN QUERY SELECT r.identity_id, r.device_id, r.platform, r.was_active, r.replaced;
END $$;

REVOKE ALL ON FUNCTION gateway.register_timed FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.register_timed TO gateway_call, gateway_engine;
