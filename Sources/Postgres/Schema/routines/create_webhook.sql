-- Creates a webhook, which receives the events from now on. Returns false if the tenant already has p_limit webhooks.
CREATE OR REPLACE FUNCTION gateway.create_webhook(
    p_tenant text, p_id uuid, p_url text, p_app text, p_kinds text[], p_sealed bytea, p_key_id text, p_active boolean, p_limit integer,
    p_order text DEFAULT 'log')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_last bigint;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'webhooks', '');
    IF (SELECT count(*) FROM gateway.webhook w WHERE w.tenant_id = p_tenant) >= p_limit THEN RETURN false; END IF;
    v_last := gateway.last_event(p_tenant);
    INSERT INTO gateway.webhook (tenant_id, webhook_id, url, app_id, kinds, sealed, key_id, is_active, cursor, delivery_order)
        VALUES (p_tenant, p_id, p_url, p_app, p_kinds, p_sealed, p_key_id, p_active, v_last, p_order);
    RETURN true;
END $$;

REVOKE ALL ON FUNCTION gateway.create_webhook FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.create_webhook TO gateway_call, gateway_engine;
