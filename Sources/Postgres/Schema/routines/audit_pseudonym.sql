-- Returns the name under which the audit stores a person: the kind, and a keyed digest of the kind and name. Equal names of a tenant have equal digests; without the
-- tenant's key, a name can be neither found nor guessed. The key is created with the first person. Call it while the name `audit` is locked, or for a read.
CREATE OR REPLACE FUNCTION gateway.audit_pseudonym(p_tenant text, p_subject text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_key bytea;
BEGIN
    SELECT k.key INTO v_key FROM gateway.audit_key k WHERE k.tenant_id = p_tenant;
    IF v_key IS NULL THEN
        v_key := pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid());
        INSERT INTO gateway.audit_key (tenant_id, key) VALUES (p_tenant, v_key) ON CONFLICT (tenant_id) DO NOTHING;
        SELECT k.key INTO v_key FROM gateway.audit_key k WHERE k.tenant_id = p_tenant;
    END IF;
    RETURN split_part(p_subject, ' ', 1) || ' ~'
        || left(encode(sha256(v_key || sha256(v_key || convert_to(p_subject, 'UTF8'))), 'hex'), 32);
END $$;

REVOKE ALL ON FUNCTION gateway.audit_pseudonym FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.audit_pseudonym TO gateway_call, gateway_engine;
