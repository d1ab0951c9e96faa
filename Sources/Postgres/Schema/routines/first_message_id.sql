-- The smallest message id of the millisecond of p_at: messages that are due earlier have smaller ids.
CREATE OR REPLACE FUNCTION gateway.first_message_id(p_at timestamptz) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (lpad(to_hex(floor(extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;
END $$;

REVOKE ALL ON FUNCTION gateway.first_message_id FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.first_message_id TO gateway_call, gateway_engine;
