-- A slice that is put back and the message it belongs to, seen together.

-- After `record_slice` put it back: the credential that brings it back once it is mended, and what was done to the message meanwhile. A message is canceled
-- or paused without a look at slices at work, and `record_slice` reads its state before it waits for its slice; the lock is what whoever steers
-- the message holds, so one of the two sees the other.
CREATE FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    v_due timestamptz;
BEGIN
    SELECT state, expires_at INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    v_due := CASE m.state WHEN 'canceled' THEN now() WHEN 'paused' THEN m.expires_at END;
    IF p_held IS NULL AND v_due IS NULL THEN RETURN 0; END IF;
    UPDATE gateway.slice SET held_by = p_held, next_at = coalesce(v_due, next_at)
        WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.put_back_slice FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.put_back_slice TO gateway_engine;
