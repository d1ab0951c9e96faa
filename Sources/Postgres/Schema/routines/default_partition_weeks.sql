-- The weeks to which the rows of the default partition belong. Only the owner may read a partition.
CREATE OR REPLACE FUNCTION gateway.default_partition_weeks() RETURNS TABLE (week integer, rows bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT d.due_day / 7, count(*) FROM gateway.delivery_default d GROUP BY 1 ORDER BY 1;
END $$;

REVOKE ALL ON FUNCTION gateway.default_partition_weeks FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.default_partition_weeks TO gateway_engine;
