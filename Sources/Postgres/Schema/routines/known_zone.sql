-- p_zone if the server knows it, else p_default, else UTC. A name that only the gateway's time zone table has must not stop an expansion.
CREATE OR REPLACE FUNCTION gateway.known_zone(p_zone text, p_default text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_zone IS NOT NULL THEN
        BEGIN
            PERFORM now() AT TIME ZONE p_zone;
            RETURN p_zone;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END IF;
    RETURN CASE WHEN p_default IS NULL THEN 'UTC' ELSE gateway.known_zone(p_default, NULL) END;
END $$;

REVOKE ALL ON FUNCTION gateway.known_zone FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.known_zone TO gateway_call, gateway_engine;
