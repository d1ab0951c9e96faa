-- Whether the app respects its devices' delivery windows in a lane.
CREATE OR REPLACE FUNCTION gateway.heeds_windows(p_defaults jsonb, p_lane smallint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN coalesce(p_defaults->'windows'->'lanes', '[1, 2, 3]') @> to_jsonb(p_lane);
END $$;

REVOKE ALL ON FUNCTION gateway.heeds_windows FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.heeds_windows TO gateway_engine;
