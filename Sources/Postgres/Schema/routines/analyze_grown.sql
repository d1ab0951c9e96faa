-- Analyzes up to ten tables that have grown tenfold since their last ANALYZE, and returns how many. Autovacuum does it within a minute; until then the
-- planner assumes that the table is empty and reads all rows of a tenant where it should look one up. Skips tables that another session is analyzing.
CREATE OR REPLACE FUNCTION gateway.analyze_grown() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_name text;
    v_count bigint := 0;
BEGIN
    FOR v_name IN
        SELECT c.relname FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
        WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind = 'r'
            -- Below 500 rows the plan hardly matters.
            AND s.n_live_tup >= 500 AND s.n_live_tup >= 10 * greatest(c.reltuples, 0)
        ORDER BY s.n_live_tup DESC LIMIT 10
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) gateway.%I', v_name);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.analyze_grown FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.analyze_grown TO gateway_engine;
