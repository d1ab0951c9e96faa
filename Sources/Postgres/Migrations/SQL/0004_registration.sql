-- Registrations: read, then write, in one round trip. All run with the caller's rights, so row-level security holds inside them.

-- One at a time per name, until the transaction ends: two registrations of one key or token must not both find nothing.
CREATE FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(
        pg_catalog.hashtextextended(p_tenant || chr(31) || p_kind || chr(31) || p_name, 0));
END $$;

-- Adds p_delta per key to the maintained count of active identities.
CREATE FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.identity_count AS c (tenant_id, app_id, vendor, bucket, active)
        SELECT p_tenant, p_app, p_vendor, (hashtext(k) & 15)::smallint, p_delta * count(*)
        FROM unnest(p_keys) AS k GROUP BY 4 ORDER BY 4
        ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = c.active + excluded.active;
END $$;

-- Takes the token from devices that no active identity uses any more.
CREATE FUNCTION gateway.drop_unused_tokens(p_tenant text, p_devices uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.device d SET token = NULL, token_state = 'none', token_reason = NULL
        WHERE d.tenant_id = p_tenant AND d.device_id = ANY (p_devices) AND d.token IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM gateway.identity i
                WHERE i.tenant_id = p_tenant AND i.device_id = d.device_id AND i.state = 'active');
END $$;

