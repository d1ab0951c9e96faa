-- Appends a change of the counts of one group. p_message: set for a message with counts of its own. p_device: the dialect of the devices; null: that of the
-- message. p_tried: deliveries that expired after an attempt. p_reasons: {"rejected:Unregistered": -1}.
CREATE OR REPLACE FUNCTION gateway.append_counts(
    p_tenant text, p_app text, p_vendor text, p_due timestamptz, p_message uuid, p_device text DEFAULT NULL, p_transport text DEFAULT NULL,
    p_targets bigint DEFAULT 0, p_suppressed bigint DEFAULT 0, p_tried bigint DEFAULT 0, p_uncertain bigint DEFAULT 0,
    p_rejected bigint DEFAULT 0, p_received bigint DEFAULT 0, p_read bigint DEFAULT 0, p_reasons json DEFAULT NULL,
    p_canceled bigint DEFAULT 0)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO gateway.counter_delta
            (tenant_id, quarter, app_id, vendor, device_vendor, transport, message_id, targets, suppressed, canceled, expired,
            expired_tried, uncertain, rejected, received, read, reasons)
        VALUES (p_tenant, floor(extract(epoch FROM p_due) / 900)::integer, p_app, p_vendor,
            coalesce(p_device, CASE WHEN p_vendor <> 'native' THEN p_vendor ELSE '' END), coalesce(p_transport, ''), p_message, p_targets,
            p_suppressed, p_canceled, p_tried, p_tried, p_uncertain, p_rejected, p_received, p_read, p_reasons);
END $$;

REVOKE ALL ON FUNCTION gateway.append_counts FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.append_counts TO gateway_call, gateway_engine;
