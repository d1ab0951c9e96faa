-- A message's number in its app, assigned once; null if the message does not exist. Runs after `accept_message`, which already holds the tenant's event head
-- until the commit, so numbering adds no further wait between acceptances.
CREATE OR REPLACE FUNCTION gateway.sequence_message(p_tenant text, p_app text, p_vendor text, p_message uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_ref text;
BEGIN
    SELECT r.ref INTO v_ref FROM gateway.message_ref r
        WHERE r.tenant_id = p_tenant AND r.message_id = p_message AND r.app_id = p_app AND r.vendor = p_vendor ORDER BY r.ref LIMIT 1;
    IF v_ref IS NOT NULL THEN RETURN v_ref; END IF;
    PERFORM FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message AND app_id = p_app;
    IF NOT FOUND THEN RETURN NULL; END IF;
    FOR k IN 1 .. 8 LOOP
        v_ref := gateway.next_number(p_tenant, p_app, p_vendor, 'message')::text;
        PERFORM FROM gateway.message_ref r WHERE r.tenant_id = p_tenant AND r.app_id = p_app AND r.vendor = p_vendor AND r.ref = v_ref;
        EXIT WHEN NOT FOUND;
        -- An upstream has given a message this number, and probably the next ones.
        PERFORM gateway.raise_number(p_tenant, p_app, p_vendor, 'message', v_ref::bigint + 500000, v_ref::bigint + 1000000);
    END LOOP;
    INSERT INTO gateway.message_ref (tenant_id, app_id, vendor, ref, message_id) VALUES (p_tenant, p_app, p_vendor, v_ref, p_message);
    RETURN v_ref;
END $$;

REVOKE ALL ON FUNCTION gateway.sequence_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.sequence_message TO gateway_call, gateway_engine;
