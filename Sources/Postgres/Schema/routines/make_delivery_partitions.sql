-- Creates weekly partitions from the week of p_first_day on and returns how many are new. Rows that wait in the default partition move into their week.
-- Runs as the owner, because only the owner may attach a partition.
CREATE OR REPLACE FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    v_week integer;
    v_name text;
    v_from integer;
    v_made integer := 0;
    v_waiting boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    -- At most 60 weeks: each partition costs planning time in every statement that cannot prune.
    FOR v_week IN p_first_day / 7 .. p_first_day / 7 + least(p_weeks, 60) - 1 LOOP
        v_name := 'delivery_w' || v_week;
        v_from := v_week * 7;
        CONTINUE WHEN to_regclass('gateway.' || v_name) IS NOT NULL;
        SELECT EXISTS (SELECT FROM gateway.delivery_default WHERE due_day >= v_from AND due_day < v_from + 7) INTO v_waiting;
        IF v_waiting THEN
            LOCK TABLE gateway.delivery_default IN ACCESS EXCLUSIVE MODE;
            EXECUTE format('CREATE TABLE gateway.%I (LIKE gateway.delivery INCLUDING DEFAULTS) WITH (fillfactor = 75)', v_name);
            EXECUTE format(
                'WITH moved AS (DELETE FROM gateway.delivery_default WHERE due_day >= %s AND due_day < %s RETURNING *) '
                    'INSERT INTO gateway.%I SELECT * FROM moved',
                v_from, v_from + 7, v_name);
            EXECUTE format(
                'ALTER TABLE gateway.delivery ATTACH PARTITION gateway.%I FOR VALUES FROM (%s) TO (%s)',
                v_name, v_from, v_from + 7);
        ELSE
            -- fillfactor 75: the new version of a row that a receipt writes fits on the same page (HOT).
            EXECUTE format(
                'CREATE TABLE gateway.%I PARTITION OF gateway.delivery FOR VALUES FROM (%s) TO (%s) WITH (fillfactor = 75)',
                v_name, v_from, v_from + 7);
        END IF;
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
END $$;

REVOKE ALL ON FUNCTION gateway.make_delivery_partitions FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.make_delivery_partitions TO gateway_engine;
