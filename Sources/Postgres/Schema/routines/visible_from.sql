-- The first message of its user that an identity may read: all messages if its user is confirmed or p_whole is true (the binding's `historyScope: all`),
-- otherwise those that are due since it has this user.
CREATE OR REPLACE FUNCTION gateway.visible_from(p_assurance smallint, p_since timestamptz, p_created timestamptz, p_whole boolean)
RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN p_whole OR p_assurance >= 2 THEN '00000000-0000-0000-0000-000000000000'::uuid
        ELSE gateway.first_message_id(coalesce(p_since, p_created)) END;
END $$;

REVOKE ALL ON FUNCTION gateway.visible_from FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.visible_from TO gateway_call, gateway_engine;
