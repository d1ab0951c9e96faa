-- Unregisters up to p_limit identities whose registration has ended, as if each had unregistered itself. Returns how many.
CREATE OR REPLACE FUNCTION gateway.end_identities(p_tenant text, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_names text[];
    v_count bigint := 0;
    g record;
BEGIN
    v_ids := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.state = 'active' AND i.ends_at <= now() ORDER BY i.ends_at LIMIT p_limit);
    -- The locks of registrations, in their order: a concurrent registration may set a later end.
    v_names := ARRAY(
        SELECT i.app_id || chr(31) || i.vendor || chr(31) || i.key AS name FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids));
    PERFORM gateway.lock_names(p_tenant, 'key', v_names);
    -- A separate statement, so that it sees what earlier holders of the locks have committed.
    FOR g IN
        SELECT i.app_id, i.vendor, i.key FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (v_ids) AND i.state = 'active' AND i.ends_at <= now()
        ORDER BY i.identity_id
    LOOP
        v_count := v_count + gateway.unregister_identities(p_tenant, g.app_id, g.vendor, g.key, NULL);
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.end_identities FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.end_identities TO gateway_engine;
