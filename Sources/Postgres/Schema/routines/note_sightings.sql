-- Records that identities were seen at p_at, by a token or a receipt, for the choice among the identities of a device (`receiving_identities`). Registrations
-- write `registered_at` instead.
--
-- Writes only where devices of the app are shared and another identity of the device is active: at most once an hour per identity, unless another one was seen
-- since. A row that another transaction has locked is skipped, so this never waits, wherever the caller stands in the lock order.
CREATE OR REPLACE FUNCTION gateway.note_sightings(p_tenant text, p_app text, p_ids uuid[], p_at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_id uuid;
BEGIN
    PERFORM FROM gateway.app WHERE tenant_id = p_tenant AND app_id = p_app AND shares_devices;
    IF NOT FOUND THEN RETURN; END IF;
    v_ids := ARRAY(
        SELECT c.id FROM unnest(p_ids) AS c(id)
        CROSS JOIN LATERAL (
            SELECT x.device_id, greatest(x.registered_at, x.seen_at) AS seen FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.identity_id = c.id AND x.state = 'active' OFFSET 0) AS i
        CROSS JOIN LATERAL (
            SELECT max(s.seen) AS seen FROM (
                SELECT greatest(x.registered_at, x.seen_at) AS seen FROM gateway.identity x
                WHERE x.tenant_id = p_tenant AND x.device_id = i.device_id AND x.state = 'active' AND x.identity_id <> c.id
                OFFSET 0) AS s) AS o
        -- `o.seen` is null where no other identity is active.
        WHERE i.seen < p_at AND (i.seen <= o.seen OR o.seen IS NOT NULL AND i.seen < p_at - interval '1 hour'));
    FOREACH v_id IN ARRAY v_ids LOOP
        WITH h AS (
            SELECT x.identity_id FROM gateway.identity x
            WHERE x.tenant_id = p_tenant AND x.identity_id = v_id FOR NO KEY UPDATE SKIP LOCKED)
        UPDATE gateway.identity t SET seen_at = greatest(t.seen_at, p_at) FROM h WHERE t.tenant_id = p_tenant AND t.identity_id = h.identity_id;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.note_sightings FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.note_sightings TO gateway_call, gateway_engine;
