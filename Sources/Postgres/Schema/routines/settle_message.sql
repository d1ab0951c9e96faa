-- Ends a message without open slices: it is done. A message whose open slices have all given up is dead. Returns 1 if the message is done.
CREATE OR REPLACE FUNCTION gateway.settle_message(p_tenant text, p_message uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
    v_is_alive boolean;
    v_new text;
BEGIN
    SELECT m.state INTO v_state FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    SELECT s.dead_reason IS NULL INTO v_is_alive FROM gateway.slice s
        WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done' ORDER BY s.no LIMIT 1;
    IF v_is_alive IS NULL THEN
        v_new := CASE WHEN v_state IN ('scheduled', 'sending', 'paused', 'dead') THEN 'done' ELSE v_state END;
        DELETE FROM gateway.message_open WHERE tenant_id = p_tenant AND message_id = p_message;
    ELSE
        IF NOT v_is_alive AND v_state IN ('scheduled', 'expanding', 'sending') THEN
            SELECT bool_or(s.dead_reason IS NULL) INTO v_is_alive FROM gateway.slice s
                WHERE s.tenant_id = p_tenant AND s.message_id = p_message AND s.state <> 'done';
        END IF;
        v_new := CASE WHEN v_is_alive OR v_state NOT IN ('scheduled', 'expanding', 'sending') THEN v_state ELSE 'dead' END;
    END IF;
    IF v_new <> v_state THEN
        UPDATE gateway.message SET state = v_new WHERE tenant_id = p_tenant AND message_id = p_message;
    END IF;
    RETURN (v_new = 'done')::integer;
END $$;

REVOKE ALL ON FUNCTION gateway.settle_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.settle_message TO gateway_call, gateway_engine;
