-- Distributes a tenant table where Citus is installed; does nothing elsewhere. Call it directly after CREATE TABLE and before the foreign keys.
CREATE OR REPLACE FUNCTION gateway.colocate(t regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus') THEN
        EXECUTE format('SELECT create_distributed_table(%L, %L, colocate_with => %L)', t::text, 'tenant_id', 'gateway.app');
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.colocate FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.colocate TO gateway_engine;
