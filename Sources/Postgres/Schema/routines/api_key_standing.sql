-- The tenant, the limits and the age of an API key that is valid now, found by one of its two secrets. secret_at: since when this secret is the key's.
CREATE OR REPLACE FUNCTION gateway.api_key_standing(p_hash bytea)
RETURNS TABLE (
    key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamptz, networks text[], recipients_per_day bigint,
    secret_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at, k.networks, k.recipients_per_day,
            coalesce(CASE WHEN k.hash = p_hash THEN k.secret_at ELSE k.previous_at END, k.created_at)
        FROM gateway.api_key k
        WHERE (k.hash = p_hash OR k.previous_hash = p_hash AND (k.previous_until IS NULL OR k.previous_until > now()))
            AND (k.expires_at IS NULL OR k.expires_at > now());
END $$;

REVOKE ALL ON FUNCTION gateway.api_key_standing FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.api_key_standing TO gateway_call, gateway_engine;
