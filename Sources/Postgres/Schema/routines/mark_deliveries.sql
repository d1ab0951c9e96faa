-- Marks deliveries of a device as received or read, given as parallel arrays of messages and their due days, and returns the messages that changed
-- (`touch_deliveries`).
CREATE OR REPLACE FUNCTION gateway.mark_deliveries(
    p_tenant text, p_identity uuid, p_messages uuid[], p_days integer[], p_kind text, p_at timestamptz, p_node text)
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    t record;
BEGIN
    SELECT * INTO t FROM gateway.touch_deliveries(p_tenant, p_identity, p_messages, p_days, p_kind, p_at);
    PERFORM gateway.note_touched(p_tenant, p_identity, t.o_messages, t.o_before, t.o_transports, t.o_devices, t.o_received, t.o_read, p_kind);
    RETURN t.o_messages;
END $$;

REVOKE ALL ON FUNCTION gateway.mark_deliveries FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.mark_deliveries TO gateway_call, gateway_engine;
