-- Makes the targets that are left in a slice due when its wait ends, because they were outside their hours. Called after `record_outcomes` has put the slice back
-- and `split_slice` has moved other targets out of it. A repeated call changes nothing. Returns the number of slices.
CREATE OR REPLACE FUNCTION gateway.move_due(p_tenant text, p_message uuid, p_no integer, p_epoch bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE gateway.slice SET due_at = CASE WHEN resume_at IS NULL THEN next_at ELSE resume_at END
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.move_due FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.move_due TO gateway_engine;
