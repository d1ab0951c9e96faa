-- Removes the names of erased people from the audit: the rows keep pseudonyms that nothing leads back from, and their digests stay valid. Rows without a digest
-- contain the names themselves, which are replaced. Runs as the caller, and not as the owner: on Citus a transaction changes a tenant's rows as one role. The caller's
-- tenant must be the one that its transaction has set.
CREATE OR REPLACE FUNCTION gateway.forget_subjects(p_tenant text, p_subjects text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_subject text;
    v_pseudonym text;
BEGIN
    IF p_tenant IS DISTINCT FROM current_setting('gateway.tenant', true) THEN
        RAISE EXCEPTION 'the names of another tenant cannot be removed' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM gateway.lock_name(p_tenant, 'audit', '');
    FOREACH v_subject IN ARRAY p_subjects LOOP
        v_pseudonym := gateway.audit_pseudonym(p_tenant, v_subject);
        UPDATE gateway.audit SET subject = v_pseudonym WHERE tenant_id = p_tenant AND subject = v_subject AND hash IS NULL;
        DELETE FROM gateway.audit_subject WHERE tenant_id = p_tenant AND pseudonym = v_pseudonym;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION gateway.forget_subjects FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_subjects TO gateway_call;
