-- Stores a verification code for a phone number unless the last one was sent too recently, or too many were sent within the hour.
CREATE OR REPLACE FUNCTION gateway.put_verification(
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

REVOKE ALL ON FUNCTION gateway.put_verification FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_verification TO gateway_call, gateway_engine;
