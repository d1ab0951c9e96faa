-- Serializes the holders of a name until their transactions end: of two registrations of one key or token, the second must find the result of the first.
CREATE OR REPLACE FUNCTION gateway.lock_name(p_tenant text, p_kind text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(
        pg_catalog.hashtextextended(p_tenant || chr(31) || p_kind || chr(31) || p_name, 0));
END $$;

REVOKE ALL ON FUNCTION gateway.lock_name FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.lock_name TO gateway_call, gateway_engine;
