-- Confirms the user of an active identity, which must be p_user if that is given. Returns the number of identities: 0 or 1. Writes a row of the audit unless
-- the identity was confirmed before, and an event.
CREATE OR REPLACE FUNCTION gateway.vouch_identity(p_tenant text, p_identity uuid, p_user text, p_actor text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    i record;
BEGIN
    SELECT x.user_id, x.assurance, x.app_id, x.vendor, x.device_id INTO i FROM gateway.identity x
        WHERE x.tenant_id = p_tenant AND x.identity_id = p_identity AND x.state = 'active' FOR UPDATE;
    IF NOT FOUND OR p_user <> i.user_id OR p_user IS NOT NULL AND i.user_id IS NULL THEN RETURN 0; END IF;
    IF i.assurance < 2 THEN
        UPDATE gateway.identity SET assurance = 2 WHERE tenant_id = p_tenant AND identity_id = p_identity;
        PERFORM gateway.write_audit(
            p_tenant, p_actor, ARRAY['vouch_identity'], ARRAY['identity ' || p_identity],
            ARRAY[json_build_object('app', i.app_id, 'vendor', i.vendor)::text]);
        PERFORM gateway.append_changes(
            p_tenant, ARRAY['vouched'], ARRAY[i.app_id], ARRAY[i.vendor], ARRAY[p_identity], ARRAY[i.device_id],
            ARRAY[json_build_object('by', 'backEnd')]);
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.vouch_identity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.vouch_identity TO gateway_call, gateway_engine;
