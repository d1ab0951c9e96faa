-- Ends the transaction with GW409 unless the active identity of a key has exactly these attributes, in the spelling in which they were stored. Takes the
-- lock of registrations, so the attributes cannot change before the commit.
CREATE OR REPLACE FUNCTION gateway.expect_identity(p_tenant text, p_app text, p_vendor text, p_key text, p_attributes text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_attributes text;
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'key', p_app || chr(31) || p_vendor || chr(31) || p_key);
    SELECT i.attributes::text INTO v_attributes FROM gateway.identity i
        WHERE i.tenant_id = p_tenant AND i.app_id = p_app AND i.vendor = p_vendor AND i.key = p_key AND i.state = 'active';
    IF v_attributes IS DISTINCT FROM p_attributes THEN
        RAISE EXCEPTION 'the identity has changed' USING ERRCODE = 'GW409';
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.expect_identity FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.expect_identity TO gateway_call, gateway_engine;
