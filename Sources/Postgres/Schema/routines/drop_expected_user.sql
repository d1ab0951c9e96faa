-- Ends the expectation of a user, and writes a row of the audit. Returns the number of expectations: 0 or 1.
CREATE OR REPLACE FUNCTION gateway.drop_expected_user(p_tenant text, p_app text, p_user text, p_actor text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gateway.expected_user WHERE tenant_id = p_tenant AND app_id = p_app AND user_id = p_user;
    IF NOT FOUND THEN RETURN 0; END IF;
    PERFORM gateway.write_audit(
        p_tenant, p_actor, ARRAY['drop_expectation'], ARRAY['user ' || p_user], ARRAY[json_build_object('app', p_app)::text]);
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.drop_expected_user FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.drop_expected_user TO gateway_call;
