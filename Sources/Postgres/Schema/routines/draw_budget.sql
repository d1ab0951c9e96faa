-- Draws up to p_want pushes from each of the named budgets at once and returns how many, possibly 0. p_ahead: how far ahead of the time a budget may be
-- spent. p_saved: how much unused time a budget keeps.
CREATE OR REPLACE FUNCTION gateway.draw_budget(
    p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_count bigint := p_want;
    v_names text[] := '{}';
    v_rates integer[] := '{}';
    v_spent timestamptz[] := '{}';
    r record;
BEGIN
    INSERT INTO gateway.budget (tenant_id, name, spent_until)
        SELECT p_tenant, n.name, now() FROM unnest(p_names) AS n(name) ON CONFLICT (tenant_id, name) DO NOTHING;
    -- Locked in the order of their names, so that two calls for the same budgets cannot deadlock.
    PERFORM FROM gateway.budget WHERE tenant_id = p_tenant AND name = ANY (p_names) ORDER BY name FOR UPDATE;
    -- Read after the locks are granted, because waiting for them takes time.
    v_now := clock_timestamp();
    FOR r IN
        SELECT b.name, greatest(b.spent_until, v_now - p_saved) AS spent, u.rate FROM unnest(p_names, p_rates) AS u(name, rate)
        JOIN gateway.budget b ON b.tenant_id = p_tenant AND b.name = u.name
    LOOP
        v_names := v_names || r.name;
        v_rates := v_rates || r.rate;
        v_spent := v_spent || r.spent;
        v_count := least(
            v_count,
            floor(extract(epoch FROM v_now + p_ahead - r.spent) * r.rate)::bigint);
    END LOOP;
    IF v_count <= 0 THEN RETURN 0; END IF;
    -- The times are computed beforehand: Citus refuses a time that an UPDATE computes from a column and an interval.
    v_spent := ARRAY(
        SELECT u.spent + make_interval(secs => v_count::double precision / u.rate)
        FROM unnest(v_spent, v_rates) WITH ORDINALITY AS u(spent, rate, o) ORDER BY u.o);
    UPDATE gateway.budget b SET spent_until = u.until FROM unnest(v_names, v_spent) AS u(name, until)
        WHERE b.tenant_id = p_tenant AND b.name = u.name;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.draw_budget FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.draw_budget TO gateway_engine;
