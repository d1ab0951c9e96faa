-- `lock_name` for several names of one kind, each once, in the order of the names. Returns how many they are.
CREATE OR REPLACE FUNCTION gateway.lock_names(p_tenant text, p_kind text, p_names text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(
            pg_catalog.hashtextextended(p_tenant || chr(31) || p_kind || chr(31) || n.name, 0))
        FROM (SELECT DISTINCT u.name FROM unnest(p_names) AS u(name) ORDER BY 1) AS n;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.lock_names FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.lock_names TO gateway_call, gateway_engine;
