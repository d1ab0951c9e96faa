-- Adds to the counts of one hour.
CREATE OR REPLACE FUNCTION gateway.add_counts(
    p_tenant text, p_app text, p_vendor text, p_due timestamptz, p_node text, p_recipients bigint, p_sent bigint,
    p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.counter_hour AS c
            (tenant_id, app_id, vendor, hour, node_id, recipients, sent, received, read, failed, suppressed, expired, canceled)
        VALUES (p_tenant, p_app, p_vendor, floor(extract(epoch FROM p_due) / 3600)::integer, p_node, p_recipients, p_sent,
            p_received, p_read, p_failed, p_suppressed, p_expired, p_canceled)
        ON CONFLICT (tenant_id, app_id, vendor, hour, node_id) DO UPDATE SET
            recipients = c.recipients + excluded.recipients, sent = c.sent + excluded.sent,
            received = c.received + excluded.received, read = c.read + excluded.read, failed = c.failed + excluded.failed,
            suppressed = c.suppressed + excluded.suppressed, expired = c.expired + excluded.expired,
            canceled = c.canceled + excluded.canceled;
END $$;

REVOKE ALL ON FUNCTION gateway.add_counts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.add_counts TO gateway_call, gateway_engine;
