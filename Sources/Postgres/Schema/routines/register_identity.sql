-- Inserts or updates an identity and its device; null fields stay. An identity whose attributes say `sharesDevice` does not replace others of its vendor
-- on the device.
--
-- p_assurance: the level that the caller proves (`level_after`). p_moves: what happens if another identity has the user or the phone: allow; notify, so that
-- `moved` has entries (user, phone, token) for the caller's events; or vouch, so that a caller that proves nothing is also pending. An identity of a higher
-- level keeps its phone. expected: the tenant's back end expected the user, who is vouched now. p_client: the facts of the client that it reports
-- (`client_after`).
--
-- An unknown key that brings the token of an identity whose key is `token-…`, which an import made for a device without a key, becomes the key of that identity.
-- It keeps what it has, and its first key: in `first_key`, by which rollouts know it, and as the attribute `$rolloutKey` for exports (`attributes_after`), from
-- which a new identity gets its `first_key`.
--
-- Locks are taken in this order: the names of key, token and phone, with the expectation before the phone; the devices in the order of their
-- ids, namely that of the identity and that of the token; the identities in the order of theirs; the count, which is one row (`replace_identities`).
CREATE OR REPLACE FUNCTION gateway.register_identity(
    p_tenant text, p_app text, p_vendor text, p_key text, p_identity uuid, p_device uuid,
    p_platform text, p_environment text, p_token text, p_user text, p_name text, p_phone text, p_raw_phone text,
    p_replaces_phone boolean, p_attributes json, p_at timestamptz, p_assurance smallint DEFAULT 0, p_moves text DEFAULT 'allow',
    p_client jsonb DEFAULT NULL)
