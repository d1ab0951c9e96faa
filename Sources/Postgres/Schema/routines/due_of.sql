-- The time at which a device's slice becomes due; the Swift counterpart is `TimingRules.slot`. A null start of the quiet hours or of the window means that
-- they are not set, or that they delay nothing. Quiet hours end before p_quiet_to; a window includes its last minute.
CREATE OR REPLACE FUNCTION gateway.due_of(
    p_now timestamptz, p_due timestamptz, p_local bigint, p_expires timestamptz, p_zone text,
    p_quiet_zone text, p_quiet_from integer, p_quiet_to integer, p_from integer, p_to integer)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    -- greatest and least ignore null: without a local time these are the message's times.
    v_due timestamptz := greatest(p_due, (timestamp '1970-01-01' + p_local * interval '1 second') AT TIME ZONE p_zone);
    v_end timestamptz := least(p_expires, v_due + (p_expires - (to_timestamp(p_local) + interval '12 hours')));
    v_start timestamptz := greatest(p_now, v_due);
    v_open timestamptz := v_start;
    v_before timestamptz;
BEGIN
    -- If two daily windows overlap, the overlap begins where one of them begins.
    FOR k IN 1 .. 4 LOOP
        v_before := v_open;
        IF p_quiet_from IS NOT NULL THEN
            v_open := gateway.opens_at(v_open, p_quiet_zone, p_quiet_to, (p_quiet_from + 1439) % 1440);
        END IF;
        IF p_from IS NOT NULL THEN v_open := gateway.opens_at(v_open, p_zone, p_from, p_to); END IF;
        IF v_open = v_before THEN RETURN CASE WHEN v_open < v_end THEN v_open ELSE v_start END; END IF;
    END LOOP;
    RETURN v_start;
END $$;

REVOKE ALL ON FUNCTION gateway.due_of FROM PUBLIC, gateway_call, gateway_engine;
GRANT EXECUTE ON FUNCTION gateway.due_of TO gateway_engine;
