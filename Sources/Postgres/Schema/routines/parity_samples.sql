-- The masked differences of an app since the beginning of the hour of p_since: those of the newest hours, at most 20 of each of the p_metrics.
CREATE OR REPLACE FUNCTION gateway.parity_samples(p_tenant text, p_app text, p_since timestamptz, p_metrics text[])
RETURNS TABLE (metric text, hour integer, dialect text, sample json) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT m.metric, x.hour, x.dialect, x.sample FROM unnest(p_metrics) WITH ORDINALITY AS m(metric, place)
        CROSS JOIN LATERAL (
            SELECT c.hour, c.dialect, s.sample FROM gateway.parity_count c CROSS JOIN LATERAL unnest(c.sample) WITH ORDINALITY AS s(sample, no)
            WHERE c.tenant_id = p_tenant AND c.app_id = p_app AND c.metric = m.metric
                AND c.hour >= floor(extract(epoch FROM p_since) / 3600)::integer
            ORDER BY c.hour DESC, c.dialect, s.no LIMIT 20) AS x
        ORDER BY m.place, x.hour DESC, x.dialect;
END $$;

REVOKE ALL ON FUNCTION gateway.parity_samples FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.parity_samples TO gateway_call, gateway_engine;
