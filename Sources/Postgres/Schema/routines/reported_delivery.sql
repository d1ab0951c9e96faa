-- The delivery that a reporter may see, including one that is still queued. is_reserved: its message is not due yet. p_whole: also one to the reporter's phone
-- before the reporter had it (`visible_from`).
CREATE OR REPLACE FUNCTION gateway.reported_delivery(p_tenant text, p_app text, p_vendor text, p_message uuid, p_key text,
    p_whole boolean DEFAULT true)
RETURNS TABLE (
    message_id uuid, target_id uuid, identity_id uuid, address text, state text, reason text, sent_at timestamptz,
    received_at timestamptz, read_at timestamptz, is_reserved boolean, fallback json, platform text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    i gateway.identity;
    m gateway.message;
    v_platform text;
    v_target uuid;
BEGIN
    SELECT * INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = p_key;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT x.platform INTO v_platform FROM gateway.device x WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id;
    SELECT * INTO m FROM gateway.message x WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.app_id = p_app;
    IF p_message < gateway.visible_from(i.assurance, i.user_since, i.created_at, p_whole) THEN i.phone := NULL; END IF;
    IF m.message_id IS NOT NULL THEN
        v_target := gateway.reported_target(p_tenant, p_message, m.due_day, m.recipients, i.identity_id, i.phone);
        IF v_target IS NOT NULL THEN
            RETURN QUERY SELECT d.message_id, d.target_id, d.identity_id, d.address, d.state, d.reason, d.sent_at,
                    d.received_at, d.read_at, m.state = 'scheduled', m.fallback, v_platform
                FROM gateway.delivery d
                WHERE d.tenant_id = p_tenant AND d.due_day = m.due_day AND d.message_id = p_message AND d.target_id = v_target;
            RETURN;
        END IF;
        IF m.recipients IS NOT NULL AND m.expanded = 0 THEN
            -- A list has at most 2000 targets, and only a list has addresses.
            RETURN QUERY SELECT p_message, u.target, CASE WHEN u.target = i.identity_id THEN u.target END, nullif(u.address, ''),
                    'queued', NULL::text, NULL::timestamptz, NULL::timestamptz, NULL::timestamptz, m.state = 'scheduled',
                    m.fallback, v_platform
                FROM gateway.slice s CROSS JOIN LATERAL unnest(s.targets, s.addresses) AS u(target, address)
                WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done'
                    AND (u.target = i.identity_id OR u.address = 'phone:' || i.phone)
                ORDER BY u.target = i.identity_id DESC LIMIT 1;
        ELSE
            RETURN QUERY SELECT p_message, i.identity_id, i.identity_id, NULL::text, 'queued', NULL::text, NULL::timestamptz,
                    NULL::timestamptz, NULL::timestamptz, m.state = 'scheduled', m.fallback, v_platform
                FROM gateway.find_queued(p_tenant, p_message, i.identity_id);
        END IF;
        IF FOUND THEN RETURN; END IF;
    END IF;
    -- The delivery does not exist, but the answer depends on the platform.
    RETURN QUERY SELECT NULL::uuid, NULL::uuid, NULL::uuid, NULL::text, NULL::text, NULL::text, NULL::timestamptz,
        NULL::timestamptz, NULL::timestamptz, false, NULL::json, v_platform;
END $$;

REVOKE ALL ON FUNCTION gateway.reported_delivery FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.reported_delivery TO gateway_call, gateway_engine;
