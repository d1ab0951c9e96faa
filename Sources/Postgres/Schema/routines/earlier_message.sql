-- The newest message of the app with the same text that came through another entry point and is due within p_window before p_due; null: there is none. Serializes the
-- messages with this text until the transaction ends, so that of two messages the second finds the first.
--
-- A message that is due up to five seconds later counts as earlier too: it was stored before, and the clocks of two nodes differ. Reads one message of each entry
-- point, because an entry point may have very many messages with this text.
CREATE OR REPLACE FUNCTION gateway.earlier_message(
    p_tenant text, p_app text, p_fingerprint bytea, p_entry_point text, p_due timestamptz, p_window interval)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    v_entry text := '';
    v_found uuid;
    v_newest uuid;
    v_from uuid := gateway.first_message_id(p_due - p_window);
    v_below uuid := gateway.first_message_id(p_due + interval '5 seconds');
BEGIN
    PERFORM gateway.lock_name(p_tenant, 'duplicate', p_app || chr(31) || encode(p_fingerprint, 'hex'));
    LOOP
        SELECT m.entry_point INTO v_entry FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.fingerprint = p_fingerprint AND m.entry_point > v_entry
            ORDER BY m.entry_point LIMIT 1;
        EXIT WHEN v_entry IS NULL;
        CONTINUE WHEN v_entry = p_entry_point;
        SELECT m.message_id INTO v_found FROM gateway.message m
            WHERE m.tenant_id = p_tenant AND m.app_id = p_app AND m.fingerprint = p_fingerprint AND m.entry_point = v_entry
                AND m.message_id >= v_from AND m.message_id < v_below
            ORDER BY m.message_id DESC LIMIT 1;
        IF v_found > v_newest OR v_newest IS NULL THEN v_newest := v_found; END IF;
    END LOOP;
    RETURN v_newest;
END $$;

REVOKE ALL ON FUNCTION gateway.earlier_message FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.earlier_message TO gateway_call, gateway_engine;
