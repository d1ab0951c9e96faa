-- A slice that is put back and the message it belongs to, seen together.

-- After `record_slice` put it back: the credential that brings it back once it is mended, what was done to the message meanwhile, and how long the
-- message's other slices wait with it. A message is canceled
-- or paused without a look at slices at work, and `record_slice` reads its state before it waits for its slice; the lock is what whoever steers
-- the message holds, so one of the two sees the other.
CREATE FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text,
    p_crowded interval)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    m record;
    v_due timestamptz;
BEGIN
    SELECT state, expires_at INTO m FROM gateway.message
        WHERE tenant_id = p_tenant AND message_id = p_message FOR NO KEY UPDATE;
    v_due := CASE m.state WHEN 'canceled' THEN now() WHEN 'paused' THEN m.expires_at END;
    IF p_held IS NOT NULL OR v_due IS NOT NULL THEN
        UPDATE gateway.slice SET held_by = p_held, next_at = coalesce(v_due, next_at)
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    END IF;
    -- There is no room for its siblings either: read, they would only find that out. What gave up or is held is not due.
    IF p_crowded IS NOT NULL AND v_due IS NULL THEN
        UPDATE gateway.slice SET next_at = now() + p_crowded
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND kind = 'deliver' AND next_at <= now();
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.put_back_slice FROM PUBLIC;
GRANT EXECUTE ON FUNCTION gateway.put_back_slice TO gateway_engine;
