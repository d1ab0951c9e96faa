-- Attaches the tables that `stage_default_rows` has filled, after copying the rows that were written since its last pass, which returned p_horizon. The default
-- partition is replaced by a new one with the rows of all other weeks, at most 20,000; deleting a million rows from it would lock it for more than a second.
--
-- Raises 55P03 instead of waiting for a long transaction, and when too many rows of other weeks remain. Does nothing on Citus. Runs as the owner.
CREATE OR REPLACE FUNCTION gateway.attach_staged_weeks(p_weeks integer[], p_horizon bigint) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    v_week integer;
    v_changed gateway.delivery[];
    v_left gateway.delivery[];
BEGIN
    IF EXISTS (SELECT 1 FROM pg_extension x WHERE x.extname = 'citus') THEN RETURN 0; END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    IF (SELECT count(*) FROM gateway.delivery_default d WHERE NOT d.due_day / 7 = ANY (p_weeks)) > 20000 THEN
        RAISE EXCEPTION 'the default partition has too many rows of other weeks' USING ERRCODE = 'lock_not_available';
    END IF;
    IF gateway.is_in_long_use(ARRAY['delivery', 'delivery_default']) THEN
        RAISE EXCEPTION 'a transaction uses the deliveries' USING ERRCODE = 'lock_not_available';
    END IF;
    LOCK TABLE gateway.delivery_default IN ACCESS EXCLUSIVE MODE;
    -- One scan, because it takes most of the time for which the lock is held.
    SELECT array_agg(d::gateway.delivery) FILTER (WHERE age(d.xmin) <= age(p_horizon::text::xid8::xid)),
            array_agg(d::gateway.delivery) FILTER (WHERE NOT d.due_day / 7 = ANY (p_weeks))
        INTO v_changed, v_left FROM gateway.delivery_default d;
    FOREACH v_week IN ARRAY p_weeks LOOP
        EXECUTE format(
            'DELETE FROM gateway.%I s USING unnest($1) AS u '
                'WHERE s.tenant_id = u.tenant_id AND s.due_day = u.due_day AND s.message_id = u.message_id AND s.target_id = u.target_id',
            'delivery_s' || v_week) USING v_changed;
        EXECUTE format(
            'INSERT INTO gateway.%I SELECT (u).* FROM unnest($1) AS u WHERE u.due_day >= %s AND u.due_day < %s',
            'delivery_s' || v_week, v_week * 7, v_week * 7 + 7) USING v_changed;
    END LOOP;
    -- From here on everything waits for the lock on the parent; what follows changes the catalog and at most 20,000 rows.
    ALTER TABLE gateway.delivery DETACH PARTITION gateway.delivery_default;
    DROP TABLE gateway.delivery_default;
    CREATE TABLE gateway.delivery_default (LIKE gateway.delivery INCLUDING ALL) WITH (fillfactor = 75);
    INSERT INTO gateway.delivery_default SELECT (u).* FROM unnest(v_left) AS u;
    ALTER TABLE gateway.delivery ATTACH PARTITION gateway.delivery_default DEFAULT;
    FOREACH v_week IN ARRAY p_weeks LOOP
        EXECUTE format('ALTER TABLE gateway.%I RENAME TO %I', 'delivery_s' || v_week, 'delivery_w' || v_week);
        EXECUTE format(
            'ALTER TABLE gateway.delivery ATTACH PARTITION gateway.%I FOR VALUES FROM (%s) TO (%s)',
            'delivery_w' || v_week, v_week * 7, v_week * 7 + 7);
        EXECUTE format('ALTER TABLE gateway.%I DROP CONSTRAINT staged', 'delivery_w' || v_week);
    END LOOP;
    RETURN cardinality(p_weeks);
END $$;

REVOKE ALL ON FUNCTION gateway.attach_staged_weeks FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.attach_staged_weeks TO gateway_engine;
