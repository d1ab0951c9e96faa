-- Groups targets by the quarter of an hour in which their slice becomes due, earliest first; a group is due with its first target. Many devices share a time
-- zone and a window, so the due time is computed once per distinct pair.
--
-- due_at: when the targets would have been due if the message had been expanded at its due time. It is earlier than due where the expansion is late, and
-- targets for which it is in another quarter of an hour are a group of their own.
CREATE OR REPLACE FUNCTION gateway.group_by_due(
    p_tenant text, p_lane smallint, p_due timestamptz, p_local bigint, p_expires timestamptz, p_defaults jsonb, p_ids uuid[])
RETURNS TABLE (due timestamptz, ids uuid[], due_at timestamptz)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_zone text := gateway.known_zone(p_defaults->>'timeZone', NULL);
    v_quiet jsonb := p_defaults->'quiet';
    v_quiet_zone text := v_quiet->>'zone';
    v_quiet_from integer;
    v_quiet_to integer;
    v_heeds boolean := gateway.heeds_windows(p_defaults, p_lane) AND coalesce(p_defaults->'windows'->>'hold', 'delay') = 'delay';
BEGIN
    IF v_quiet->'lanes' @> to_jsonb(p_lane) AND v_quiet->>'hold' = 'delay' THEN
        v_quiet_from := (v_quiet->>'from')::integer;
        v_quiet_to := (v_quiet->>'to')::integer;
    END IF;
    IF v_quiet_zone IS NOT NULL THEN v_quiet_zone := gateway.known_zone(v_quiet_zone, v_zone); END IF;
    RETURN QUERY
        WITH t AS (
            SELECT u.id, u.place, x.time_zone, x.window_from, x.window_to, concat_ws('/', x.time_zone, x.window_from, x.window_to) AS clock
            FROM unnest(p_ids) WITH ORDINALITY AS u(id, place)
            -- OFFSET 0 forces lookups by key, even while the tables have no statistics.
            LEFT JOIN LATERAL (
                SELECT d.time_zone, d.window_from, d.window_to FROM gateway.identity i
                JOIN gateway.device d ON d.tenant_id = p_tenant AND d.device_id = i.device_id
                WHERE i.tenant_id = p_tenant AND i.identity_id = u.id OFFSET 0) AS x ON true),
        z AS (
            SELECT t.clock, gateway.known_zone(min(t.time_zone), v_zone) AS zone, min(t.window_from)::integer AS window_from,
                min(t.window_to)::integer AS window_to
            FROM t GROUP BY t.clock),
        c AS MATERIALIZED (
            SELECT z.clock, gateway.due_of(
                now(), p_due, p_local, p_expires, z.zone, coalesce(v_quiet_zone, z.zone), v_quiet_from, v_quiet_to,
                CASE WHEN v_heeds THEN z.window_from END, z.window_to) AS due,
                gateway.due_of(
                p_due, p_due, p_local, p_expires, z.zone, coalesce(v_quiet_zone, z.zone), v_quiet_from, v_quiet_to,
                CASE WHEN v_heeds THEN z.window_from END, z.window_to) AS due_at
            FROM z)
        SELECT min(c.due), array_agg(t.id ORDER BY t.place), min(c.due_at) FROM t JOIN c ON c.clock = t.clock
        GROUP BY floor(extract(epoch FROM c.due) / 900), floor(extract(epoch FROM c.due_at) / 900) ORDER BY 1, 3;
END $$;

REVOKE ALL ON FUNCTION gateway.group_by_due FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.group_by_due TO gateway_engine;
