-- The number of rows in the default partition, for which no week existed; above 0 is an alarm. Only the owner may read a partition.
CREATE OR REPLACE FUNCTION gateway.default_partition_rows() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FROM gateway.delivery_default);
END $$;

REVOKE ALL ON FUNCTION gateway.default_partition_rows FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.default_partition_rows TO gateway_engine;
