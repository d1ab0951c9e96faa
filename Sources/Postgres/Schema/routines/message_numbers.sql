-- A message's numbers by vendor.
CREATE OR REPLACE FUNCTION gateway.message_numbers(p_tenant text, p_message uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT json_object_agg(r.vendor, r.ref)::text FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message);
END $$;

REVOKE ALL ON FUNCTION gateway.message_numbers FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.message_numbers TO gateway_call, gateway_engine;
