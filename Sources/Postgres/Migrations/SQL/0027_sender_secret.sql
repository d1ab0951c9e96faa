-- What signs the calls to a sender is derived from the master key and the sender's names, and no longer kept here as it is.

-- As in 0004, without the secret.
CREATE OR REPLACE FUNCTION gateway.set_callback(p_tenant text, p_app text, p_vendor text, p_sender text, p_url text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_head bigint;
    v_count bigint;
BEGIN
    SELECT h.last INTO v_head FROM gateway.event_head h WHERE h.tenant_id = p_tenant;
    UPDATE gateway.sender SET callback_url = p_url,
            cursor = CASE WHEN callback_url IS NULL THEN coalesce(v_head, 0) ELSE cursor END,
            attempts = 0, failing_since = NULL, failure = NULL, next_at = now(), owner = NULL, epoch = epoch + 1
        WHERE tenant_id = p_tenant AND app_id = p_app AND vendor = p_vendor AND sender_id = p_sender;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

ALTER TABLE gateway.sender DROP COLUMN secret;
