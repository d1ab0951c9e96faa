-- Whether a transaction that holds a lock on one of these tables keeps it for at least 100 ms, such as a report or a backup. A change that needs a table alone
-- then does not request its lock, because every later statement on the table would wait behind the request.
CREATE OR REPLACE FUNCTION gateway.is_in_long_use(p_tables text[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_tables oid[] := ARRAY(SELECT to_regclass('gateway.' || quote_ident(u.name))::oid FROM unnest(p_tables) AS u(name));
    v_database oid := (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());
    v_holders text[];
BEGIN
    v_holders := ARRAY(
        SELECT l.virtualtransaction FROM pg_locks l
        WHERE l.database = v_database AND l.relation = ANY (v_tables) AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid());
    IF cardinality(v_holders) = 0 THEN RETURN false; END IF;
    PERFORM pg_sleep(0.1);
    RETURN EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.database = v_database AND l.relation = ANY (v_tables) AND l.granted AND l.virtualtransaction = ANY (v_holders));
END $$;

REVOKE ALL ON FUNCTION gateway.is_in_long_use FROM PUBLIC, gateway_call, gateway_engine;
