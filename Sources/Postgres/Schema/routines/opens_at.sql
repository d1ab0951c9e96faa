-- The time at which a daily window opens next: p_at itself, or later. The Swift counterpart is `DailyWindow.opening`.
CREATE OR REPLACE FUNCTION gateway.opens_at(p_at timestamptz, p_zone text, p_from integer, p_to integer) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_local timestamp := p_at AT TIME ZONE p_zone;
    v_minute integer := extract(hour FROM v_local)::integer * 60 + extract(minute FROM v_local)::integer;
    v_start timestamp;
BEGIN
    IF (v_minute - p_from + 1440) % 1440 <= (p_to - p_from + 1440) % 1440 THEN RETURN p_at; END IF;
    v_start := date_trunc('day', v_local) + p_from * interval '1 minute';
    IF v_start <= v_local THEN v_start := v_start + interval '1 day'; END IF;
    RETURN v_start AT TIME ZONE p_zone;
END $$;

REVOKE ALL ON FUNCTION gateway.opens_at FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.opens_at TO gateway_engine;
