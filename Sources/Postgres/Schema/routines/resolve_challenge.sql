-- The tenant of a challenge by the digest of its nonce, which is the permission. Challenges that have ended are not returned.
CREATE OR REPLACE FUNCTION gateway.resolve_challenge(p_digest bytea) RETURNS TABLE (tenant_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT c.tenant_id FROM gateway.challenge c WHERE c.digest = p_digest AND c.ends_at > now() LIMIT 1;
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_challenge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_challenge TO gateway_call, gateway_engine;
