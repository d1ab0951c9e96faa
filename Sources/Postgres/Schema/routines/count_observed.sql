-- Appends the counts of deliveries that an upstream made, to devices of its own dialect. p_received and p_read: those of them that are reported already.
CREATE OR REPLACE FUNCTION gateway.count_observed(
    p_tenant text, p_app text, p_vendor text, p_due timestamptz, p_count integer, p_received integer DEFAULT 0, p_read integer DEFAULT 0)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_quarter integer := floor(extract(epoch FROM p_due) / 900)::integer;
BEGIN
    INSERT INTO gateway.counter_delta
            (tenant_id, quarter, app_id, vendor, device_vendor, transport, targets, accepted, received, read)
        VALUES (p_tenant, v_quarter, p_app, p_vendor, p_vendor, '', p_count, 0, 0, 0),
            (p_tenant, v_quarter, p_app, p_vendor, p_vendor, 'observed:' || p_vendor, 0, p_count, p_received, p_read);
END $$;

REVOKE ALL ON FUNCTION gateway.count_observed FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.count_observed TO gateway_call, gateway_engine;
