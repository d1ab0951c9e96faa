-- Sets a holder's badge, or reads it (p_count null). Returns null if the holder does not exist.
CREATE OR REPLACE FUNCTION gateway.set_badge(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_user text, p_count integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[] := gateway.reporting_identities(p_tenant, p_app, p_vendor, p_key, p_token, p_user);
    v_holder text;
    v_count integer;
BEGIN
    SELECT coalesce('user:' || i.user_id, 'key:' || i.key) INTO v_holder FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = v_ids[1];
    IF v_holder IS NULL THEN RETURN NULL; END IF;
    IF p_count IS NULL THEN
        SELECT b.count INTO v_count FROM gateway.badge b
            WHERE b.tenant_id = p_tenant AND b.app_id = p_app AND b.vendor = p_vendor AND b.holder = v_holder;
        RETURN coalesce(v_count, 0);
    END IF;
    INSERT INTO gateway.badge (tenant_id, app_id, vendor, holder, count) VALUES (p_tenant, p_app, p_vendor, v_holder, p_count)
        ON CONFLICT (tenant_id, app_id, vendor, holder) DO UPDATE SET count = excluded.count;
    RETURN p_count;
END $$;

REVOKE ALL ON FUNCTION gateway.set_badge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_badge TO gateway_call, gateway_engine;
