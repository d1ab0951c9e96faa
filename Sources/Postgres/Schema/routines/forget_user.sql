-- Erases the data of a user other than devices, for `erase_user`. Marks are deleted before badges, the order in which every function takes them: the
-- other order could deadlock with a message that counts.
CREATE OR REPLACE FUNCTION gateway.forget_user(p_tenant text, p_user text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM gateway.forget_answers(p_tenant, ARRAY[p_user]);
    DELETE FROM gateway.badge_mark WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.badge WHERE tenant_id = p_tenant AND holder = 'user:' || p_user;
    DELETE FROM gateway.message_variable WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.campaign_mark WHERE tenant_id = p_tenant AND user_id = p_user;
    DELETE FROM gateway.user_profile WHERE tenant_id = p_tenant AND user_id = p_user;
END $$;

REVOKE ALL ON FUNCTION gateway.forget_user FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.forget_user TO gateway_call, gateway_engine;
