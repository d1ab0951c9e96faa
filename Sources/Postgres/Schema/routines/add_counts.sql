-- Adds to the counts, for programs of schema version 42. No routine calls it.
CREATE OR REPLACE FUNCTION gateway.add_counts(
    p_tenant text, p_app text, p_vendor text, p_due timestamptz, p_node text, p_recipients bigint, p_sent bigint,
    p_received bigint, p_read bigint, p_failed bigint, p_suppressed bigint, p_expired bigint, p_canceled bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.counter_delta
            (tenant_id, quarter, app_id, vendor, device_vendor, targets, accepted, received, read, rejected, suppressed, expired, canceled)
        VALUES (p_tenant, floor(extract(epoch FROM p_due) / 900)::integer, p_app, p_vendor,
            CASE WHEN p_vendor <> 'native' THEN p_vendor ELSE '' END, p_recipients, p_sent, p_received, p_read, p_failed, p_suppressed,
            p_expired, p_canceled);
END $$;

REVOKE ALL ON FUNCTION gateway.add_counts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.add_counts TO gateway_call, gateway_engine;
