-- Registrations of one dialect that share a device, as a hub's do: a native one and several by template, each with its own id, on one token.
--
-- Such an identity says "sharesDevice" in its attributes: it takes nobody's place, and nobody takes its own.

-- As in 0010; new: who shares a device stays.
CREATE OR REPLACE FUNCTION gateway.replace_identities(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_phone text)
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
                AND state = 'active' AND identity_id <> p_identity
            RETURNING identity_id, key)
        SELECT array_agg(identity_id), array_agg(key) INTO v_ids, v_keys FROM r;
    END IF;
    IF v_ids IS NULL THEN RETURN '{}'; END IF;
    DELETE FROM gateway.identity_tag WHERE tenant_id = p_tenant AND identity_id = ANY (v_ids);
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    RETURN v_ids;
END $$;

-- What `place_token` did of the device alone; it replaces afterwards, as before.
CREATE FUNCTION gateway.seat_token(
    p_tenant text, p_app text, p_device uuid, p_new_device uuid, p_platform text, p_environment text, p_token text, p_at timestamptz,
    OUT o_device uuid)
LANGUAGE plpgsql AS $$
DECLARE
    v_environment text := p_environment;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'token', p_app || chr(31) || p_platform || chr(31) || p_token);
    SELECT d.device_id, d.environment INTO o_device, v_environment FROM gateway.device d
        WHERE d.tenant_id = p_tenant AND d.app_id = p_app AND d.platform = p_platform AND d.token_digest = md5(p_token)
            AND d.token = p_token AND (p_environment IS NULL OR d.environment = p_environment)
        ORDER BY d.token_registered_at DESC LIMIT 1;
    IF o_device IS NOT NULL THEN
        UPDATE gateway.device SET token_state = 'active', token_reason = NULL,
                token_registered_at = greatest(token_registered_at, p_at), seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = o_device;
    ELSIF p_device IS NOT NULL THEN
        UPDATE gateway.device SET token = p_token, platform = p_platform, environment = coalesce(p_environment, environment),
                token_state = 'active', token_reason = NULL, token_registered_at = p_at, seen_at = greatest(seen_at, p_at)
            WHERE tenant_id = p_tenant AND device_id = p_device;
        o_device := p_device;
    ELSE
        INSERT INTO gateway.device
                (tenant_id, device_id, app_id, platform, environment, token, token_state, token_registered_at, created_at, seen_at)
            VALUES (p_tenant, p_new_device, p_app, p_platform, coalesce(p_environment, 'production'), p_token, 'active', p_at, p_at, p_at);
        o_device := p_new_device;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION gateway.place_token(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid,
    p_platform text, p_environment text, p_token text, p_at timestamptz,
    OUT o_device uuid, OUT o_replaced uuid[])
LANGUAGE plpgsql AS $$
BEGIN
    o_device := gateway.seat_token(p_tenant, p_app, p_device, p_new_device, p_platform, p_environment, p_token, p_at);
    o_replaced := gateway.replace_identities(p_tenant, p_app, p_vendor, p_identity, o_device, NULL);
END $$;

-- As in 0004; new: an identity that shares its device.
CREATE OR REPLACE FUNCTION gateway.register_identity(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[])
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
    v_old_device uuid;
    v_device uuid;
    v_state text;
    v_phone text;
    v_replaced uuid[] := '{}';
    v_platform text := p_platform;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, i.state, i.phone INTO v_id, v_old_device, v_state, v_phone FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key;
    v_device := v_old_device;
    -- A replaced identity that comes back does not take its successor's device.
    IF v_state <> 'active' AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = v_old_device AND o.app_id = p_app AND o.vendor = p_vendor
            AND o.state = 'active')
    THEN
        v_device := NULL;
    END IF;

    IF p_token IS NOT NULL AND p_attributes->>'sharesDevice' = 'true' THEN
        -- With a new token it leaves those that it shared the old one with.
        IF EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.device_id = v_device AND o.app_id = p_app AND o.vendor = p_vendor
                AND o.state = 'active' AND o.identity_id <> v_id)
        THEN
            v_device := NULL;
        END IF;
        v_device := gateway.seat_token(p_tenant, p_app, v_device, p_device, p_platform, p_environment, p_token, p_at);
    ELSIF p_token IS NOT NULL THEN
        SELECT t.o_device, t.o_replaced INTO v_device, v_replaced
            FROM gateway.place_token(
                p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, p_device,
                p_platform, p_environment, p_token, p_at) t;
    ELSIF v_device IS NULL THEN
        INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, created_at, seen_at)
            VALUES (p_tenant, p_device, p_app, p_platform, coalesce(p_environment, 'production'), p_at, p_at);
        v_device := p_device;
    ELSE
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, p_at),
                -- Without a token nothing depends on them; with one they are that token's.
                platform = CASE WHEN d.token IS NULL THEN p_platform ELSE d.platform END,
                environment = CASE WHEN d.token IS NULL THEN coalesce(p_environment, d.environment) ELSE d.environment END
            WHERE d.tenant_id = p_tenant AND d.device_id = v_device
            RETURNING d.platform INTO v_platform;
    END IF;

    IF v_id IS NULL THEN
        v_id := p_identity;
        INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at)
            VALUES (p_tenant, v_id, p_app, p_vendor, p_key, v_device, 'active', p_user, p_name, p_phone, p_raw_phone,
                coalesce(p_attributes, '{}'), p_at, p_at);
    ELSE
        UPDATE gateway.identity i SET device_id = v_device, state = 'active', user_id = coalesce(p_user, i.user_id),
                name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone),
                raw_phone = coalesce(p_raw_phone, i.raw_phone), attributes = coalesce(p_attributes, i.attributes),
                registered_at = p_at
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_id;
    END IF;
    IF v_state IS DISTINCT FROM 'active' THEN
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, ARRAY[p_key], 1);
    END IF;

    v_phone := coalesce(p_phone, v_phone);
    IF p_replaces_phone AND v_phone IS NOT NULL THEN
        PERFORM gateway.lock_name(p_tenant, 'phone', p_app || chr(31) || p_vendor || chr(31) || v_phone);
        v_replaced := v_replaced || gateway.replace_identities(p_tenant, p_app, p_vendor, v_id, NULL, v_phone);
    END IF;
    IF v_old_device IS DISTINCT FROM v_device AND v_old_device IS NOT NULL THEN
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old_device]);
    END IF;
    RETURN QUERY SELECT v_id, v_device, v_platform, coalesce(v_state = 'active', false), v_replaced;
END $$;

REVOKE ALL ON FUNCTION gateway.seat_token FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.seat_token TO gateway_call, gateway_engine;
