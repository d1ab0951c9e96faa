-- Ends up to p_limit messages whose last slice was finished by a node that crashed before it called `settle_message`. Returns their number.
CREATE OR REPLACE FUNCTION gateway.settle_messages(p_tenant text, p_limit integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_message uuid;
    v_count bigint := 0;
BEGIN
    FOR v_message IN
        SELECT o.message_id FROM gateway.message_open o
        WHERE o.tenant_id = p_tenant AND NOT EXISTS (
            SELECT FROM gateway.slice s WHERE s.tenant_id = p_tenant AND s.message_id = o.message_id AND s.state <> 'done')
        ORDER BY o.message_id LIMIT p_limit
    LOOP
        PERFORM gateway.settle_message(p_tenant, v_message);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_messages FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_messages TO gateway_engine;
