-- Adds p_delta per key to the maintained number of active identities.
CREATE OR REPLACE FUNCTION gateway.count_identities(p_tenant text, p_app text, p_vendor text, p_keys text[], p_delta integer)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.identity_count AS c (tenant_id, app_id, vendor, bucket, active)
        SELECT p_tenant, p_app, p_vendor, (hashtext(k) & 15)::smallint, p_delta * count(*)
        FROM unnest(p_keys) AS k GROUP BY 4 ORDER BY 4
        ON CONFLICT (tenant_id, app_id, vendor, bucket) DO UPDATE SET active = c.active + excluded.active;
END $$;

REVOKE ALL ON FUNCTION gateway.count_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.count_identities TO gateway_call, gateway_engine;
