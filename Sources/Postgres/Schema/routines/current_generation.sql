-- The generation of the event logs. A new one begins when the database belongs to another server, has been created again, or runs on another timeline, as after
-- a restore or the promotion of a standby: offsets that were read before may belong to other events now. Runs with the owner's rights, because calls may not
-- change the row.
CREATE OR REPLACE FUNCTION gateway.current_generation() RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_system bigint := (SELECT c.system_identifier FROM pg_control_system() c);
    v_database bigint := (SELECT d.oid::bigint FROM pg_database d WHERE d.datname = current_database());
    -- The first eight digits of the name of a WAL file are its timeline.
    v_timeline integer := ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
    v_generation uuid;
BEGIN
    SELECT g.generation INTO v_generation FROM gateway.log_generation g
        WHERE g.system_identifier = v_system AND g.database_oid = v_database AND g.timeline = v_timeline;
    IF FOUND THEN RETURN v_generation; END IF;
    -- Of concurrent callers, the first one writes the row.
    v_generation := gen_random_uuid();
    INSERT INTO gateway.log_generation AS g (generation, system_identifier, database_oid, timeline)
        VALUES (v_generation, v_system, v_database, v_timeline)
        ON CONFLICT (is_only) DO UPDATE SET generation = excluded.generation, system_identifier = excluded.system_identifier,
            database_oid = excluded.database_oid, timeline = excluded.timeline
        WHERE (g.system_identifier, g.database_oid, g.timeline) IS DISTINCT FROM (v_system, v_database, v_timeline);
    SELECT g.generation INTO v_generation FROM gateway.log_generation g;
    RETURN v_generation;
END $$;

REVOKE ALL ON FUNCTION gateway.current_generation FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.current_generation TO gateway_call, gateway_engine;