-- Makes identities of one dialect `replaced`, except p_identity: those on a device, or those of a phone.
CREATE FUNCTION gateway.replace_identities(
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
                AND state = 'active' AND identity_id <> p_identity
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
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    RETURN v_ids;
END $$;

-- Gives a token to the device that has it, or to p_device, or to a new one called p_new_device.
-- An older identity of the same dialect on that device is replaced; identities of other dialects share the device.
CREATE FUNCTION gateway.place_token(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid,
    p_platform text, p_environment text, p_token text, p_at timestamptz,
    OUT o_device uuid, OUT o_replaced uuid[])
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
    o_replaced := gateway.replace_identities(p_tenant, p_app, p_vendor, p_identity, o_device, NULL);
END $$;

-- Inserts or updates an identity and its device. Null fields stay as they are.
CREATE FUNCTION gateway.register_identity(
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

    IF p_token IS NOT NULL THEN
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

-- A new token for an active identity; returns how many there were.
CREATE FUNCTION gateway.update_token(
    p_tenant text, p_app text, p_vendor text, p_key text, p_environment text, p_token text, p_at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id uuid;
    v_old uuid;
    v_new uuid;
    v_platform text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.identity_id, i.device_id, d.platform INTO v_id, v_old, v_platform
        FROM gateway.identity i JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT t.o_device INTO v_new
        FROM gateway.place_token(p_tenant, p_app, p_vendor, v_id, v_old, v_old, v_platform, p_environment, p_token, p_at) t;
    IF v_new <> v_old THEN
        UPDATE gateway.identity SET device_id = v_new WHERE tenant_id = p_tenant AND identity_id = v_id;
        PERFORM gateway.drop_unused_tokens(p_tenant, ARRAY[v_old]);
    END IF;
    RETURN 1;
END $$;

-- Active identities of a key, or of a phone, leave; their tokens too unless another dialect uses them.
CREATE FUNCTION gateway.unregister_identities(p_tenant text, p_app text, p_vendor text, p_key text, p_phone text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[];
    v_keys text[];
BEGIN
    IF p_key IS NOT NULL THEN
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND key = p_key AND state = 'active'
            RETURNING device_id, key)
        SELECT array_agg(device_id), array_agg(key) INTO v_devices, v_keys FROM r;
    ELSE
        WITH r AS (
            UPDATE gateway.identity SET state = 'unregistered'
            WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone AND state = 'active'
            RETURNING device_id, key)
        SELECT array_agg(device_id), array_agg(key) INTO v_devices, v_keys FROM r;
    END IF;
    IF v_keys IS NULL THEN RETURN 0; END IF;
    PERFORM gateway.count_identities(p_tenant, p_app, p_vendor, v_keys, -1);
    PERFORM gateway.drop_unused_tokens(p_tenant, v_devices);
    RETURN cardinality(v_keys);
END $$;

-- A URL for a sender, or none. A first URL hears of what happens from now on.
CREATE FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_head bigint;
    v_count bigint;
    -- 244 random bits.
    v_secret text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    UPDATE gateway.sender SET callback_url = p_url, secret = coalesce(secret, v_secret),
            cursor = CASE WHEN callback_url IS NULL THEN coalesce(v_head, 0) ELSE cursor END,
            attempts = 0, failing_since = NULL, failure = NULL, next_at = now(), owner = NULL, epoch = epoch + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND sender_id = p_sender;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- Notes a code for a phone unless one went out too lately or too many did within the hour.
CREATE FUNCTION gateway.put_verification(
    p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text,
    p_resend_after interval, p_per_hour integer, p_at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v gateway.verification;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'verification', p_app || chr(31) || p_vendor || chr(31) || p_phone);
    SELECT * INTO v FROM gateway.verification
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    IF NOT FOUND THEN
        INSERT INTO gateway.verification (tenant_id, app_id, vendor, phone, code_hash, sent_at, window_start, sent_count)
            VALUES (p_tenant, p_app, p_vendor, p_phone, p_code_hash, p_at, p_at, 1);
        RETURN true;
    END IF;
    IF p_at < v.window_start + interval '1 hour' THEN
        IF p_at < v.sent_at + p_resend_after OR v.sent_count >= p_per_hour THEN RETURN false; END IF;
    ELSE
        v.window_start := p_at;
        v.sent_count := 0;
    END IF;
    UPDATE gateway.verification SET code_hash = p_code_hash, sent_at = p_at, tries = 0,
            window_start = v.window_start, sent_count = v.sent_count + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    RETURN true;
END $$;

-- Counts the try; a match uses the code up.
CREATE FUNCTION gateway.check_verification(
    p_tenant text, p_app text, p_vendor text, p_phone text, p_code_hash text,
    p_valid_for interval, p_maximum_tries integer, p_at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v gateway.verification;
    v_matches boolean;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'verification', p_app || chr(31) || p_vendor || chr(31) || p_phone);
    SELECT * INTO v FROM gateway.verification
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    IF NOT FOUND OR v.code_hash IS NULL OR v.tries >= p_maximum_tries OR p_at > v.sent_at + p_valid_for THEN
        RETURN false;
    END IF;
    v_matches := v.code_hash = p_code_hash;
    UPDATE gateway.verification SET tries = tries + 1, code_hash = CASE WHEN v_matches THEN NULL ELSE code_hash END
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND phone = p_phone;
    RETURN v_matches;
END $$;

-- Erases devices, their identities and who they were in deliveries; returns how many devices there were. Writes the audit row.
CREATE FUNCTION gateway.erase_devices(p_tenant text, p_devices uuid[], p_actor text, p_subject text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    g record;
BEGIN
    FOR g IN
        SELECT app_id, vendor, array_agg(key) AS keys FROM gateway.identity
        WHERE tenant_id = p_tenant AND device_id = ANY (p_devices) AND state = 'active'
        GROUP BY app_id, vendor ORDER BY app_id, vendor
    LOOP
        PERFORM gateway.count_identities(p_tenant, g.app_id, g.vendor, g.keys, -1);
    END LOOP;
    UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count > 0 THEN
        INSERT INTO gateway.audit (tenant_id, actor, action, subject) VALUES (p_tenant, p_actor, 'erase', p_subject);
    END IF;
    RETURN v_count;
END $$;

-- Erases every device of a user; returns how many identities there were.
CREATE FUNCTION gateway.erase_user(p_tenant text, p_user text, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_devices uuid[];
    v_count bigint;
BEGIN
    SELECT array_agg(DISTINCT device_id), count(*) INTO v_devices, v_count FROM gateway.identity
        WHERE tenant_id = p_tenant AND user_id = p_user;
    IF v_count > 0 THEN
        PERFORM gateway.erase_devices(p_tenant, array_remove(v_devices, NULL), p_actor, 'user ' || p_user);
    END IF;
    RETURN v_count;
END $$;
