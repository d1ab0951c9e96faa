-- Starts a capture. Returns started, or the reason why not: missing (no such app), tooMany, or running (the binding is already being captured). The lock
-- prevents two concurrent starts from exceeding the limit.
CREATE OR REPLACE FUNCTION gateway.start_capture(
    p_tenant text, p_capture uuid, p_app text, p_vendor text, p_actor text, p_seconds integer, p_exchanges integer, p_body integer,
    p_bytes integer, p_texts boolean, p_limit integer)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'capture', '');
    IF NOT EXISTS (SELECT FROM gateway.app a WHERE a.tenant_id = p_tenant AND a.app_id = p_app AND a.retired_at IS NULL) THEN
        RETURN 'missing';
    END IF;
    IF EXISTS (
        SELECT FROM gateway.capture c WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.vendor = p_vendor
            AND c.ended_at IS NULL AND c.ends_at > now()) THEN
        RETURN 'running';
    END IF;
    IF (SELECT count(*) FROM gateway.capture c WHERE c.tenant_id = p_tenant) >= p_limit THEN RETURN 'tooMany'; END IF;
    INSERT INTO gateway.capture (
            tenant_id, capture_id, app_id, vendor, started_at, ends_at, started_by, keeps_texts, exchange_limit, body_limit, byte_limit)
        VALUES (
            p_tenant, p_capture, p_app, p_vendor, now(), now() + p_seconds * interval '1 second', p_actor, p_texts, p_exchanges, p_body,
            p_bytes);
    RETURN 'started';
END $$;

REVOKE ALL ON FUNCTION gateway.start_capture FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.start_capture TO gateway_call;
