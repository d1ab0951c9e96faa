-- How many pushes per second a tenant and a credential may send, over all nodes together.

-- Null: as many as there are.
ALTER TABLE gateway.tenant ADD COLUMN pushes_per_second integer CHECK (pushes_per_second > 0);
ALTER TABLE gateway.credential ADD COLUMN pushes_per_second integer CHECK (pushes_per_second > 0);

-- A limit as a clock: each push handed out moves it on by 1 s / rate, and it may run so far ahead of the time.
CREATE TABLE gateway.budget (
    tenant_id text NOT NULL,
    -- tenant, or credential/ID.
    name text NOT NULL,
    spent_until timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
) WITH (fillfactor = 50);
SELECT gateway.colocate('gateway.budget');
ALTER TABLE gateway.budget ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_only ON gateway.budget USING (tenant_id = current_setting('gateway.tenant', true))
    WITH CHECK (tenant_id = current_setting('gateway.tenant', true));
GRANT SELECT, INSERT, UPDATE ON gateway.budget TO gateway_engine;

-- Draws up to p_want pushes from each of the named budgets alike; returns how many, perhaps 0.
-- p_ahead: how much may be drawn before its time. p_saved: how much that nobody drew in time is not lost.
CREATE FUNCTION gateway.draw_budget(
    p_tenant text, p_names text[], p_rates integer[], p_want integer, p_ahead interval, p_saved interval)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_count bigint := p_want;
    r record;
BEGIN
    INSERT INTO gateway.budget (tenant_id, name, spent_until)
        SELECT p_tenant, n.name, now() FROM unnest(p_names) AS n(name) ON CONFLICT (tenant_id, name) DO NOTHING;
    -- In the order of their names: two that draw from the same ones never wait for each other.
    PERFORM FROM gateway.budget WHERE tenant_id = p_tenant AND name = ANY (p_names) ORDER BY name FOR UPDATE;
    -- Behind the locks: waiting for them took time.
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

REVOKE ALL ON FUNCTION gateway.draw_budget FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.draw_budget TO gateway_engine;
