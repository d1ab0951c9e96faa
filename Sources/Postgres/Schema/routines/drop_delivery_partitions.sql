-- Drops the weekly partitions that end before p_before_day and returns how many.
CREATE OR REPLACE FUNCTION gateway.drop_delivery_partitions(p_before_day integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    v_name text;
    v_dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('gateway.delivery partitions', 0));
    FOR v_name IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'gateway.delivery'::regclass AND c.relname ~ '^delivery_w[0-9]+$'
            AND (substr(c.relname, 11)::integer + 1) * 7 <= p_before_day
    LOOP
        EXECUTE format('DROP TABLE gateway.%I', v_name);
        v_dropped := v_dropped + 1;
    END LOOP;
    RETURN v_dropped;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_delivery_partitions FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_delivery_partitions TO gateway_engine;
