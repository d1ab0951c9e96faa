-- Draws up to p_want pushes from each of the named budgets at once and returns how many, possibly 0. p_ahead: how far ahead of the time a budget may be
-- spent. p_saved: how much unused time a budget keeps.
CREATE OR REPLACE FUNCTION gateway.draw_budget(
    p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_count bigint := p_want;
    r record;
BEGIN
    INSERT INTO gateway.budget (tenant_id, name, spent_until)
        SELECT p_tenant, n.name, now() FROM unnest(p_names) AS n(name) ON CONFLICT (tenant_id, name) DO NOTHING;
    -- Locked in the order of their names, so that two calls for the same budgets cannot deadlock.
    PERFORM FROM gateway.budget WHERE tenant_id = p_tenant AND name = ANY (p_names) ORDER BY name FOR UPDATE;
    -- Read after the locks are granted, because waiting for them takes time.
    v_now := clock_timestamp();
    FOR r IN
        SELECT b.spent_until, u.rate FROM unnest(p_names, p_rates) AS u(name, rate)
        JOIN gateway.budget b ON b.tenant_id = p_tenant AND b.name = u.name
    LOOP
        v_count := least(
            v_count,
            floor(extract(epoch FROM v_now + p_ahead - greatest(r.spent_until, v_now - p_saved)) * r.rate)::bigint);
    END LOOP;
    IF v_count <= 0 THEN RETURN 0; END IF;
    UPDATE gateway.budget b
        SET spent_until = greatest(b.spent_until, v_now - p_saved) + make_interval(secs => v_count::double precision / u.rate)
        FROM unnest(p_names, p_rates) AS u(name, rate)
        WHERE b.tenant_id = p_tenant AND b.name = u.name;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.draw_budget FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.draw_budget TO gateway_engine;
