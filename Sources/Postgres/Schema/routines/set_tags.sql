-- Replaces all tags of an active identity. Its row is locked first, so that an erasure waits and then removes these tags as well.
CREATE OR REPLACE FUNCTION gateway.set_tags(p_tenant text, p_identity uuid, p_tags text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    i record;
BEGIN
    SELECT app_id, vendor INTO i FROM gateway.identity
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND state = 'active' FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    DELETE FROM gateway.identity_tag
        WHERE tenant_id = p_tenant AND identity_id = p_identity AND NOT tag = ANY (p_tags);
    INSERT INTO gateway.identity_tag (tenant_id, app_id, vendor, tag, identity_id)
        SELECT p_tenant, i.app_id, i.vendor, t, p_identity FROM unnest(p_tags) AS t
        ON CONFLICT DO NOTHING;
END $$;

REVOKE ALL ON FUNCTION gateway.set_tags FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.set_tags TO gateway_call, gateway_engine;
