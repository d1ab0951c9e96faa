-- Stores a challenge for the identities of a device that have shown no possession of its token, in place of an earlier one. Returns where the nonce is to be sent; no
-- row if the device does not exist. token is null if the device has no token that works, then nothing is stored. p_digest: SHA-256 of the nonce. wait: the seconds
-- until another challenge may start; then nothing is stored. It is null otherwise. A device gets at most one silent push in 10 s.
CREATE OR REPLACE FUNCTION gateway.start_challenge(p_tenant text, p_device uuid, p_digest bytea, p_at timestamptz, p_ends timestamptz)
RETURNS TABLE (app_id text, platform text, environment text, token text, wait integer) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    d record;
    v_identities uuid[];
    v_wait integer;
BEGIN
    SELECT x.app_id, x.platform, x.environment, x.token, x.token_state INTO d FROM gateway.device x
        WHERE x.tenant_id = p_tenant AND x.device_id = p_device;
    IF NOT FOUND THEN RETURN; END IF;
    IF d.token IS NULL OR d.token_state <> 'active' THEN
        RETURN QUERY SELECT d.app_id, d.platform, d.environment, NULL::text, NULL::integer;
        RETURN;
    END IF;
    SELECT ceil(extract(epoch FROM c.created_at + interval '10 s' - p_at))::integer INTO v_wait FROM gateway.challenge c
        WHERE c.tenant_id = p_tenant AND c.device_id = p_device AND c.created_at > p_at - interval '10 s' FOR UPDATE;
    IF FOUND THEN
        RETURN QUERY SELECT d.app_id, d.platform, d.environment, d.token, greatest(v_wait, 1);
        RETURN;
    END IF;
    v_identities := ARRAY(
        SELECT i.identity_id FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.device_id = p_device AND i.state = 'active' AND i.assurance = 0 ORDER BY 1 LIMIT 100);
    INSERT INTO gateway.challenge AS c (tenant_id, device_id, digest, token_digest, identities, created_at, ends_at)
        VALUES (p_tenant, p_device, p_digest, sha256(convert_to(d.token, 'UTF8')), v_identities, p_at, p_ends)
        ON CONFLICT (tenant_id, device_id) DO UPDATE SET digest = excluded.digest, token_digest = excluded.token_digest,
            identities = excluded.identities, created_at = excluded.created_at, ends_at = excluded.ends_at;
    RETURN QUERY SELECT d.app_id, d.platform, d.environment, d.token, NULL::integer;
END $$;

REVOKE ALL ON FUNCTION gateway.start_challenge FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.start_challenge TO gateway_call, gateway_engine;
