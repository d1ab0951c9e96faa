-- Uses up the challenge with this nonce, whose SHA-256 is p_digest. If its device still has the same token, the identities of the challenge that still have the same
-- user get the level `possession`; a higher level stays. Returns 1 if the token is the same, 0 if it changed or no challenge has the nonce.
CREATE OR REPLACE FUNCTION gateway.answer_challenge(p_tenant text, p_digest bytea) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c record;
    r record;
BEGIN
    DELETE FROM gateway.challenge x WHERE x.tenant_id = p_tenant AND x.digest = p_digest AND x.ends_at > now() RETURNING x.* INTO c;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM FROM gateway.device d
        WHERE d.tenant_id = p_tenant AND d.device_id = c.device_id AND d.token_state = 'active'
            AND sha256(convert_to(d.token, 'UTF8')) = c.token_digest FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (c.identities) ORDER BY i.identity_id FOR UPDATE;
    WITH raised AS (
        UPDATE gateway.identity i SET assurance = 1
            WHERE i.tenant_id = p_tenant AND i.identity_id = ANY (c.identities) AND i.device_id = c.device_id AND i.state = 'active'
                AND i.assurance = 0 AND (i.user_since IS NULL OR i.user_since <= c.created_at)
            RETURNING i.identity_id, i.app_id, i.vendor)
    SELECT array_agg(x.identity_id ORDER BY x.identity_id) AS identities, array_agg(x.app_id ORDER BY x.identity_id) AS apps,
            array_agg(x.vendor ORDER BY x.identity_id) AS vendors, count(*)::integer AS count
        INTO r FROM raised x;
    IF r.count > 0 THEN
        PERFORM gateway.write_audit(
            p_tenant, 'device', array_fill('prove_possession'::text, ARRAY[r.count]),
            ARRAY(SELECT 'identity ' || u.id FROM unnest(r.identities) WITH ORDINALITY AS u(id, o) ORDER BY u.o),
            ARRAY(SELECT json_build_object('app', u.app, 'vendor', u.vendor)::text
                FROM unnest(r.apps, r.vendors) WITH ORDINALITY AS u(app, vendor, o) ORDER BY u.o));
        PERFORM gateway.append_changes(
            p_tenant, array_fill('possession'::text, ARRAY[r.count]), r.apps, r.vendors, r.identities,
            array_fill(c.device_id::uuid, ARRAY[r.count]), NULL);
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.answer_challenge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.answer_challenge TO gateway_call, gateway_engine;
