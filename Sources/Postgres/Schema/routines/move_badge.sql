-- Gives the badge of one holder, and what messages did to it, to a holder that has none.
CREATE OR REPLACE FUNCTION gateway.move_badge(p_tenant text, p_app text, p_vendor text, p_from text, p_to text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.badge_mark k SET holder = p_to FROM gateway.message m
        WHERE k.tenant_id = p_tenant AND k.holder = p_from AND m.tenant_id = p_tenant AND m.message_id = k.message_id
            AND m.app_id = p_app AND m.vendor = p_vendor
            AND NOT EXISTS (
                SELECT FROM gateway.badge_mark o
                WHERE o.tenant_id = p_tenant AND o.message_id = k.message_id AND o.holder = p_to);
    UPDATE gateway.badge b SET holder = p_to
        WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = p_from
            AND NOT EXISTS (
                SELECT FROM gateway.badge o
                WHERE o.tenant_id = p_tenant AND o.app_id = p_app AND o.vendor = p_vendor AND o.holder = p_to);
END $$;

REVOKE ALL ON FUNCTION gateway.move_badge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.move_badge TO gateway_call, gateway_engine;
