-- The tenant of an API key that is valid now and has no source networks and no limit of recipients. Called by programs that know neither (`api_key_grant`).
CREATE OR REPLACE FUNCTION gateway.resolve_api_key(p_hash bytea)
RETURNS TABLE (key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at FROM gateway.api_key k
        WHERE k.hash = p_hash AND (k.expires_at IS NULL OR k.expires_at > now()) AND k.networks = '{}'
            AND k.recipients_per_day IS NULL;
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_api_key FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_api_key TO gateway_call, gateway_engine;