RETURNS TABLE (identity_id uuid, device_id uuid, platform text, was_active boolean, replaced uuid[], moved text[], level smallint, expected boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id uuid;
    v_old_device uuid;
    v_device uuid;
    v_state text;
    v_phone text;
    v_user text;
    v_old smallint;
    v_level smallint := p_assurance;
    v_moved text[] := '{}';
    v_expected boolean := false;
    v_token text;
    v_is_new_user boolean;
    v_is_new_phone boolean;
    v_replaced uuid[] := '{}';
    v_platform text := p_platform;
    v_client jsonb;
    v_number bigint;
    v_report jsonb;
    -- The key that an imported identity loses; null: none.
    v_first text;
    v_shares boolean;
    -- The phone that no other identity keeps; null: no such phone.
    v_only_phone text;
    v_is_shared_phone boolean := false;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, i.state, i.phone, i.user_id, i.assurance, i.client, i.client_number
        INTO v_id, v_old_device, v_state, v_phone, v_user, v_old, v_client, v_number FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key;
    IF p_token IS NOT NULL THEN
        PERFORM gateway.lock_name(p_tenant, 'token', p_app || chr(31) || p_platform || chr(31) || p_token);
    END IF;
    IF v_id IS NULL AND p_token IS NOT NULL AND p_key NOT LIKE 'token-%' THEN
        -- The device is the one that `seat_token` finds. Nobody has confirmed that the new key belongs to the user.
        SELECT i.identity_id, i.device_id, i.key, i.state, i.phone, i.user_id, least(i.assurance, 0::smallint), i.client, i.client_number
            INTO v_id, v_old_device, v_first, v_state, v_phone, v_user, v_old, v_client, v_number
            FROM (
                SELECT x.* FROM (
                    SELECT y.device_id FROM gateway.device y
                    WHERE y.tenant_id = p_tenant AND y.app_id = p_app AND y.platform = p_platform AND y.token_digest = md5(p_token)
                        AND y.token = p_token AND (p_environment IS NULL OR y.environment = p_environment)
                    ORDER BY y.token_registered_at DESC LIMIT 1) AS d
                JOIN gateway.identity x ON x.tenant_id = p_tenant AND x.device_id = d.device_id AND x.app_id = p_app AND x.vendor = p_vendor
                    AND x.state = 'active' AND left(x.key, 6) = 'token-' OFFSET 0) AS i
            ORDER BY i.identity_id LIMIT 1;
    END IF;
    IF v_first IS NOT NULL OR v_id IS NULL AND p_attributes->>'$rolloutKey' IS NOT NULL THEN
        UPDATE gateway.app SET has_first_keys = true WHERE tenant_id = p_tenant AND app_id = p_app AND NOT has_first_keys;
    END IF;
    v_device := v_old_device;
    IF v_old > 0 THEN
        SELECT d.token INTO v_token FROM gateway.device d WHERE d.tenant_id = p_tenant AND d.device_id = v_old_device;
    END IF;
    -- An identity that is vouched for already leaves the expectation to the user's next device.
    IF p_assurance < 2 AND p_user IS NOT NULL AND (
        v_old IS DISTINCT FROM 2 OR p_user IS DISTINCT FROM v_user OR p_token IS NOT NULL AND p_token IS DISTINCT FROM v_token) THEN
        v_expected := gateway.meet_expectation(p_tenant, p_app, p_user, coalesce(p_phone, v_phone), p_token, v_old_device);
        IF v_expected THEN
            p_assurance := 2;
            v_level := 2;
        END IF;
    END IF;
    -- A replaced identity that registers again does not take its successor's device.
    IF v_state <> 'active' AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = v_old_device AND o.app_id = p_app AND o.vendor = p_vendor
            AND o.state = 'active')
    THEN
        v_device := NULL;
    END IF;
    v_shares := p_token IS NOT NULL AND coalesce(p_attributes->>'sharesDevice' = 'true', false);
    -- With a new token it leaves the identities that it shared the old token with.
    IF v_shares AND EXISTS (
        SELECT FROM gateway.identity o
        WHERE o.tenant_id = p_tenant AND o.device_id = v_device AND o.app_id = p_app AND o.vendor = p_vendor
            AND o.state = 'active' AND o.identity_id <> v_id)
    THEN
        v_device := NULL;
    END IF;

    v_only_phone := CASE WHEN p_replaces_phone THEN coalesce(p_phone, v_phone) END;
    IF v_only_phone IS NOT NULL THEN
        PERFORM gateway.lock_name(p_tenant, 'phone', p_app || chr(31) || p_vendor || chr(31) || v_only_phone);
        v_is_shared_phone := EXISTS (
            SELECT FROM gateway.identity o
            WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.phone = v_only_phone
                AND o.state = 'active' AND o.identity_id IS DISTINCT FROM v_id);
    END IF;
    -- `seat_token` locks the devices. It does not know a device that the identity leaves, and the identities of a phone are on any devices.
    IF v_is_shared_phone OR v_device IS DISTINCT FROM v_old_device THEN
        PERFORM gateway.lock_seats(
            p_tenant, p_app, p_vendor, v_id, v_old_device, p_platform, p_environment, p_token,
            CASE WHEN v_is_shared_phone THEN v_only_phone END);
    END IF;

    IF p_token IS NOT NULL THEN
        v_device := gateway.seat_token(p_tenant, p_app, v_device, p_device, p_platform, p_environment, p_token, p_at);
        IF NOT v_shares THEN
            v_replaced := gateway.replace_identities(p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, NULL);
        END IF;
    ELSIF v_device IS NULL THEN
        INSERT INTO gateway.device (tenant_id, device_id, app_id, platform, environment, created_at, seen_at)
            VALUES (p_tenant, p_device, p_app, p_platform, coalesce(p_environment, 'production'), p_at, p_at);
        v_device := p_device;
    ELSE
        UPDATE gateway.device d SET seen_at = greatest(d.seen_at, p_at),
                -- Without a token, nothing depends on platform and environment; with one, they describe the token.
                platform = CASE WHEN d.token IS NULL THEN p_platform ELSE d.platform END,
                environment = CASE WHEN d.token IS NULL THEN coalesce(p_environment, d.environment) ELSE d.environment END
            WHERE d.tenant_id = p_tenant AND d.device_id = v_device
            RETURNING d.platform INTO v_platform;
    END IF;

    IF v_first IS NOT NULL THEN
        -- It may have ended since it was found.
        SELECT i.state INTO v_state FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = v_id FOR UPDATE;
        IF NOT FOUND THEN RAISE EXCEPTION 'the identity was erased meanwhile' USING ERRCODE = '40001'; END IF;
    END IF;
    IF v_id IS NOT NULL THEN v_level := gateway.level_after(v_old, v_user, v_phone, p_user, p_phone, p_assurance); END IF;
    -- The key may be known to others, so another token is a claim.
    IF v_old > 0 AND p_assurance < 2 AND p_token IS NOT NULL AND p_token IS DISTINCT FROM v_token THEN v_level := least(v_level, 0); END IF;
    v_is_new_user := p_user IS NOT NULL AND p_user IS DISTINCT FROM v_user;
    v_is_new_phone := p_phone IS NOT NULL AND p_phone IS DISTINCT FROM v_phone;
    IF p_moves <> 'allow' THEN
        IF v_is_new_user AND gateway.is_taken(p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, p_user, NULL) THEN
            v_moved := v_moved || 'user'::text;
        END IF;
        IF v_is_new_phone AND gateway.is_taken(p_tenant, p_app, p_vendor, coalesce(v_id, p_identity), v_device, NULL, p_phone) THEN
            v_moved := v_moved || 'phone'::text;
        END IF;
        IF p_moves = 'vouch' AND v_level = 0 AND (
            cardinality(v_moved) > 0
            OR (v_old = -1 OR v_first IS NOT NULL) AND gateway.is_taken(
                p_tenant, p_app, p_vendor, v_id, v_device, coalesce(p_user, v_user), coalesce(p_phone, v_phone))) THEN
            v_level := -1;
        END IF;
        IF cardinality(v_replaced) > 0 THEN v_moved := v_moved || 'token'::text; END IF;
    END IF;

    v_report := gateway.client_after(v_client, p_client);
    IF v_report IS DISTINCT FROM v_client OR v_number = 0 THEN v_number := gateway.client_number(p_tenant, p_app, v_report); END IF;
    IF v_id IS NULL THEN
        v_id := p_identity;
        INSERT INTO gateway.identity
                (tenant_id, identity_id, app_id, vendor, key, device_id, state, user_id, name, phone, raw_phone, attributes,
                registered_at, created_at, assurance, user_since, client, client_number, first_key)
            VALUES (p_tenant, v_id, p_app, p_vendor, p_key, v_device, 'active', p_user, p_name, p_phone, p_raw_phone,
                coalesce(p_attributes, '{}'), p_at, p_at, v_level, p_at, v_report, v_number, p_attributes->>'$rolloutKey');
    ELSE
        UPDATE gateway.identity i SET device_id = v_device, state = 'active', user_id = coalesce(p_user, i.user_id),
                name = coalesce(p_name, i.name), phone = coalesce(p_phone, i.phone),
                raw_phone = coalesce(p_raw_phone, i.raw_phone), key = CASE WHEN v_first IS NULL THEN i.key ELSE p_key END,
                first_key = coalesce(i.first_key, v_first),
                attributes = CASE WHEN p_attributes IS NULL AND v_first IS NULL THEN i.attributes
                    ELSE gateway.attributes_after(i.attributes, p_attributes, v_first) END,
                -- A row of a file may have an older time than the identity whose key it replaces.
                registered_at = CASE WHEN v_first IS NULL THEN p_at ELSE greatest(i.registered_at, p_at) END,
                assurance = v_level, client = v_report, client_number = v_number,
                user_since = CASE WHEN v_is_new_user OR v_is_new_phone AND v_user IS NULL THEN p_at ELSE i.user_since END
            -- Another call may have replaced, unregistered, moved or erased it while this one waited for a lock.
            WHERE i.tenant_id = p_tenant AND i.identity_id = v_id AND i.state = v_state AND i.device_id IS NOT DISTINCT FROM v_old_device;
        IF NOT FOUND THEN RAISE EXCEPTION 'the identity was changed or erased meanwhile' USING ERRCODE = '40001'; END IF;
    END IF;
    IF v_first IS NOT NULL THEN PERFORM gateway.move_badge(p_tenant, p_app, p_vendor, 'key:' || v_first, 'key:' || p_key); END IF;
    IF v_state IS DISTINCT FROM 'active' THEN
        PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, ARRAY[v_id::text], 1);
    END IF;

    IF v_is_shared_phone THEN
        v_replaced := v_replaced || gateway.replace_identities(p_tenant, p_app, p_vendor, v_id, NULL, v_only_phone, v_level);
    END IF;
    -- Only a device that existed before can have other identities, and an identity that stayed on it has been checked before.
    IF v_device <> p_device AND (v_device IS DISTINCT FROM v_old_device OR v_state <> 'active') THEN
        PERFORM gateway.note_sharing(p_tenant, p_app, v_id, v_device);
    END IF;
    IF v_old_device IS DISTINCT FROM v_device AND v_old_device IS NOT NULL THEN
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old_device]);
    END IF;
    RETURN QUERY SELECT v_id, v_device, v_platform, coalesce(v_state = 'active', false), v_replaced, v_moved, v_level, v_expected;
END $$;

REVOKE ALL ON FUNCTION gateway.register_identity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.register_identity TO gateway_call, gateway_engine;
