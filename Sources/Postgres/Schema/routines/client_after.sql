-- The facts of a client after a report. A fact that the report does not name stays, one that it names as null is removed. Null: no facts.
CREATE OR REPLACE FUNCTION gateway.client_after(p_old jsonb, p_report jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN p_report IS NULL THEN p_old ELSE nullif(jsonb_strip_nulls(coalesce(p_old, '{}') || p_report), '{}') END;
END $$;

REVOKE ALL ON FUNCTION gateway.client_after FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.client_after TO gateway_call, gateway_engine;
