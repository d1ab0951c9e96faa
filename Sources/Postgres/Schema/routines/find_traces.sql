-- The traces of messages by their ids or numbers (`numbered_message`). Messages that were not sampled have no row.
CREATE OR REPLACE FUNCTION gateway.find_traces(p_tenant text, p_app text, p_vendor text, p_references text[])
RETURNS TABLE (reference text, trace text) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    v_ids uuid[] := ARRAY(
        SELECT gateway.numbered_message(p_tenant, p_app, p_vendor, u.reference)
        FROM unnest(p_references) WITH ORDINALITY AS u(reference, o) ORDER BY u.o);
BEGIN
    RETURN QUERY SELECT u.reference, t.trace FROM unnest(p_references, v_ids) AS u(reference, id)
        CROSS JOIN LATERAL (
            SELECT m.content ->> 'trace' AS trace FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.message_id = u.id AND m.app_id = p_app LIMIT 1) AS t
        WHERE t.trace IS NOT NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.find_traces FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_traces TO gateway_call, gateway_engine;
