-- The side that sent the message with this name in a vendor's API, or with this id: an upstream, or null for the gateway. is_paid: the upstream sends a paid message
-- to a device that does not report this one. No row: no such message is known.
CREATE OR REPLACE FUNCTION gateway.message_owner(p_tenant text, p_app text, p_vendor text, p_ref text)
RETURNS TABLE (owner text, is_paid boolean) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY SELECT r.owner, r.is_paid FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = p_ref;
    IF FOUND THEN RETURN; END IF;
    RETURN QUERY SELECT c.upstream, c.is_paid FROM gateway.called_message(p_tenant, p_app, p_vendor, p_ref) AS c;
    IF FOUND THEN RETURN; END IF;
    IF gateway.numbered_message(p_tenant, p_app, p_vendor, p_ref) IS NOT NULL THEN
        RETURN QUERY SELECT NULL::text, false;
    END IF;
END $$;

REVOKE ALL ON FUNCTION gateway.message_owner FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.message_owner TO gateway_call, gateway_engine;
