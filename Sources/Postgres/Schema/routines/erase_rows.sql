-- Erases devices and identities together with their traces: in deliveries, in the names that callers gave their targets, in the content of messages to them
-- alone, in kept answers, in pending phone verifications, and in the badges of the devices. Returns the number of devices.
CREATE OR REPLACE FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_identities uuid[];
    v_phones text[];
    v_texts text[];
    v_messages uuid[];
    -- The holders that no other dialect of the app knows.
    v_gone text[];
    g record;
BEGIN
    SELECT coalesce(array_agg(i.identity_id), '{}'), coalesce(array_agg(i.phone) FILTER (WHERE i.phone IS NOT NULL), '{}'),
            coalesce(array_agg(i.key), '{}') || coalesce(array_agg(i.identity_id::text), '{}')
        INTO v_identities, v_phones, v_texts FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (p_devices) OR i.identity_id = ANY (p_identities));
    -- Before the deliveries: a receipt that holds a delivery skips identities that are locked, and does not wait for them.
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) ORDER BY i.identity_id FOR UPDATE;
    -- For the pushes that are being sent now (`erase_late`).
    INSERT INTO gateway.erased_identity (tenant_id, identity_id)
        SELECT p_tenant, u.id FROM unnest(v_identities) AS u(id) ORDER BY u.id ON CONFLICT DO NOTHING;
    FOR g IN
        SELECT app_id, vendor, array_agg(key) AS keys FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities) AND state = 'active'
        GROUP BY app_id, vendor ORDER BY app_id, vendor
    LOOP
        PERFORM gateway.count_identities(p_tenant, g.app_id, g.vendor, g.keys, -1);
    END LOOP;
    WITH d AS (
        UPDATE gateway.delivery SET identity_id = NULL, device_id = NULL, user_id = NULL, address = NULL
        WHERE tenant_id = p_tenant AND (device_id = ANY (p_devices) OR identity_id = ANY (v_identities))
        RETURNING message_id)
    SELECT coalesce(array_agg(DISTINCT d.message_id), '{}') INTO v_messages FROM d;
    -- No index contains targets. Of the messages without a delivery to them, only those that are still being sent are searched.
    UPDATE gateway.slice s SET addresses = (
            SELECT array_agg(CASE WHEN u.target = ANY (v_identities) THEN '' ELSE u.address END ORDER BY u.o)
            FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, o))
        WHERE s.tenant_id = p_tenant AND (s.message_id = ANY (v_messages) OR s.state IN ('ready', 'leased'))
            AND cardinality(s.addresses) > 0 AND s.targets && v_identities;
    PERFORM gateway.forget_content(p_tenant, v_messages, v_identities);
    PERFORM gateway.forget_answers(p_tenant, v_texts || p_devices::text[]);
    DELETE FROM gateway.verification WHERE tenant_id = p_tenant AND phone = ANY (v_phones);
    -- Marks before badges, the order in which every function takes them.
    FOR g IN
        SELECT i.app_id, i.vendor, array_agg(i.key ORDER BY i.key) AS keys, array_agg('key:' || i.key ORDER BY i.key) AS holders
        FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities) GROUP BY i.app_id, i.vendor ORDER BY i.app_id, i.vendor
    LOOP
        -- As in `erase_users`: messages of other dialects have marks of these devices too.
        v_gone := ARRAY(
            SELECT 'key:' || u.key FROM unnest(g.keys::text[]) AS u(key) WHERE NOT EXISTS (
                SELECT FROM gateway.identity o
                WHERE o.tenant_id = p_tenant AND o.app_id = g.app_id AND o.key = u.key AND o.identity_id <> ALL (v_identities)
                OFFSET 0));
        DELETE FROM gateway.badge_mark k USING gateway.message m
            WHERE k.tenant_id = p_tenant AND k.holder = ANY (g.holders)
                AND m.tenant_id = p_tenant AND m.message_id = k.message_id AND m.app_id = g.app_id
                AND (m.vendor = g.vendor OR k.holder = ANY (v_gone));
        DELETE FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = g.app_id AND b.vendor = g.vendor AND b.holder = ANY (g.holders);
    END LOOP;
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.erase_rows FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.erase_rows TO gateway_call, gateway_engine;
