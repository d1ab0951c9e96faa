-- Adds settled deliveries to the inboxes of identities that have one, once each. Deliveries recorded by another call are skipped, and so are identities that were
-- erased while their pushes were being sent: a reference to one of them would fail the flush of the whole slice, again and again.
CREATE OR REPLACE FUNCTION gateway.open_inbox(p_tenant text, p_message uuid, p_targets uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_day integer;
    v_count bigint;
BEGIN
    SELECT m.due_day INTO v_day FROM gateway.message m WHERE m.tenant_id = p_tenant AND m.message_id = p_message;
    INSERT INTO gateway.inbox_open (tenant_id, identity_id, message_id, due_day)
        SELECT x.tenant_id, x.identity_id, p_message, v_day FROM unnest(p_targets) AS u(target)
        -- OFFSET 0 forces lookups by key, even while the table has no statistics.
        CROSS JOIN LATERAL (
            SELECT d.tenant_id, d.identity_id FROM gateway.delivery d
            WHERE d.tenant_id = p_tenant AND d.due_day = v_day AND d.message_id = p_message AND d.target_id = u.target
                AND d.identity_id IS NOT NULL AND d.received_at IS NULL AND d.state <> 'canceled'
                AND d.reason IS DISTINCT FROM 'duplicate' AND d.reason IS DISTINCT FROM 'assurance' OFFSET 0) AS x
        WHERE EXISTS (
            SELECT FROM gateway.identity i WHERE i.tenant_id = p_tenant AND i.identity_id = x.identity_id OFFSET 0)
        ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;

REVOKE ALL ON FUNCTION gateway.open_inbox FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.open_inbox TO gateway_call, gateway_engine;
