-- Drops the daily partitions of the event log before p_before_day, oldest first, and returns how many. Stops at a day from p_pending_day on with events that a
-- webhook has not received or the event reader has not counted, so that no log gets a gap, and at the first table lock that it does not get within 200 ms; the next call continues. Also empties
-- `event_single` when none of its rows is kept any longer.
CREATE OR REPLACE FUNCTION gateway.drop_event_partitions(p_before_day integer, p_pending_day integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    v_day integer;
    v_is_pending boolean;
    v_dropped integer := 0;
    v_tenant text;
    v_at timestamptz;
    v_is_old boolean;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('gateway.event partitions', 0)) THEN RETURN 0; END IF;
    FOR v_day IN
        SELECT substr(c.relname, 14)::integer FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.event_batch'::regclass AND c.relname ~ '^event_batch_d[0-9]+$'
            AND substr(c.relname, 14)::integer < p_before_day
        ORDER BY 1
    LOOP
        IF v_day >= p_pending_day THEN
            EXECUTE format(
                'SELECT EXISTS (SELECT 1 FROM gateway.webhook w WHERE EXISTS ('
                    'SELECT 1 FROM gateway.event_batch_d%1$s b WHERE b.tenant_id = w.tenant_id AND b.last > w.cursor)) OR '
                    'EXISTS (SELECT 1 FROM gateway.event_reader r WHERE EXISTS ('
                    'SELECT 1 FROM gateway.event_batch_d%1$s b WHERE b.tenant_id = r.tenant_id AND b.last > r.cursor))',
                v_day) INTO v_is_pending;
            EXIT WHEN v_is_pending;
        END IF;
        BEGIN
            EXECUTE format('DROP TABLE gateway.event_batch_d%s', v_day);
        EXCEPTION WHEN lock_not_available THEN
            EXIT;
        END;
        v_dropped := v_dropped + 1;
    END LOOP;

    -- The rows of older programs are removed at once when the newest of each tenant is old enough.
    v_is_old := EXISTS (SELECT 1 FROM gateway.event_single);
    IF v_is_old THEN
        -- Tenant by tenant: Citus refuses a subquery about the rows of a reference table.
        FOR v_tenant IN SELECT t.tenant_id FROM gateway.tenant t LOOP
            v_at := (SELECT s.at FROM gateway.event_single s WHERE s.tenant_id = v_tenant ORDER BY s.position DESC LIMIT 1);
            v_is_old := v_at IS NULL OR v_at < to_timestamp(least(p_before_day, p_pending_day) * 86400::float8);
            EXIT WHEN NOT v_is_old;
        END LOOP;
    END IF;
    IF v_is_old THEN
        BEGIN
            TRUNCATE gateway.event_single;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END IF;
    RETURN v_dropped;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_event_partitions FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_event_partitions TO gateway_engine;
