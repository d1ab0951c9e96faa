-- The first quarter hour of the day in a time zone that contains a quarter hour; both since 1970. The server must know the zone (`known_zone`).
CREATE OR REPLACE FUNCTION gateway.first_quarter(p_quarter integer, p_zone text) RETURNS integer LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN floor(extract(epoch FROM
        date_trunc('day', to_timestamp(p_quarter * 900.0) AT TIME ZONE p_zone) AT TIME ZONE p_zone) / 900)::integer;
END $$;

REVOKE ALL ON FUNCTION gateway.first_quarter FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.first_quarter TO gateway_engine;
