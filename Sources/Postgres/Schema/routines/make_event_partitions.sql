-- Creates daily partitions of the event log from p_first_day on and returns how many are new. A day whose events already wait in the default partition gets no
-- partition. Gives up at the first table lock that it does not get within 200 ms, because writers queue behind it; the next call continues. Runs as the owner,
-- because only the owner may attach a partition.
CREATE OR REPLACE FUNCTION gateway.make_event_partitions(p_first_day integer, p_days integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    v_made integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('gateway.event partitions', 0)) THEN RETURN 0; END IF;
    -- At most 30 days: each partition costs time in every statement that cannot prune.
    FOR v_day IN p_first_day .. p_first_day + least(p_days, 30) - 1 LOOP
        CONTINUE WHEN to_regclass('gateway.event_batch_d' || v_day) IS NOT NULL;
        CONTINUE WHEN EXISTS (SELECT 1 FROM gateway.event_batch_default b WHERE b.day = v_day);
        EXECUTE format(
            'CREATE TABLE gateway.event_batch_d%s PARTITION OF gateway.event_batch FOR VALUES FROM (%s) TO (%s) '
                'WITH (toast_tuple_target = 8160)',
            v_day, v_day, v_day + 1);
        v_made := v_made + 1;
    END LOOP;
    RETURN v_made;
EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
END $$;

REVOKE ALL ON FUNCTION gateway.make_event_partitions FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.make_event_partitions TO gateway_engine;
