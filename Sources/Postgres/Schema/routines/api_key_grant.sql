-- The tenant and the limits of an API key that is valid now, found by one of its two secrets. Called by programs that know no age (`api_key_standing`).
CREATE OR REPLACE FUNCTION gateway.api_key_grant(p_hash bytea)
RETURNS TABLE (
    key_id uuid, tenant_id text, name text, scopes text[], expires_at timestamptz, networks text[], recipients_per_day bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT k.key_id, k.tenant_id, k.name, k.scopes, k.expires_at, k.networks, k.recipients_per_day FROM gateway.api_key k
        WHERE (k.hash = p_hash OR k.previous_hash = p_hash AND (k.previous_until IS NULL OR k.previous_until > now()))
            AND (k.expires_at IS NULL OR k.expires_at > now());
END $$;

REVOKE ALL ON FUNCTION gateway.api_key_grant FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.api_key_grant TO gateway_call, gateway_engine;
