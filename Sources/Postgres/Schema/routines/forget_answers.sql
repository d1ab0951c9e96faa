-- Empties the kept answers that contain one of the given texts as a JSON string. The keys stay, so that a repeated call still changes nothing.
CREATE OR REPLACE FUNCTION gateway.forget_answers(p_tenant text, p_texts text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE gateway.idempotency k SET answer = ''
        WHERE k.tenant_id = p_tenant AND k.answer IS NOT NULL AND k.answer <> '' AND EXISTS (
            SELECT FROM unnest(p_texts) AS t (text)
            WHERE position(convert_to(to_json(t.text)::text, 'UTF8') IN k.answer) > 0);
END $$;

REVOKE ALL ON FUNCTION gateway.forget_answers FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_answers TO gateway_call, gateway_engine;
