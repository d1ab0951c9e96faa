-- The tenant of an API key that is valid now and has no limit of recipients, found by one of its two secrets. Called by programs that do not know that limit
-- (`api_key_grant`).
CREATE OR REPLACE FUNCTION gateway.find_api_key(p_hash bytea)
RETURNS TABLE (key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamptz, networks text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at, k.networks FROM gateway.api_key k
        WHERE (k.hash = p_hash OR k.previous_hash = p_hash AND (k.previous_until IS NULL OR k.previous_until > now()))
            AND (k.expires_at IS NULL OR k.expires_at > now()) AND k.recipients_per_day IS NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.find_api_key FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.find_api_key TO gateway_call, gateway_engine;
