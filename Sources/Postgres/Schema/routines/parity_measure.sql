-- The observations of an app since the beginning of the hour of p_since, by metric, over all dialects. A metric without observations has no row.
CREATE OR REPLACE FUNCTION gateway.parity_measure(p_tenant text, p_app text, p_since timestamptz)
RETURNS TABLE (metric text, samples bigint, differences bigint) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT c.metric, sum(c.samples)::bigint, sum(c.differences)::bigint FROM gateway.parity_count c
        WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.hour >= floor(extract(epoch FROM p_since) / 3600)::integer
        GROUP BY c.metric ORDER BY c.metric;
END $$;

REVOKE ALL ON FUNCTION gateway.parity_measure FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.parity_measure TO gateway_call, gateway_engine;
