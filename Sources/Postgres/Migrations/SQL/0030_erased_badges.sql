-- A device that is erased leaves no badge behind: what was counted for it while nobody was its user.

-- As in 0012; new: the badges of the devices themselves, and what messages did to them.
CREATE OR REPLACE FUNCTION gateway.erase_rows(p_tenant text, p_devices uuid[], p_identities uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
    v_identities uuid[];
    v_phones text[];
    v_messages uuid[];
    g record;
BEGIN
    SELECT coalesce(array_agg(i.identity_id), '{}'), coalesce(array_agg(i.phone) FILTER (WHERE i.phone IS NOT NULL), '{}')
        INTO v_identities, v_phones FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND (i.device_id = ANY (p_devices) OR i.identity_id = ANY (p_identities));
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
    -- No index knows a target: of messages without a row for it, only those that are still being sent are looked through.
    UPDATE gateway.slice s SET addresses = (
            SELECT array_agg(CASE WHEN u.target = ANY (v_identities) THEN '' ELSE u.address END ORDER BY u.o)
            FROM unnest(s.targets, s.addresses) WITH ORDINALITY AS u(target, address, o))
        WHERE s.tenant_id = p_tenant AND (s.message_id = ANY (v_messages) OR s.state IN ('ready', 'leased'))
            AND cardinality(s.addresses) > 0 AND s.targets && v_identities;
    DELETE FROM gateway.verification WHERE tenant_id = p_tenant AND phone = ANY (v_phones);
    -- Marks before counters, as everybody takes them.
    DELETE FROM gateway.badge_mark k USING gateway.message m, gateway.identity i
        WHERE k.tenant_id = p_tenant AND k.holder = 'key:' || i.key AND i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities)
            AND m.tenant_id = p_tenant AND m.message_id = k.message_id AND m.app_id = i.app_id AND m.vendor = i.vendor;
    DELETE FROM gateway.badge b USING gateway.identity i
        WHERE b.tenant_id = p_tenant AND i.tenant_id = p_tenant AND i.identity_id = ANY (v_identities)
            AND b.app_id = i.app_id AND b.vendor = i.vendor AND b.holder = 'key:' || i.key;
    DELETE FROM gateway.identity WHERE tenant_id = p_tenant AND identity_id = ANY (v_identities);
    DELETE FROM gateway.device WHERE tenant_id = p_tenant AND device_id = ANY (p_devices);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

-- As in 0019; marks before counters, as everybody takes them: the other order could wait in a ring with a message that counts.
CREATE OR REPLACE FUNCTION gateway.forget_user(p_tenant text, p_user text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.badge_mark WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.campaign_mark WHERE tenant_id = p_tenant AND user_id = p_user;
END $$;
