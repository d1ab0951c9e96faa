-- Counts a try to prove a phone number. A matching code is used up.
CREATE OR REPLACE FUNCTION gateway.check_verification(
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

REVOKE ALL ON FUNCTION gateway.check_verification FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.check_verification TO gateway_call, gateway_engine;
