-- Looks up the answer of an idempotency key. outcome: new (this transaction holds the key until it ends), repeated (with the first answer), or mismatch (the
-- key was used with another body).
CREATE OR REPLACE FUNCTION gateway.find_answer(p_tenant text, p_key text, p_body_hash text)
RETURNS TABLE (outcome text, status smallint, answer bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v gateway.idempotency;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'answer', p_key);
    -- A separate statement, so that it sees what the previous holder of the lock has committed.
    SELECT * INTO v FROM gateway.idempotency y
        WHERE y.tenant_id = p_tenant AND y.app_id = '' AND y.vendor = 'native' AND y.key = p_key;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'new', NULL::smallint, NULL::bytea;
    ELSIF v.body_hash = p_body_hash THEN
        RETURN QUERY SELECT 'repeated', v.status, v.answer;
    ELSE
        RETURN QUERY SELECT 'mismatch', NULL::smallint, NULL::bytea;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.find_answer FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_answer TO gateway_call, gateway_engine;
