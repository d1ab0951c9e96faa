-- Sets time zones and windows of imported rows, after `import_identities`, as parallel arrays. Of two rows with one key the later one counts. Goes device
-- by device in their order, so that two imports wait for each other and cannot deadlock.
CREATE OR REPLACE FUNCTION gateway.import_clocks(
    p_tenant text, p_app text, p_vendor text, p_keys text[], p_zones text[], p_from integer[], p_to integer[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT i.device_id, u.zone, u.first, u.last FROM unnest(p_keys, p_zones, p_from, p_to) WITH ORDINALITY AS u(key, zone, first, last, o)
        CROSS JOIN LATERAL (
            SELECT x.device_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.app_id = p_app AND x.vendor = p_vendor AND x.key = u.key OFFSET 0) AS i
        WHERE u.zone IS NOT NULL OR u.first IS NOT NULL ORDER BY i.device_id, u.o
    LOOP
        PERFORM gateway.set_clock(p_tenant, r.device_id, r.zone, r.first, r.last);
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.import_clocks FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.import_clocks TO gateway_call, gateway_engine;
