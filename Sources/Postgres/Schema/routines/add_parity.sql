-- Adds observations to their hours, given as parallel arrays without repeated keys. p_shown: the masked differences of each row, an array of JSON as text. Returns
-- the number of rows.
CREATE OR REPLACE FUNCTION gateway.add_parity(
    p_tenant text, p_apps text[], p_metrics text[], p_hours integer[], p_dialects text[], p_samples bigint[], p_differences bigint[], p_shown text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    -- RETURNING keeps Citus from turning the INSERT into a COPY, which row-level security refuses.
    WITH r AS (
        INSERT INTO gateway.parity_count AS c (tenant_id, app_id, metric, hour, dialect, samples, differences, sample)
        SELECT p_tenant, u.app_id, u.metric, u.hour, u.dialect, u.samples, u.differences,
            ARRAY(SELECT json_array_elements(u.shown::json) LIMIT 20)
        FROM unnest(p_apps, p_metrics, p_hours, p_dialects, p_samples, p_differences, p_shown)
            AS u(app_id, metric, hour, dialect, samples, differences, shown)
        ORDER BY u.app_id, u.metric, u.hour, u.dialect
        ON CONFLICT (tenant_id, app_id, metric, hour, dialect) DO UPDATE SET samples = c.samples + excluded.samples,
            differences = c.differences + excluded.differences,
            -- The first 20: Citus does not accept a subscript in SET.
            sample = trim_array(c.sample || excluded.sample, greatest(cardinality(c.sample || excluded.sample) - 20, 0))
        RETURNING 1)
    SELECT count(*) INTO v_count FROM r;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.add_parity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.add_parity TO gateway_call;
