-- The number of messages that the calling device has not received, at most p_limit. p_before: only messages that are due by then.
CREATE OR REPLACE FUNCTION gateway.count_unreceived(
    p_tenant text, p_app text, p_vendor text, p_key text, p_token text, p_before uuid, p_limit bigint)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    i gateway.identity;
BEGIN
    i := gateway.calling_identity(p_tenant, p_app, p_vendor, p_key, p_token);
    IF i.identity_id IS NULL THEN RETURN 0; END IF;
    RETURN (SELECT count(*) FROM (
        SELECT 1 FROM gateway.inbox_open o
        WHERE o.tenant_id = p_tenant AND o.identity_id = i.identity_id AND o.message_id < p_before LIMIT p_limit) AS x);
END $$;

REVOKE ALL ON FUNCTION gateway.count_unreceived FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.count_unreceived TO gateway_call, gateway_engine;
