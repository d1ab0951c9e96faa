-- A page by its id, of any tenant: the unguessable id is the permission. Expired pages are not returned.
CREATE OR REPLACE FUNCTION gateway.resolve_page(p_id text) RETURNS TABLE (name text, body text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT p.name, p.body FROM gateway.page p WHERE p.page_id = p_id AND p.expires_at > now() LIMIT 1;
END $$;

REVOKE ALL ON FUNCTION gateway.resolve_page FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.resolve_page TO gateway_call, gateway_engine;
