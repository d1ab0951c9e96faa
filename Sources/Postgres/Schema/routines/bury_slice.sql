-- Marks a slice as given up, after `record_slice` has returned it to the queue. Returns 1 unless it had given up before.
CREATE OR REPLACE FUNCTION gateway.bury_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_reason text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_expires timestamptz;
    v_is_new boolean;
BEGIN
    SELECT expires_at INTO v_expires FROM gateway.message WHERE tenant_id = p_tenant AND message_id = p_message FOR UPDATE;
    SELECT dead_reason IS NULL INTO v_is_new FROM gateway.slice
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready' FOR UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    -- At least an hour: a slice that cannot even be written off would otherwise become due again and again without pause.
    UPDATE gateway.slice SET dead_reason = p_reason, held_by = NULL, next_at = greatest(v_expires, now() + interval '1 hour')
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    IF NOT v_is_new THEN RETURN 0; END IF;
    UPDATE gateway.message SET dead_slices = dead_slices + 1,
            state = CASE WHEN state IN ('scheduled', 'expanding', 'sending') AND dead_slices + 1 >= open_slices THEN 'dead' ELSE state END
        WHERE tenant_id = p_tenant AND message_id = p_message;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.bury_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.bury_slice TO gateway_engine;
