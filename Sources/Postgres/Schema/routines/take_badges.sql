-- Counts a message for the holders of these targets, once each, and returns the badges that their pushes carry; targets that cannot receive a push are
-- left out. A message that is not being sent counts nothing: it was canceled or has expired, or it is paused and counts when it is resumed. Every function that changes badges takes marks first, then badges, each in the order of holders, so that they cannot deadlock.
CREATE OR REPLACE FUNCTION gateway.take_badges(p_tenant text, p_message uuid, p_step integer, p_places bigint[], p_targets uuid[])
RETURNS TABLE (place bigint, badge integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    m record;
    v_holders text[];
    v_new text[];
BEGIN
    SELECT x.app_id, x.vendor INTO m FROM gateway.message x
        WHERE x.tenant_id = p_tenant AND x.message_id = p_message AND x.state NOT IN ('canceled', 'expired', 'paused')
            AND x.expires_at > now();
    IF NOT FOUND THEN RETURN; END IF;
    v_holders := ARRAY(
        SELECT DISTINCT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder FROM gateway.identity i
        JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (p_targets) AND i.vendor = m.vendor AND i.state = 'active'
            AND i.accepts_push AND d.token_state = 'active'
        ORDER BY holder);
    WITH r AS (
        INSERT INTO gateway.badge_mark (tenant_id, message_id, holder)
            SELECT p_tenant, p_message, h FROM unnest(v_holders) AS h ORDER BY h
            ON CONFLICT DO NOTHING RETURNING holder)
    SELECT array_agg(r.holder ORDER BY r.holder) INTO v_new FROM r;
    IF v_new IS NOT NULL THEN
        WITH r AS (
            -- At most a billion, so that every client can represent the number.
            INSERT INTO gateway.badge AS b (tenant_id, app_id, vendor, holder, count)
                SELECT p_tenant, m.app_id, m.vendor, h, p_step FROM unnest(v_new) AS h ORDER BY h
                ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = least(b.count + excluded.count, 1000000000)
                RETURNING b.holder, b.count)
        UPDATE gateway.badge_mark k SET badge = r.count FROM r
            WHERE k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = r.holder;
    END IF;
    RETURN QUERY SELECT t.place, k.badge FROM unnest(p_places, p_targets) AS t(place, target)
        JOIN gateway.identity i ON i.tenant_id = p_tenant AND i.identity_id = t.target
        CROSS JOIN LATERAL (SELECT coalesce('user:' || i.user_id, 'key:' || i.key) AS holder OFFSET 0) AS h
        JOIN gateway.badge_mark k ON k.tenant_id = p_tenant AND k.message_id = p_message AND k.holder = h.holder
        WHERE k.badge IS NOT NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.take_badges FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.take_badges TO gateway_engine;
