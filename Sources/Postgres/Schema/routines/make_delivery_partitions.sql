-- Creates weekly partitions from the week of p_first_day on and returns how many are new. Rows that wait in the default partition move into their week. A
-- week with more than 5,000 such rows is left out, because moving them would lock the default partition for longer than 300 ms: `stage_default_rows` and
-- `attach_staged_weeks` create it.
--
-- Raises 55P03 instead of waiting for a long transaction. Runs as the owner, because only the owner may attach a partition.
CREATE OR REPLACE FUNCTION gateway.make_delivery_partitions(p_first_day integer, p_weeks integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    v_week integer;
    v_name text;
    v_from integer;
    v_made integer := 0;
    v_waiting bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    -- At most 60 weeks: each partition costs planning time in every statement that cannot prune.
    FOR v_week IN p_first_day / 7 .. p_first_day / 7 + least(p_weeks, 60) - 1 LOOP
        v_name := 'delivery_w' || v_week;
        v_from := v_week * 7;
        CONTINUE WHEN to_regclass('gateway.' || v_name) IS NOT NULL;
        SELECT count(*) INTO v_waiting FROM (
            SELECT 1 FROM gateway.delivery_default d WHERE d.due_day >= v_from AND d.due_day < v_from + 7 LIMIT 5001) AS x;
        CONTINUE WHEN v_waiting > 5000;
        IF v_made = 0 AND gateway.is_in_long_use(ARRAY['delivery_default']) THEN
            RAISE EXCEPTION 'a transaction uses the default partition' USING ERRCODE = 'lock_not_available';
        END IF;
        -- Attaching locks the parent against other changes of its structure and the default partition against everything. Inserts into existing weeks and
        -- look-ups by due day use neither lock. CREATE TABLE … PARTITION OF would lock the parent against everything.
        LOCK TABLE gateway.delivery_default IN ACCESS EXCLUSIVE MODE;
        -- fillfactor 75: a receipt's new version of a row fits on the same page (HOT). With 8,000 receipts of 20,000 rows all were heap-only, and 79 % while an
        -- old snapshot kept pages from being pruned; with 100 they were 84 % and 0 %.
        EXECUTE format('CREATE TABLE gateway.%I (LIKE gateway.delivery INCLUDING ALL) WITH (fillfactor = 75)', v_name);
        -- Again, under the lock.
        IF EXISTS (SELECT 1 FROM gateway.delivery_default d WHERE d.due_day >= v_from AND d.due_day < v_from + 7) THEN
            EXECUTE format(
                'WITH moved AS (DELETE FROM gateway.delivery_default WHERE due_day >= %s AND due_day < %s RETURNING *) '
                    'INSERT INTO gateway.%I SELECT * FROM moved',
                v_from, v_from + 7, v_name);
        END IF;
        EXECUTE format(
            'ALTER TABLE gateway.delivery ATTACH PARTITION gateway.%I FOR VALUES FROM (%s) TO (%s)', v_name, v_from, v_from + 7);
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
END $$;

REVOKE ALL ON FUNCTION gateway.make_delivery_partitions FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.make_delivery_partitions TO gateway_engine;
