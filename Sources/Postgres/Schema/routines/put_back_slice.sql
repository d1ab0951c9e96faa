-- Completes the return of a slice after `record_slice`: sets the credential that reactivates it, parks it if the message is paused, makes it due if the
-- message is canceled, and delays the message's other slices with it.
--
-- A message is canceled or paused without looking at slices that are being sent. The lock taken here is the one that a control command holds, so one of the
-- two sees the other.
CREATE OR REPLACE FUNCTION gateway.put_back_slice(p_tenant text, p_message uuid, p_no integer, p_epoch bigint, p_held text,
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
        UPDATE gateway.slice SET held_by = p_held, next_at = coalesce(v_due, next_at),
                resume_at = CASE WHEN m.state = 'paused' THEN next_at END
            WHERE tenant_id = p_tenant AND message_id = p_message AND no = p_no AND epoch = p_epoch AND state = 'ready';
    END IF;
    -- The message's other slices would find no free capacity either, so they are delayed without being read. Slices that gave up or are held are not due.
    IF p_crowded IS NOT NULL AND v_due IS NULL THEN
        UPDATE gateway.slice SET next_at = now() + p_crowded
            WHERE tenant_id = p_tenant AND message_id = p_message AND state = 'ready' AND kind = 'deliver' AND next_at <= now();
    END IF;
    RETURN 1;
END $$;

REVOKE ALL ON FUNCTION gateway.put_back_slice FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.put_back_slice TO gateway_engine;
