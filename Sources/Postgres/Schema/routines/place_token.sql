-- Gives a token to the device that has it, or to p_device, or to a new device with the id p_new_device. An older identity of the same vendor on that device
-- is replaced; identities of other vendors share the device. The caller has locked the name of the token.
CREATE OR REPLACE FUNCTION gateway.place_token(
    p_tenant text, p_app text, p_vendor text, p_identity uuid, p_device uuid, p_new_device uuid,
    p_platform text, p_environment text, p_token text, p_at timestamptz,
    OUT o_device uuid, OUT o_replaced uuid[])
LANGUAGE plpgsql AS $$
BEGIN
    o_device := gateway.seat_token(p_tenant, p_app, p_device, p_new_device, p_platform, p_environment, p_token, p_at);
    o_replaced := gateway.replace_identities(p_tenant, p_app, p_vendor, p_identity, o_device, NULL);
END $$;

REVOKE ALL ON FUNCTION gateway.place_token FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.place_token TO gateway_call, gateway_engine;
